#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Words that this house does not use of pods, gangs and code, because a reader has to look twice.

  words.py [ROOT]

"Who" and its kin are for people. The others are old or private English. A room has at most as many lines with such words as
BUDGET says; that number only goes down: when a line is mended, it is lowered.
"""

import pathlib
import re
import sys

WORDS = re.compile(r"\b(whoever|whom|somebody|anybody|nobody|lest|in vain|for ever|heeds?|heeded)\b", re.IGNORECASE)
CODE = (".h", ".cc")

BUDGET = {
    "scheduler/app": 26,
    "scheduler/base": 0,
    "scheduler/cluster": 0,
    "scheduler/core": 1,
    "scheduler/dialects": 0,
    "scheduler/framework": 0,
    "scheduler/kube": 27,
    "scheduler/model": 0,
    "scheduler/observe": 0,
    "scheduler/queue": 0,
    "scheduler/server": 20,
    "plugins": 0,
    "sim": 21,
    "benchmarks": 5,
}


def lines(root, room):
    for file in sorted((root / room).rglob("*")):
        if file.suffix in CODE:
            for number, line in enumerate(file.read_text().splitlines(), start=1):
                if WORDS.search(line):
                    yield f"{file.relative_to(root)}:{number}: {line.strip()}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    failed = False
    for room, most in BUDGET.items():
        found = list(lines(root, room))
        if len(found) != most:
            failed = True
            more = len(found) > most
            print(f"{room}: {len(found)} lines with words of the list, and the budget is {most}" + (":" if more else ": lower it"))
            print("\n".join(found) if more else "")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
