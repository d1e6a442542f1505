#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A source has at most 600 lines, and a function of the product at most 60, tables aside.

  lengths.py [ROOT]

A function is found by its layout, as clang-format makes it: its body begins after a line that ends in "{", and ends
before the next line that has the brace at the column of its first line.
"""

import pathlib
import re
import sys

MOST_LINES = 600
MOST_IN_FUNCTION = 60
SOURCES = ("benchmarks", "plugins", "proto", "scheduler", "scripts", "sim", "tests", "ui")
SUFFIXES = (".cc", ".css", ".go", ".h", ".html", ".js", ".proto", ".py")
PRODUCT = ("benchmarks", "plugins", "scheduler", "sim")

# Tables: each of their lines is like the others, and says one thing.
TABLES = {
    ("benchmarks/engine/engine_bench.cc", "Cases"),
    ("sim/api/printers.cc", "MakePrinters"),
    ("sim/objects/builtin_resources.cc", "Rows"),
    ("sim/schema/builtin_descriptions.cc", "Descriptions"),
    ("sim/schema/builtin_types.cc", ""),
}

# What begins a block that is no function.
BLOCKS = re.compile(r"^\s*(\}|namespace|class|struct|enum|union|extern|if|else|for|while|switch|do|try|case|return|=)\b|^\s*\}")
OPENS = re.compile(r"\)\s*(const|noexcept|override|final|&|&&|mutable|->\s*[\w:<>,&*\s]+|ABSL_\w+(\([^)]*\))?|\s)*\{$")
NAME = re.compile(r"([\w:~]+)\(")


def functions(lines):
    """(name, number of its first line, count of the lines of its body) of each function."""
    at = 0
    while at < len(lines):
        line = lines[at]
        if not OPENS.search(line) or BLOCKS.match(line):
            at += 1
            continue
        first = at
        indent = len(line) - len(line.lstrip())
        # The signature may have begun in an earlier line, of which this one is the rest.
        while first > 0 and indent > 0 and lines[first - 1].strip() and not re.search(r"[;{}:]$|^\s*//", lines[first - 1]):
            first -= 1
            indent = len(lines[first]) - len(lines[first].lstrip())
        end = next((n for n in range(at + 1, len(lines)) if lines[n].startswith(" " * indent + "}")), len(lines) - 1)
        name = NAME.search(lines[first])
        yield (name.group(1) if name else "?"), first + 1, end - at - 1
        at = end + 1


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    read, wrong = 0, []
    for folder in SOURCES:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix not in SUFFIXES or not file.is_file():
                continue
            read += 1
            name = file.relative_to(root).as_posix()
            lines = file.read_text().splitlines()
            if len(lines) > MOST_LINES and (name, "") not in TABLES:
                wrong.append(f"{name}: {len(lines)} lines, and {MOST_LINES} are the most")
            if folder not in PRODUCT or file.suffix not in (".cc", ".h"):
                continue
            for function, number, count in functions(lines):
                if count > MOST_IN_FUNCTION and (name, function) not in TABLES:
                    wrong.append(f"{name}:{number}: {function} has {count} lines, and {MOST_IN_FUNCTION} are the most")
    print("\n".join(wrong + [f"{read} sources read, {len(wrong)} complaints"]))
    return 1 if wrong or read == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
