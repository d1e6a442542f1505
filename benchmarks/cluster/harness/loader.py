# SPDX-License-Identifier: Apache-2.0
"""The Go programs that set the stage and bind beside us."""

import os

from harness.stage import REPOSITORY, checked

GO_MODULE = REPOSITORY / "benchmarks" / "cluster" / "gobinder"


def build_go_tools(directory):
    """Leaves `gobinder`, `load` and `replace` in `directory`."""
    go = checked([REPOSITORY / "scripts" / "find-go"]).strip()
    for name, package in (("gobinder", "."), ("load", "./load"), ("replace", "./replace")):
        checked([go, "build", "-mod=readonly", "-trimpath", "-ldflags=-s -w", "-o", directory / name, package],
                cwd=GO_MODULE, env={**os.environ, "CGO_ENABLED": "0"})
