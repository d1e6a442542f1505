#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Words that this house does not use of pods, gangs and code, because a reader has to look twice.

  words.py [ROOT]

"Who" and its kin are for people. The others are old or private English. No line has such a word.
"""

import collections
import itertools
import pathlib
import re
import sys

import check

WORDS = re.compile(
    r"\b(whoever|whom|somebody|anybody|everybody|nobody|lest|for ever|heeds?|heeded|anew|besides (it|them))\b"
    r"|in[ _]?vain|\bwho (goes|ends|waits|has|lacks)\b",
    re.IGNORECASE,
)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    found = collections.defaultdict(list)
    benchmarks = (("benchmarks", "", file) for file in sorted((root / "benchmarks").rglob("*")) if file.suffix in (".h", ".cc"))
    for room, _, file in itertools.chain(check.sources(root), benchmarks):
        for number, line in enumerate(file.read_text().splitlines(), start=1):
            if WORDS.search(line):
                found[room].append(f"{file.relative_to(root)}:{number}: {line.strip()}")
    for room, lines in sorted(found.items()):
        print(f"{room}: {len(lines)} lines with words of the list:")
        print("\n".join(lines))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
