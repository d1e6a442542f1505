#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the rooms inside a room by floors, from the #include lines, into ARCHITECTURE.md.

  picture.py [--check] [ROOT]

A room stands one floor above the highest room that it sees. The picture stands between two comments that name the room.
--check: changes nothing, and fails if a picture is not that of the code, or if two rooms see each other.
"""

import pathlib
import re
import sys

import check


def edges(root, room):
    """{inner room: the inner rooms that it sees}."""
    seen = {}
    folder = check.folder_of(root, room)
    for of_room, _, file in check.sources(root):
        if of_room != room:
            continue
        own = check.inner(f"{room}/{file.relative_to(folder).as_posix()}")
        mine = seen.setdefault(own, set())
        for _, quoted, path in check.includes(file):
            if quoted and path.split("/")[0] == room and check.inner(path) != own:
                mine.add(check.inner(path))
    return seen


def floors(seen):
    """The rooms of each floor, from the top down. Raises ValueError if rooms see each other in a ring."""
    height = {}

    def rise(room, below):
        if room in below:
            raise ValueError("these rooms see each other: " + " → ".join([*below, room]))
        if room not in height:
            height[room] = 1 + max((rise(other, [*below, room]) for other in sorted(seen[room])), default=0)
        return height[room]

    for room in sorted(seen):
        rise(room, [])
    return [sorted(r for r in seen if height[r] == floor) for floor in range(max(height.values()), 0, -1)]


def picture(root, room):
    seen = edges(root, room)
    rows = floors(seen)
    width = max(len(name) for name in seen)
    arrows = sum(len(others) for others in seen.values())
    lines = [f"{len(seen)} rooms on {len(rows)} floors, {arrows} arrows, all of them down:", "", "```"]
    for floor, names in zip(range(len(rows), 0, -1), rows):
        for name in names:
            lines.append(f"{floor}  {name:<{width}}  {'→ ' if seen[name] else ''}{' '.join(sorted(seen[name]))}".rstrip())
    return "\n".join([*lines, "```"])


def main():
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parents[2]).resolve()
    file = root / "ARCHITECTURE.md"
    text = file.read_text()
    drawn = text
    for room in check.INSIDE:
        frame = re.compile(rf"(<!-- rooms of {room} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not frame.search(drawn):
            sys.exit(f"ARCHITECTURE.md has no place for the rooms of {room}")
        drawn = frame.sub(lambda match: match.group(1) + picture(root, room) + "\n" + match.group(2), drawn)
    if "--check" not in sys.argv:
        file.write_text(drawn)
    elif drawn != text:
        sys.exit("the pictures of ARCHITECTURE.md are not those of the code: run tests/layers/picture.py")


if __name__ == "__main__":
    main()
