#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kubectl tutti snapshot`: what it writes of a cluster, what it never writes, and whether `tutti simulate` answers as that
cluster does.

  ctl_snapshot_test.py PATH-TO-TUTTI
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import doors_rig as rig
import serving
from serving import SECONDS, eventually, fetch

MARK = "hunter2"
CONFIG = """
apiVersion: tutti.dev/v1alpha1
kind: TuttiConfiguration
queues: {rule: proportion}
---
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: tutti}, {schedulerName: house}]
"""
MORE = f"""
apiVersion: v1
kind: Pod
metadata:
  name: zeta-pod
  namespace: secret-team
  labels: {{squad: Nightfall, tier: overnight}}
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: '{{"env": "{MARK}"}}'
    team.example/note: call-alice
spec:
  schedulerName: house
  nodeSelector: {{topology.kubernetes.io/zone: a}}
  containers:
  - name: main
    image: registry.example/acme:1
    command: [run, --password={MARK}]
    args: [{MARK}]
    env: [{{name: PASSWORD, value: {MARK}}}]
    envFrom: [{{secretRef: {{name: of-alice}}}}]
    livenessProbe: {{exec: {{command: [{MARK}]}}}}
    resources: {{requests: {{cpu: "100"}}}}
  affinity:
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - labelSelector: {{matchExpressions: [{{key: squad, operator: In, values: [Nightfall]}}]}}
        topologyKey: kubernetes.io/hostname
---
apiVersion: v1
kind: Secret
metadata: {{name: of-alice, namespace: secret-team}}
stringData: {{a: {MARK}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: settings, namespace: secret-team}}
data: {{a: {MARK}}}
---
apiVersion: batch/v1
kind: Job
metadata: {{name: zeta-job, namespace: secret-team}}
spec:
  parallelism: 2
  completions: 2
  template:
    spec:
      schedulerName: tutti
      restartPolicy: Never
      containers: [{{name: main, image: busybox, env: [{{name: A, value: {MARK}}}], resources: {{requests: {{cpu: 500m}}}}}}]
---
apiVersion: ray.io/v1
kind: RayJob
metadata: {{name: ray, namespace: secret-team}}
spec:
  suspend: true
  entrypoint: python run.py --token={MARK}
  runtimeEnvYAML: "env_vars: {{A: {MARK}}}"
  rayClusterSpec:
    headGroupSpec:
      rayStartParams: {{redis-password: {MARK}}}
      template: {{spec: {{containers: [{{name: head, image: ray, env: [{{name: A, value: {MARK}}}]}}]}}}}
---
apiVersion: workload.codeflare.dev/v1beta2
kind: AppWrapper
metadata: {{name: wrapped, namespace: secret-team}}
spec:
  components:
  - template: {{apiVersion: v1, kind: Secret, metadata: {{name: inner}}, stringData: {{a: {MARK}}}}}
"""
# In --redact's answer these are to be gone.
NAMES = ("first", "second", "research", "node-1", "secret-team", "zeta", "Nightfall", "alice", "registry", "overnight", "busybox", "wrapped")


class Snapshot(rig.Base):
    def setUp(self):
        super().setUp()
        config = self.root / "config.yaml"
        config.write_text(CONFIG)
        self.sim(rig.CLUSTER + "---" + rig.gang("first", 3, "2") + "---" + MORE, "--config", str(config))
        self.gang("first", "whole")
        eventually(lambda: len(self.door("gangs?namespace=secret-team")["gangs"]) >= 3, "the job has pods")
        self.apply(rig.gang("second", 2, "3"))
        self.gang("second", "waiting-for-nodes")
        self.gang("zeta-pod", "waiting-for-nodes", "secret-team")

    def snapshot(self, *flags):
        """The text of a snapshot."""
        done = self.ctl("snapshot", "--server", self.url, *flags)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def simulate(self, text, *flags):
        """The gangs that `tutti simulate` tells of a snapshot."""
        done = subprocess.run([rig.TUTTI, "simulate", "-", "-o", "json", *flags], input=text, capture_output=True, text=True,
                              timeout=SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {f"{gang['namespace']}/{gang['name']}": gang for gang in json.loads(done.stdout)["gangs"]}

    def test_simulate_answers_as_the_cluster_does(self):
        there = {f"{gang['namespace']}/{gang['name']}": gang for gang in self.door("gangs")["gangs"]}
        told = self.simulate(self.snapshot())
        self.assertEqual(set(told), set(there))
        self.assertEqual({name for name, gang in there.items() if gang["state"] == "waiting-for-nodes"},
                         {"default/second", "secret-team/zeta-pod"})
        for name, gang in there.items():
            for field in ("state", "reason", "message", "queue", "bound"):
                self.assertEqual(told[name].get(field, ""), gang.get(field, 0 if field == "bound" else ""), (name, field))

    def test_a_pod_whose_scheduler_is_not_in_another_configuration_is_not_placed(self):
        """The configuration in the snapshot counts, and --config counts instead of it."""
        self.assertIn("secret-team/zeta-pod", self.simulate(self.snapshot()))
        other = self.root / "other.yaml"
        other.write_text("apiVersion: tutti.dev/v1alpha1\nkind: TuttiConfiguration\n")
        self.assertNotIn("secret-team/zeta-pod", self.simulate(self.snapshot(), "--config", str(other)))
        documents = [item for item in json.loads(self.snapshot())["items"] if "tutti.dev" in item["apiVersion"] or "config" in item["apiVersion"]]
        self.assertEqual([one["kind"] for one in documents], ["TuttiConfiguration", "KubeSchedulerConfiguration"])
        self.assertEqual(documents[0]["queues"]["rule"], "proportion")
        self.assertEqual(documents[1]["profiles"], [{"schedulerName": "tutti"}, {"schedulerName": "house"}])

    def test_no_secret_is_written(self):
        text = self.snapshot()
        self.assertNotIn(MARK, text)
        kinds = {item["kind"] for item in json.loads(text)["items"]}
        self.assertLessEqual({"Pod", "Node", "Queue", "PodGroup", "Job", "RayJob", "AppWrapper", "Namespace"}, kinds)
        self.assertFalse({"Secret", "ConfigMap"} & kinds)
        self.assertIn("zeta-pod", text)

    def test_a_redacted_snapshot_names_nobody_and_is_decided_alike(self):
        text, plain = self.snapshot("--redact"), self.snapshot()
        for name in (*NAMES, MARK):
            self.assertNotIn(name, text)
            self.assertTrue(name == MARK or name in plain, name)
        told, there = self.simulate(text), self.simulate(plain)
        without_names = lambda gang: (gang["state"], gang["reason"], gang["members"], gang["bound"],
                                      re.sub(r"\b(n\d{6}(-\d+)?|default|" + "|".join(re.escape(name.split("/")[1]) for name in there) +
                                             r"|secret-team|research|node-\d)\b", "NAME", gang["message"]))
        self.assertEqual(sorted(map(without_names, told.values())), sorted(map(without_names, there.values())))
        self.assertEqual(text, self.snapshot("--redact"))

    def test_it_goes_into_a_file_and_says_what_could_not_be_read(self):
        path = self.root / "cluster.json"
        self.assertEqual(self.snapshot("-o", str(path)), "")
        self.assertIn("default/second", self.simulate(path.read_text()))

        class Server(serving.Quiet):
            def do_GET(self):
                if self.path.startswith(("/api/v1/nodes?", "/api/v1/pods?")):
                    return self.send(200, b'{"items": []}')
                return self.send(403, b'{"message": "it is forbidden"}')

        port = serving.serve(self.addCleanup, Server).server_port
        done = self.ctl("snapshot", "--server", f"http://127.0.0.1:{port}")
        self.assertEqual(done.returncode, 0)
        self.assertIn("note: left out: namespaces: it is forbidden\n", done.stderr)
        self.assertIn("note: left out: the configuration of the scheduler: it is forbidden\n", done.stderr)
        self.assertEqual(json.loads(done.stdout)["items"], [])


if __name__ == "__main__":
    rig.TUTTI = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
