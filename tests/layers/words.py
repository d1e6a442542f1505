#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Words that this house does not use of pods, gangs and code, because a reader has to look twice.

  words.py [ROOT]

"Who" and its kin are for people. The others are old or private English. A room has at most as many lines with such words as
BUDGET says; that number only goes down: when a line is mended, it is lowered.
"""

import collections
import itertools
import pathlib
import re
import sys

import check

WORDS = re.compile(r"\b(whoever|whom|somebody|anybody|nobody|lest|in vain|for ever|heeds?|heeded)\b", re.IGNORECASE)

# Rooms that are not named have none.
BUDGET = {"sim": 21}


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    found = collections.defaultdict(list)
    benchmarks = (("benchmarks", "", file) for file in sorted((root / "benchmarks").rglob("*")) if file.suffix in (".h", ".cc"))
    for room, _, file in itertools.chain(check.sources(root), benchmarks):
        for number, line in enumerate(file.read_text().splitlines(), start=1):
            if WORDS.search(line):
                found[room].append(f"{file.relative_to(root)}:{number}: {line.strip()}")
    wrong = [room for room in sorted({*found, *BUDGET}) if len(found[room]) != BUDGET.get(room, 0)]
    for room in wrong:
        many, most = len(found[room]), BUDGET.get(room, 0)
        print(f"{room}: {many} lines with words of the list, and the budget is {most}" + (":" if many > most else ": lower it"))
        print("\n".join(found[room] if many > most else []))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
