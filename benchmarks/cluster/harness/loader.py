# SPDX-License-Identifier: Apache-2.0
"""The Go programs that set the stage and bind beside us."""

import os
import pathlib
import shutil

from harness.stage import REPOSITORY, Failure, checked

GO_MODULE = REPOSITORY / "benchmarks" / "cluster" / "gobinder"


def build_go_tools(directory):
    """Leaves `gobinder` and `load` in `directory`."""
    candidates = [shutil.which("go"), "/usr/local/go/bin/go", pathlib.Path.home() / "go/bin/go",
                  pathlib.Path.home() / "sdk/go/bin/go"]
    go = next((path for path in candidates if path and os.access(path, os.X_OK)), None)
    if not go:
        raise Failure("no Go found; `scripts/setup --controlplane` says which is needed")
    for name, package in (("gobinder", "."), ("load", "./load")):
        checked([go, "build", "-mod=readonly", "-trimpath", "-ldflags=-s -w", "-o", directory / name, package],
                cwd=GO_MODULE, env={**os.environ, "CGO_ENABLED": "0"})
