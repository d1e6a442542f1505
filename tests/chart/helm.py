# SPDX-License-Identifier: Apache-2.0
"""Helm, built by `build`, and the chart that it renders."""

import pathlib
import subprocess

import yaml

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
MANIFESTS = REPOSITORY / "manifests"
CHART = MANIFESTS / "chart"
# What Helm says of the links in chart/files.
LINK = "found symbolic link in path"


def tools():
    """The directory of helm and promtool."""
    folder = pathlib.Path(subprocess.check_output([HERE / "build", "--dir"], text=True).strip())
    if not (folder / "helm").exists():
        raise FileNotFoundError(f"{folder} has no helm: run tests/chart/build")
    return folder


def helm(*arguments, values=None, **options):
    """Runs helm; `values` are given as a file on standard input."""
    more = [] if values is None else ["--values", "-"]
    done = subprocess.run([tools() / "helm", *map(str, arguments), *more], input=yaml.safe_dump(values or {}), text=True,
                          capture_output=True, timeout=120, check=False, **options)
    done.stderr = "\n".join(line for line in done.stderr.splitlines() if LINK not in line)
    return done


def render(values=None, release="tutti", namespace="tutti-system", more=()):
    """{(kind, name): object} that the chart makes of `values`."""
    done = helm("template", release, CHART, "--namespace", namespace, *more, values=values)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return by_name(yaml.safe_load_all(done.stdout))


def by_name(documents):
    return {(d["kind"], d["metadata"]["name"]): d for d in documents if d}
