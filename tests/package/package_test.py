#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs the binary as it is shipped, and runs what is packed in a root of its own, where nothing else is.

  package_test.py TUTTI [unittest arguments]
"""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
TUTTI = None
SECONDS = 900
USER = 65532
# The time of what is packed; else it is that of the last commit, which may come while this runs.
EPOCH = "1700000000"


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=SECONDS, check=False,
                          env={**os.environ, "SOURCE_DATE_EPOCH": EPOCH}, **options)


class Packed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.dir.chmod(0o755)
        done = run(ROOT / "scripts/package", TUTTI, cls.dir / "out")
        assert done.returncode == 0, done.stderr
        cls.deb, = (cls.dir / "out").glob("*.deb")
        cls.tarball, = (cls.dir / "out").glob("*.tar.gz")

    def enter(self, root, *command):
        """Runs a command in `root`, as a user without rights."""
        if os.geteuid() != 0:
            self.skipTest("only root may change its root")
        return run("chroot", f"--userspec={USER}:{USER}", root, *command)

    def assert_demo(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("All of it started, none of it, all of it: as it should be.", done.stdout)

    def test_the_image_has_what_the_binary_needs_and_no_shell(self):
        image = self.dir / "image"
        done = run(ROOT / "scripts/package", "--image-root", TUTTI, image)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([file for file in image.rglob("*") if file.name in ("sh", "bash", "dash", "apt", "dpkg")], [])
        sbom = json.loads((image / "usr/share/sbom/tutti.spdx.json").read_text())
        names = {package["name"] for package in sbom["packages"]}
        self.assertTrue({"tutti", "libc6", "libssl3", "libgrpc++-dev", "libabsl-dev", "libprotobuf-dev"} <= names, names)
        self.assert_demo(self.enter(image, "/usr/local/bin/tutti", "demo"))

    def test_the_tarball_runs_where_there_is_nothing_but_a_shell(self):
        bare = self.dir / "bare"
        bare.mkdir()
        with tarfile.open(self.tarball) as archive:
            archive.extractall(bare, filter="data")
        top, = bare.iterdir()
        # A shell, and what the wrapper calls: with their own libraries, which are the C library's.
        for program in ("sh", "dirname", "readlink"):
            path = pathlib.Path(shutil.which(program)).resolve()
            libraries = [word for word in run("ldd", path).stdout.split() if word.startswith("/")]
            for file in [path, *map(pathlib.Path, libraries)]:
                to = bare / file.relative_to("/")
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file.resolve(), to)
            to = bare / "bin" / program
            to.parent.mkdir(exist_ok=True)
            if not to.exists():
                shutil.copy(path, to)
        self.assert_demo(self.enter(bare, f"/{top.name}/bin/tutti", "demo"))
        plugin = self.enter(bare, f"/{top.name}/bin/kubectl-tutti", "completion", "bash")
        self.assertIn("complete -F _kubectl_tutti kubectl-tutti", plugin.stdout, plugin.stderr)

    def test_the_package_names_what_it_needs_and_has_its_manual(self):
        control = run("dpkg-deb", "--field", self.deb, "Package", "Version", "Depends").stdout
        self.assertIn("libc6 (>=", control)
        self.assertIn("libssl3", control)
        files = run("dpkg-deb", "--contents", self.deb).stdout
        for wanted in ("./usr/bin/tutti\n", "./usr/bin/kubectl-tutti -> tutti\n", "./usr/share/man/man1/tutti.1.gz\n", "./usr/share/man/man1/tutti-simulate.1.gz\n",
                       "./usr/share/man/man1/kubectl-tutti.1.gz\n", "./usr/share/man/man1/kubectl-tutti-queue.1.gz\n",
                       "./usr/share/doc/tutti/sbom.spdx.json\n", "./usr/share/doc/tutti/copyright\n",
                       "./usr/share/doc/tutti/manifests/chart/files/deploy/20-rbac.yaml\n"):
            self.assertIn(wanted, files)

    def test_krew_finds_the_plugin_in_the_tarball(self):
        manifest = yaml.safe_load((self.dir / "out/krew.yaml").read_text())
        self.assertEqual((manifest["kind"], manifest["metadata"]["name"]), ("Plugin", "tutti"))
        platform, = manifest["spec"]["platforms"]
        self.assertEqual(platform["sha256"], hashlib.sha256(self.tarball.read_bytes()).hexdigest())
        self.assertTrue(platform["uri"].endswith("/" + self.tarball.name), platform["uri"])
        unpacked, placed = self.dir / "krew", self.dir / "store"
        with tarfile.open(self.tarball) as archive:
            # krew unpacks folders and files, and refuses all else.
            self.assertEqual([member.name for member in archive if not member.isdir() and not member.isfile()], [])
            archive.extractall(unpacked, filter="data")
        placed.mkdir()
        for rule in platform["files"]:
            for file in unpacked.glob(rule["from"]):
                shutil.move(file, placed / rule["to"])
        plugin = self.dir / "kubectl-tutti"
        plugin.symlink_to(placed / platform["bin"])
        done = run(plugin, "completion", "bash")
        self.assertIn("complete -F _kubectl_tutti kubectl-tutti", done.stdout, done.stderr)

    def test_packing_twice_gives_the_same_bytes(self):
        done = run(ROOT / "scripts/package", TUTTI, self.dir / "again")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.dir / "again/SHA256SUMS").read_text(), (self.dir / "out/SHA256SUMS").read_text())


if __name__ == "__main__":
    TUTTI = sys.argv.pop(1)
    unittest.main()
