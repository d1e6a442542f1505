#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every line of docs/threat-model.md's tables names what holds it, and all of that is there: tests by their names,
fuzz targets with a corpus, walkthroughs, targets of make.

  evidence.py [ROOT]
"""

import pathlib
import re
import sys

ITEM = r'(walkthrough )?`([^`]+)`((?:,? "[^"]+")*)(?:; |$)'
CASE = re.compile(r'TEST_CASE(?:_METHOD)?\((?:\w+,)?\s*((?:"(?:[^"\\]|\\.)*"\s*)+)')


def names(file):
    """The names of the tests in `file`."""
    text = file.read_text()
    if file.suffix == ".py":
        return [name.replace("_", " ") for name in re.findall(r"def test_(\w+)", text)]
    return ["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', title)) for title in CASE.findall(text)]


def missing(root, walkthrough, name, titles):
    """What of one item is not there."""
    tests = root / "tests"
    file = tests / name
    if walkthrough:
        found = (tests / "walkthroughs" / f"{name}.yaml").is_file()
    elif name.startswith("make "):
        found = re.search(rf"^(?:[\w-]+ )*{name[5:]}(?: [\w-]+)*:", (root / "Makefile").read_text(), re.M)
    elif name.startswith("fuzz/"):
        target = file.name.removesuffix("_target.cc")
        built = re.search(rf"^tutti_fuzz\({target} ", (tests / "fuzz/CMakeLists.txt").read_text(), re.M)
        found = built and file.is_file() and any((tests / "fuzz/corpus" / target).iterdir())
    else:
        run = [file.parent / "CMakeLists.txt", root / "scripts/test"]
        found = file.is_file() and (file.suffix in (".cc", ".yaml") or any(file.name in by.read_text() for by in run))
        if found and "_test." in name:
            wanted = re.findall('"([^"]+)"', titles) or ["a test, by its name"]
            return [f'{name} "{title}"' for title in wanted if not any(title in test for test in names(file))]
    return [] if found else [name]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    lines = [line.strip("| ").split(" | ") for line in (root / "docs/threat-model.md").read_text().splitlines() if line.startswith("| ")]
    rows = [line for line in lines if line[0] not in ("an attacker", "---")]
    complaints = [f"held by nothing that can be looked up: {row}" for row in rows if not re.fullmatch(f"(?:{ITEM})+", row[-1])]
    items = [item for row in rows for item in re.findall(ITEM, row[-1])]
    complaints += [f"there is no {what}" for item in items for what in missing(root, *item)]
    print("\n".join(complaints + [f"{len(rows)} lines, {len(items)} things that hold them, {len(complaints)} wrong"]))
    return 1 if complaints or not items else 0


if __name__ == "__main__":
    sys.exit(main())
