#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads every #include line and fails on an edge between rooms that the design does not have.

  check.py [ROOT]

The table is that of ARCHITECTURE.md. It is closed: a room that is not in it, or an include that names no room,
is an error too. The rooms inside the rooms of INSIDE have tables of their own, which are closed likewise, and there a
type that is declared and not included counts, too; what they look like by floors is drawn by picture.py. Each third-party library is confined to the rooms that need it. No plugin sees another one: what
they share is in plugins/common. And JSON is parsed by cluster::ParseJson alone, which bounds its depth, and printed
by base::PrintJson, which does not throw at what is not UTF-8. Why a gang waits is written by GangBook alone, together
with the gang's state. A file that a comment names is there.
"""

import pathlib
import re
import sys

VALUES = {"base", "model", "cluster"}  # what everything above may speak in

ALLOWED = {
    "base": set(),
    "model": {"base"},
    "cluster": {"model", "base"},
    "framework": VALUES,
    "dialects": VALUES | {"observe"},
    "queue": {"model", "base"},
    "observe": {"model", "base"},
    "plugins": VALUES | {"framework"},
    "core": VALUES | {"framework", "dialects", "queue", "observe"},
    "kube": VALUES,
    "sim": VALUES,
    "server": {"observe", "base"},
    "doors": {"observe", "server", "model", "base"},
    "rpc": {"doors", "server", "base"},
    "app": VALUES | {"framework", "dialects", "queue", "observe", "plugins", "core", "kube", "sim", "server", "doors",
            "rpc"},
}

# The rooms inside a room: folders, and files that stand alone. What each may see of the others.
INSIDE = {
    "core": {
        "options": set(),
        "outbox": set(),
        "gangs": set(),
        "admit": {"options", "gangs"},
        "place": {"gangs"},
        "publish": {"options", "outbox", "gangs", "admit", "place"},
        "commit": {"options", "outbox", "gangs", "admit", "place", "publish"},
        "passes": {"options", "gangs", "admit", "place", "publish", "commit"},
        "cycle": {"options", "publish", "passes"},
        "scheduler": {"options", "cycle"},
    },
    "sim": {
        "objects": set(),
        "schema": {"objects"},
        "store": {"objects", "schema"},
        "manifests": {"objects", "schema", "store"},
        "nodes": {"objects", "store"},
        "controllers": {"store"},
        "kuberay": {"objects", "store"},
        "api": {"objects", "schema", "store"},
        "port": {"store", "nodes", "controllers", "kuberay"},
    },
}

# A header's first path component, and where alone it may be included.
CONFINED = {
    "CLI": {"app"},
    "curl": {"kube"},
    "google": {"doors"},
    "grpc": {"rpc"},
    "grpcpp": {"rpc"},
    "httplib.h": {"server", "sim"},
    "tutti": {"doors", "rpc"},  # made from proto/
    "openssl": {"kube", "server"},
    "prometheus": {"observe"},
    "simdjson.h": {"cluster"},
    "yaml-cpp": {"base", "app", "sim", "kube"},
    "catch2": set(),
    "rapidcheck.h": set(),
}

# The library's own parser and printer, and where alone they are called: the manifest's is shown no text that is deep.
PARSER = re.compile(r"\w*(?i:json|tree)::(?:parse|sax_parse)\(")
PARSES = {"scheduler/cluster/json_text.cc", "sim/manifests/manifest.cc"}
PRINTER = re.compile(r"(?:\.|->)dump\((?!.*error_handler_t::replace)")
PRINTS = {"scheduler/base/json_string.cc"}

# Why a gang waits, and where alone that is written.
REFUSAL = re.compile(r"(?<!member)(?:\.|->)refusal(?:(?:->\w+)*\s*[|&]?=(?!=)|\.(?:reset|emplace)\()")
REFUSES = "scheduler/core/gangs/gang_book.cc"

# A file of ours that a comment names, from the root, from scheduler/ or from its own room; and one that the build makes.
NAMED = re.compile(r"(?<![\w./<-])(?:\w+/)+\w+\.(?:h|cc)\b")
MADE = "kube/field_numbers.h"

DEFINED = re.compile(r"^(?:class|struct|enum class) (\w+)\b[^;]*\{")
DECLARED = re.compile(r"^(?:class|struct|enum class) (\w+)(?: : \w+)?;")
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def folder_of(root, room):
    return root / room if room in ("plugins", "sim") else root / "scheduler" / room


def sources(root):
    """(room, plugin or "", file) for every source of a room."""
    for folder in sorted((root / "scheduler").iterdir()) + [root / "plugins", root / "sim"]:
        for file in sorted(folder.rglob("*")):
            if file.suffix in (".h", ".cc"):
                inside = file.relative_to(folder).parts
                yield folder.name, inside[0] if folder.name == "plugins" and len(inside) > 1 else "", file


def includes(file):
    for number, line in enumerate(file.read_text().splitlines(), start=1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1) == '"', match.group(2)


def bare_json(root):
    """The complaints about JSON that is parsed as deeply as it comes, or printed so that it may throw."""
    for _, _, file in sources(root):
        name = file.relative_to(root).as_posix()
        for number, line in enumerate(file.read_text().splitlines(), start=1):
            if name not in PARSES and PARSER.search(line):
                yield f"{name}:{number}: JSON is parsed by cluster::ParseJson, which bounds its depth"
            if name not in PRINTS and PRINTER.search(line):
                yield f"{name}:{number}: JSON is printed by base::PrintJson, which replaces what is not UTF-8"


def stray_refusals(root):
    """The complaints about writers of Gang::refusal besides the one that also writes the gang's state."""
    for room, _, file in sources(root):
        name = file.relative_to(root).as_posix()
        for number, line in enumerate(file.read_text().splitlines(), start=1):
            if room == "core" and name != REFUSES and REFUSAL.search(line):
                yield f"{name}:{number}: why a gang waits is written by GangBook::SetState and its neighbours"


def stale_names(root):
    """The complaints about comments that name a file which is not there."""
    for room, _, file in sources(root):
        for number, line in enumerate(file.read_text().splitlines(), start=1):
            for name in NAMED.findall(line.partition("//")[2]):
                places = (root, root / "scheduler", folder_of(root, room))
                if name != MADE and not any((place / name).exists() for place in places):
                    yield f"{file.relative_to(root)}:{number}: there is no {name}"


def wrong(room, plugin, quoted, path):
    """Why a file of `room`, and of `plugin` in it, may not include `path`, or None."""
    if room not in ALLOWED:
        return f"the room {room} is not in the table of tests/layers/check.py"
    head = path.split("/")[0]
    if quoted:
        if "/" not in path or head not in ALLOWED:
            return f'"{path}" names no room: write it as "room/file.h"'
        if head != room and head not in ALLOWED[room]:
            return f"{room} may not see {head}"
        if plugin and head == "plugins" and path.split("/")[1] not in (plugin, "common"):
            return f'the plugin {plugin} may not see "{path}"'
    elif head in CONFINED and room not in CONFINED[head]:
        return f"<{path}> belongs to {', '.join(sorted(CONFINED[head])) or 'tests'} only"
    return None


def inner(path):
    """The room inside its room of a path such as "core/place/exact.h" or "core/cycle.cc"."""
    parts = pathlib.PurePosixPath(path).parts
    return parts[1] if len(parts) > 2 else parts[1].split(".")[0]


def wrong_inside(room, own, path):
    """Why a file of `own`, a room inside `room`, may not include "path", or None."""
    table = INSIDE.get(room, {})
    if not table or path.split("/")[0] != room:
        return None
    if own not in table:
        return f"the room {room}/{own} is not in the table of tests/layers/check.py"
    other = inner(path)
    if other != own and other not in table[own]:
        return f"{room}/{own} may not see {room}/{other}"
    return None


def hidden(root):
    """The complaints about types of another inner room that are declared without an include: an arrow all the same."""
    files = [(room, inner(f"{room}/{file.relative_to(folder_of(root, room))}"), file) for room, _, file in sources(root) if room in INSIDE]
    homes = {}
    for room, own, file in files:
        for line in file.read_text().splitlines():
            if match := DEFINED.match(line):
                homes.setdefault((room, match.group(1)), set()).add(own)
    for room, own, file in files:
        for number, line in enumerate(file.read_text().splitlines(), start=1):
            match = DECLARED.match(line)
            home = homes.get((room, match.group(1)), set()) if match else set()
            if home and own not in home and not home & INSIDE[room].get(own, set()):
                yield f"{file.relative_to(root)}:{number}: {room}/{own} may not see {match.group(1)} of {room}/{min(home)}"


def check(root):
    """(number of includes read, the list of complaints)."""
    read, complaints = 0, []
    for room, plugin, file in sources(root):
        for number, quoted, path in includes(file):
            read += 1
            why = wrong(room, plugin, quoted, path)
            if not why and quoted and room in INSIDE:
                why = wrong_inside(room, inner(f"{room}/{file.relative_to(folder_of(root, room))}"), path)
            if why:
                complaints.append(f"{file.relative_to(root)}:{number}: {why}")
    return read, [*complaints, *bare_json(root), *stray_refusals(root), *stale_names(root), *hidden(root)]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    read, complaints = check(root)
    print("\n".join(complaints + [f"{read} includes read, {len(complaints)} wrong"]))
    return 1 if complaints or read == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
