#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `tutti sim` has for Kueue's users and MCAD's, before any scheduler: kinds, columns, held jobs, nodes by request.

  takeover_test.py PATH-TO-TUTTI
"""

import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import serving
from ports import free_port
from serving import SECONDS, eventually, fetch

TUTTI = None
SHAPE = """
apiVersion: v1
kind: Node
metadata: {name: pool, labels: {pool: gpu}}
status: {allocatable: {cpu: "4", memory: 16Gi, nvidia.com/gpu: "1"}}
"""
QUEUE = "kueue.x-k8s.io/queue-name"
KUEUE = "/apis/kueue.x-k8s.io"
REQUESTS = "/apis/autoscaling.x-k8s.io/v1/namespaces/default/provisioningrequests"


class Sim:
    """`tutti sim` without a scheduler, and what else a test starts beside it."""

    def __init__(self, test, *arguments):
        self.dir = serving.folder(test.addCleanup)
        self.kubeconfig = self.dir / "kubeconfig"
        self.shape = self.dir / "shape.yaml"
        self.shape.write_text(SHAPE)
        port = free_port()
        self._url = f"http://127.0.0.1:{port}"
        self._test = test
        self.start("sim", "--no-scheduler", "--listen", f"127.0.0.1:{port}", "--kubeconfig-out", str(self.kubeconfig),
                   *[argument.format(shape=self.shape) for argument in arguments])
        eventually(lambda: fetch(self._url + "/readyz")[1] == "ok", "the embedded cluster is ready")

    def start(self, *arguments):
        return serving.start(self._test.addCleanup, TUTTI, *arguments)

    def await_(self, condition):
        eventually(condition, "it comes true", ignore=())

    def call(self, method, path, body=None, **headers):
        content = "application/merge-patch+json" if method == "PATCH" else "application/json"
        request = urllib.request.Request(self._url + path, method=method, headers={"Content-Type": content, **headers},
                                         data=None if body is None else json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            return json.load(answer)

    def rows(self, path):
        """What `kubectl get` would print: column names, and cells by row."""
        table = self.call("GET", path, Accept="application/json;as=Table;v=v1;g=meta.k8s.io")
        return [c["name"] for c in table["columnDefinitions"] if c["priority"] == 0], [row["cells"] for row in table["rows"]]

    def ask_for_nodes(self, name, count):
        self.call("POST", "/api/v1/namespaces/default/podtemplates", {
            "metadata": {"name": name}, "template": {"spec": {"containers": [
                {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1", "nvidia.com/gpu": "1"}}}]}}})
        self.call("POST", REQUESTS, {
            "apiVersion": "autoscaling.x-k8s.io/v1", "kind": "ProvisioningRequest", "metadata": {"name": name},
            "spec": {"provisioningClassName": "queued-provisioning.gke.io",
                     "podSets": [{"count": count, "podTemplateRef": {"name": name}}]}})

    def shown(self, name):
        """ACCEPTED, PROVISIONED, FAILED of a request."""
        return next(row[1:4] for row in self.rows(REQUESTS)[1] if row[0] == name)


class Takeover(unittest.TestCase):
    def test_the_cohort_is_shown_by_whichever_name_it_was_written(self):
        sim = Sim(self)
        for name, version, spec in (("old", "v1beta1", {"cohort": "a"}), ("new", "v1beta2", {"cohortName": "b"})):
            sim.call("POST", f"{KUEUE}/{version}/clusterqueues", {
                "apiVersion": f"kueue.x-k8s.io/{version}", "kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec})
        columns, rows = sim.rows(f"{KUEUE}/v1beta2/clusterqueues")
        self.assertEqual(columns, ["Name", "Cohort", "Pending Workloads"])
        self.assertEqual([row[:2] for row in rows], [["new", "b"], ["old", "a"]])
        self.assertEqual(sim.rows("/apis/mcad.ibm.com/v1beta1/appwrappers")[0], ["Name", "Age"])

    def test_a_job_with_a_queues_label_is_held(self):
        sim = Sim(self)
        pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
        for name, labels in (("held", {QUEUE: "q"}), ("free", {})):
            job = sim.call("POST", "/apis/batch/v1/namespaces/default/jobs", {
                "metadata": {"name": name, "labels": labels}, "spec": {"template": {"spec": pod}}})
            self.assertEqual(job["spec"]["suspend"], name == "held")

    def test_its_own_autoscaler_makes_the_nodes_of_a_request(self):
        sim = Sim(self, "--autoscaler", "{shape}")
        sim.ask_for_nodes("r", 2)
        sim.await_(lambda: sim.shown("r") == ["True", "True", "False"])
        nodes = sim.call("GET", "/api/v1/nodes")["items"]
        self.assertEqual([node["metadata"]["labels"]["pool"] for node in nodes], ["gpu", "gpu"])

    def test_an_autoscaler_beside_it_does_the_same_when_it_is_told_to(self):
        sim = Sim(self)
        beside = sim.start("sim", "autoscaler", "--kubeconfig", str(sim.kubeconfig), "--node", str(sim.shape), "--wait",
                           "--provision-after", "0s")
        sim.ask_for_nodes("r", 1)
        sim.await_(lambda: sim.shown("r") == ["True", "False", "False"])
        self.assertEqual(sim.call("GET", "/api/v1/nodes")["items"], [])
        sim.call("PATCH", f"{REQUESTS}/r", {"metadata": {"annotations": {"sim.tutti.dev/provisioning": "provide"}}})
        sim.await_(lambda: sim.shown("r") == ["True", "True", "False"])
        sim.call("PATCH", f"{REQUESTS}/r", {"metadata": {"annotations": {"sim.tutti.dev/provisioning": "revoke"}}})
        sim.await_(lambda: any(c["type"] == "CapacityRevoked" for c in sim.call("GET", f"{REQUESTS}/r")["status"]["conditions"]))
        self.assertEqual(sim.call("GET", "/api/v1/nodes")["items"], [])
        beside.send_signal(signal.SIGTERM)
        self.assertEqual(beside.wait(SECONDS), 0)

    def test_a_shape_that_is_none_is_refused(self):
        for text in ("kind: Pod\napiVersion: v1\nmetadata: {name: p}", "a: b", SHAPE + "---" + SHAPE):
            with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
                file.write(text)
                file.flush()
                for arguments in (["sim", "autoscaler", "--node", file.name], ["sim", "--autoscaler", file.name]):
                    done = subprocess.run([TUTTI, *arguments], capture_output=True, text=True, timeout=SECONDS)
                    self.assertEqual((done.returncode, done.stdout), (2, ""))
                    self.assertIn(pathlib.Path(file.name).name, done.stderr)


if __name__ == "__main__":
    TUTTI = sys.argv.pop(1)
    unittest.main()
