#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The schema in proto/tutti stays one that older programs can read: what was once told keeps its name, number and type.

  compatible_test.py PROTOC ROOT [--update]

tests/schema/told.txt has each field, enum value and call, one a line. A line may only be added. --update adds the new
ones; a test fails until that is done, so that no field is changed later that was never written down.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]|[^\s{}:]+')


def descriptors(protoc, root):
    """The files of the schema as protoc describes them, in text."""
    protos = sorted(str(file.relative_to(root / "proto")) for file in (root / "proto" / "tutti").rglob("*.proto"))
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "set")
        subprocess.run([protoc, "-I", root / "proto", f"--descriptor_set_out={out}", *protos], check=True)
        done = subprocess.run([protoc, "-I", "/usr/include", "--decode=google.protobuf.FileDescriptorSet",
                               "google/protobuf/descriptor.proto"], input=out.read_bytes(), capture_output=True, check=True)
    return done.stdout.decode()


def parse(tokens):
    """[(key, text or list)] up to the closing brace."""
    entries = []
    for token in tokens:
        if token == "}":
            break
        value = next(tokens)
        entries.append((token, parse(tokens) if value == "{" else value.strip('"')))
    return entries


def one(entries, key):
    return next((value for name, value in entries if name == key), "")


def every(entries, key):
    return [value for name, value in entries if name == key]


def told(message, prefix):
    """The lines of a message and of those inside it."""
    name = f"{prefix}.{one(message, 'name')}"
    for field in every(message, "field"):
        kind = one(field, "type_name") or one(field, "type").removeprefix("TYPE_").lower()
        many = "repeated " if one(field, "label") == "LABEL_REPEATED" else ""
        optional = "optional " if one(field, "proto3_optional") == "true" else ""
        yield f"{name} {one(field, 'number')} {one(field, 'name')} {optional}{many}{kind}"
    for inner in every(message, "nested_type"):
        yield from told(inner, name)


def lines(text):
    for file in every(parse(iter(TOKEN.findall(text))), "file"):
        package = one(file, "package")
        for message in every(file, "message_type"):
            yield from told(message, package)
        for service in every(file, "service"):
            for call in every(service, "method"):
                stream = " stream" if one(call, "server_streaming") == "true" else ""
                yield (f"{package}.{one(service, 'name')}/{one(call, 'name')} {one(call, 'input_type')} ->{stream} "
                       f"{one(call, 'output_type')}")


def main():
    protoc, root = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    file = root / "tests" / "schema" / "told.txt"
    now = list(lines(descriptors(protoc, root)))
    before = file.read_text().splitlines() if file.exists() else []
    lost = [line for line in before if line not in now]
    new = [line for line in now if line not in before]
    if "--update" in sys.argv:
        file.write_text("".join(f"{line}\n" for line in [*before, *new]))
        new = []
    for line in lost:
        print(f"changed or gone: {line}")
    for line in new:
        print(f"not written down: {line}")
    print(f"{len(now)} lines, {len(lost)} changed, {len(new)} new")
    return 1 if lost or new or not now else 0


if __name__ == "__main__":
    sys.exit(main())
