#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs what the documents tell a reader to type, on `tutti sim`, and compares what is printed.

  commands_test.py TUTTI [unittest arguments]

A block of shell whose fence says `sh test` is run; those of one document share one cluster and one folder. A block
`text output` behind it has lines that must be printed in this order: blanks count as one, and … stands for anything.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from ports import free_port

TUTTI = None
SECONDS = 120
BLOCK = re.compile(r"^```(sh test|text output)\n(.*?)^```$", re.M | re.S)


def blocks(file):
    """[(script, [expected lines])] of a document."""
    found = []
    for kind, text in BLOCK.findall(file.read_text()):
        if kind == "sh test":
            found.append((text, []))
        else:
            found[-1][1].extend(text.splitlines())
    return found


def tested():
    files = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [file for file in files if blocks(file)]


def pattern(line):
    """What a line of a document stands for."""
    words = re.sub(r"\s+", " ", line.strip())
    return ".*".join(re.escape(part).replace(r"\ ", " *") for part in words.split("…"))


class Reader:
    """A folder with the repository's manifests, bin/tutti, and kubectl and helm in the path as far as they are built."""

    def __init__(self, test, *options):
        self.dir = pathlib.Path(test.enterContext(tempfile.TemporaryDirectory()))
        shutil.copytree(ROOT / "manifests", self.dir / "manifests", symlinks=True)
        tools = self.dir / "tools"
        for folder in (tools, self.dir / "bin"):
            folder.mkdir()
        (self.dir / "bin" / "tutti").symlink_to(pathlib.Path(TUTTI).resolve())
        for build, names in (("controlplane", ["kubectl"]), ("chart", ["helm"])):
            folder = pathlib.Path(subprocess.check_output([ROOT / "tests" / build / "build", "--dir"], text=True).strip())
            for name in names:
                if (folder / name).exists():
                    (tools / name).symlink_to(folder / name)
        self.kubeconfig = self.dir / "kubeconfig"
        self.environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "KUBECONFIG": str(self.kubeconfig),
                            "KUBECACHEDIR": str(self.dir / "cache"), "HOME": str(self.dir)}
        sim = subprocess.Popen([TUTTI, "sim", ROOT / "manifests/examples/offline/nodes.yaml", "--listen", f"127.0.0.1:{free_port()}",
                                "--kubeconfig-out", self.kubeconfig, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        test.addCleanup(lambda: (sim.kill(), sim.wait()))
        deadline = time.monotonic() + SECONDS
        while not self.kubeconfig.exists() or self.run("kubectl get --raw /readyz").returncode != 0:
            test.assertLess(time.monotonic(), deadline, "no cluster came up")
            time.sleep(0.05)

    def run(self, script):
        return subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=self.dir, env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, check=False)


class Documents(unittest.TestCase):
    def test_what_they_tell_to_type_does_what_they_say(self):
        files = tested()
        self.assertGreaterEqual(len(files), 4)
        for file in files:
            with self.subTest(file.relative_to(ROOT)):
                self.try_out(file)

    def try_out(self, file):
        reader = Reader(self)
        for script, expected in blocks(file):
            done = reader.run(script)
            said = f"\n{script}printed\n{done.stdout}"
            self.assertEqual(done.returncode, 0, said)
            lines = iter(re.sub(r"[ \t]+", " ", line.strip()) for line in done.stdout.splitlines())
            for wanted in expected:
                self.assertTrue(any(re.search(f"^{pattern(wanted)}$", line) for line in lines), f"{said}there is no line {wanted!r} in its place")

    def test_every_block_of_shell_is_at_least_shell(self):
        for file in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
            for script in re.findall(r"^ *```sh(?: test)?\n(.*?)^ *```$", file.read_text(), re.M | re.S):
                done = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True, timeout=SECONDS, check=False)
                self.assertEqual(done.returncode, 0, f"{file}: {done.stderr}")


if __name__ == "__main__":
    TUTTI = sys.argv.pop(1)
    unittest.main()
