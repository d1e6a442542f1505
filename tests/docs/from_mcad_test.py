#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows docs/migrate/from-mcad.md command by command on `tutti sim`, from a cluster as MCAD leaves it.

  from_mcad_test.py TUTTI

MCAD itself is not run: what it had created and written is applied. `tutti run` lives as long as its Deployment has replicas.
"""

import json
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import commands_test
from commands_test import ROOT, Reader

sys.path.insert(0, str(ROOT / "tests" / "support"))

import serving
from ports import free_port

DOCUMENT = ROOT / "docs" / "migrate" / "from-mcad.md"
TUTTI = None
JOB = """
      apiVersion: batch/v1
      kind: Job
      metadata: {{name: {name}}}
      spec:
        template:
          spec: {{restartPolicy: Never, containers: [{{name: c, image: i, resources: {{requests: {{cpu: "{cpu}"}}}}}}]}}
"""
BEFORE = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: mcad-controller, namespace: kube-system}
spec:
  selector: {matchLabels: {app: mcad}}
  template: {metadata: {labels: {app: mcad}}, spec: {containers: [{name: c, image: mcad}]}}
"""
# `cpu` of the nodes in manifests/examples/offline/nodes.yaml.
WRAPPER = """
---
apiVersion: workload.codeflare.dev/v1beta2
kind: AppWrapper
metadata: {{name: {name}, namespace: default, finalizers: [workload.codeflare.dev/finalizer]}}
spec:
  components:
  - template:{job}
"""


def commands(back):
    """The commands of the part that leads there, or back."""
    there, _, rest = DOCUMENT.read_text().partition("## Back")
    return [re.sub(r"\s+# .*", "", line.strip()) for line in (rest if back else there).splitlines()
            if line.startswith("       ") and line.strip()]


class FromMcad(unittest.TestCase):
    def setUp(self):
        commands_test.TUTTI = TUTTI
        self.reader = Reader(self, "--no-scheduler")
        self.process = None

    def run_(self, command):
        done = self.reader.run(command)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}")
        return done.stdout

    def get(self, what):
        return json.loads(self.run_(f"kubectl get {what} -o json"))

    def type(self, command):
        self.run_(command.replace("aw NAME", "appwrappers.workload.codeflare.dev runs"))
        wanted = any(item["metadata"]["name"] == "tutti" and item["spec"]["replicas"] for item in self.get("deployments -A")["items"])
        if wanted and not self.process:
            self.process = serving.start(self.addCleanup, TUTTI, "run", "--kubeconfig", self.reader.kubeconfig, "--leader-elect=false",
                                         "--bind-address=127.0.0.1", f"--secure-port={free_port()}")
        elif not wanted and self.process:
            self.process.terminate()
            self.process.wait()
            self.process = None

    def phase(self, name):
        return self.get(f"appwrappers.workload.codeflare.dev {name}").get("status", {}).get("phase", "")

    def test_what_runs_goes_on_and_what_waits_starts(self):
        (self.reader.dir / "before.yaml").write_text(BEFORE)
        self.run_("kubectl create namespace tutti-system || true; kubectl apply --server-side -k manifests/appwrapper/crds")
        wrappers = "".join(WRAPPER.format(name=name, job=JOB.format(name=name, cpu=cpu))
                           for name, cpu in (("runs", 1), ("waits", 1), ("never", 4000)))
        (self.reader.dir / "wrappers.yaml").write_text(wrappers)
        self.run_("kubectl apply -f before.yaml -f wrappers.yaml")
        # As the old controller left them: one runs, and its Job is there; the others wait.
        uid = self.get("appwrappers.workload.codeflare.dev runs")["metadata"]["uid"]
        job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {
            "name": "runs", "namespace": "default", "labels": {"workload.codeflare.dev/appwrapper": "runs"},
            "ownerReferences": [{"apiVersion": "workload.codeflare.dev/v1beta2", "kind": "AppWrapper", "name": "runs", "uid": uid,
                                 "controller": True, "blockOwnerDeletion": True}]},
               "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [
                   {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}}}}
        (self.reader.dir / "job.json").write_text(json.dumps(job))
        self.run_("kubectl apply -f job.json")
        for name, phase in (("runs", "Running"), ("waits", "Suspended"), ("never", "Suspended")):
            self.run_(f"kubectl patch appwrappers.workload.codeflare.dev {name} --subresource=status --type=merge "
                      f"-p '{{\"status\": {{\"phase\": \"{phase}\"}}}}'")
        before = self.get("job runs")["metadata"]["uid"]

        for command in commands(back=False):
            self.type(command)
        serving.eventually(lambda: self.phase("waits") == "Running", "the one that waited starts")
        self.assertEqual(self.get("job runs")["metadata"]["uid"], before)
        self.assertEqual(self.phase("runs"), "Running")
        serving.eventually(lambda: "nodes are available" in json.dumps(self.get("appwrappers.workload.codeflare.dev never")["status"]),
                           "what fits no node says so")
        self.assertEqual(self.run_("kubectl get job never --ignore-not-found"), "")
        self.run_("kubectl delete appwrappers.workload.codeflare.dev runs --timeout=60s")
        serving.eventually(lambda: not self.run_("kubectl get job runs --ignore-not-found"), "its Job goes with it")

        for command in commands(back=True):
            self.type(command)
        self.assertIsNone(self.process)
        self.assertEqual(self.phase("waits"), "Running")


if __name__ == "__main__":
    TUTTI = sys.argv.pop(1)
    unittest.main()
