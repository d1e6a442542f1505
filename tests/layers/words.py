#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Words that this house does not use of pods, gangs and code, because a reader has to look twice.

  words.py [ROOT]

"Who" and its kin are for people. The others are old or private English. No line has such a word.
"""

import collections
import pathlib
import re
import sys

import check

WORDS = re.compile(
    r"\b(whoever|whom|somebody|anybody|everybody|nobody|lest|for ever|heeds?|heeded|anew|besides (it|them))\b"
    r"|in[ _]?vain|\bwho (goes|ends|waits|has|lacks)\b|\bwho of\b|\ball who\b",
    re.IGNORECASE,
)

# The account of that name, which every Unix has.
LITERAL = "--userspec=nobody"
SUFFIXES = {".h", ".cc", ".go", ".py", ".yaml", ".md"}
# The lists of these words, and inputs that are kept as they were found.
SKIPPED = ("tests/layers", "tests/docs/check.py", "tests/docs/check_test.py", "tests/fuzz/corpus")


def is_executable(file):
    """Tells whether a file without a suffix is a program in some language of scripts."""
    with file.open("rb") as opened:
        return not file.suffix and opened.read(2) == b"#!"


def sources(root):
    """Yields (room, file) of all that is read."""
    for room, _, file in check.sources(root):
        yield room, file
    for file in sorted((root / "benchmarks").rglob("*")):
        if file.suffix in (".h", ".cc"):
            yield "benchmarks", file
    skipped = [root / name for name in SKIPPED]
    for file in sorted((root / "tests").rglob("*")):
        if any(each in (file, *file.parents) for each in skipped) or "__pycache__" in file.parts:
            continue
        if file.is_file() and (file.suffix in SUFFIXES or is_executable(file)):
            yield "tests", file


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    found = collections.defaultdict(list)
    for room, file in sources(root):
        for number, line in enumerate(file.read_text().splitlines(), start=1):
            if WORDS.search(line.replace(LITERAL, "")):
                found[room].append(f"{file.relative_to(root)}:{number}: {line.strip()}")
    for room, lines in sorted(found.items()):
        print(f"{room}: {len(lines)} lines with words of the list:")
        print("\n".join(lines))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
