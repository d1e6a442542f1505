#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kubectl tutti migrate check`: says of a cluster, or of manifests, what the pages docs/migrate say of it.

  ctl_migrate_test.py PATH-TO-TUTTI
"""

import json
import os
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import doors_rig as rig
import serving

PAGES = pathlib.Path(__file__).resolve().parents[2] / "docs/migrate"
VOLCANO = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: kept}
spec: {reclaimable: false}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: plain}
---
apiVersion: v1
kind: Pod
metadata: {name: train, namespace: team}
spec:
  schedulerName: volcano
  containers: [{name: main, image: busybox}]
"""
CONF = """
apiVersion: v1
kind: ConfigMap
metadata: {name: volcano-scheduler-configmap, namespace: volcano-system}
data:
  volcano-scheduler.conf: |
    actions: "enqueue, allocate"
    tiers: [{plugins: [{name: drf}, {name: gang}]}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: volcano-scheduler-configmap, namespace: elsewhere}
data: {volcano-scheduler.conf: "name: tdm"}
"""


class Check(rig.Base):
    def check(self, *arguments):
        """(exit code, what is found: {what: finding}, what is said)"""
        done = self.ctl("migrate", "check", "-o", "json", *arguments)
        self.assertTrue(done.stdout, done.stderr)
        return done.returncode, {one["uses"]: one for one in json.loads(done.stdout)["findings"]}, done.stderr

    def check_manifests(self, text):
        file = self.root / "manifests.yaml"
        file.write_text(text)
        return self.check("-f", str(file))

    def test_a_cluster_is_looked_at(self):
        self.sim(VOLCANO)
        code, found, said = self.check("--server", self.url)
        self.assertEqual((code, said), (0, ""))
        self.assertEqual({what: (one["system"], one["verdict"], one["objects"]) for what, one in found.items()}, {
            "Queues": ("Volcano", "taken", ["kept", "plain"]),
            "pods with schedulerName: volcano": ("Volcano", "taken", ["team/train"]),
            "reclaimable: false": ("Volcano", "different", ["kept"])})

    def test_a_setting_without_effect_is_told_by_the_exit_code(self):
        self.assertEqual(self.check_manifests(VOLCANO)[0], 0)
        code, found, _ = self.check_manifests(VOLCANO + "---" + CONF)
        self.assertEqual(code, 1)
        self.assertEqual(found["drf plugin"]["verdict"], "not taken")
        self.assertEqual(found["drf plugin"]["objects"], ["volcano-system/volcano-scheduler-configmap"])
        self.assertEqual(found["drf plugin"]["tutti"], "no effect")
        self.assertNotIn("sla, tdm, usage, numaaware, deviceshare, task-topology", found)

    def test_objects_of_each_page_are_found(self):
        for manifest, what in (
                ("{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: ElasticQuota, metadata: {name: q}}", "ElasticQuota"),
                ("{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: q}}", "kai.scheduler/queue, quota, limit, weight"),
                ("{apiVersion: v1, kind: Pod, metadata: {name: p, annotations: {gpu-fraction: '0.5'}}}", "GPU fractions and memory"),
                ("{apiVersion: v1, kind: Namespace, metadata: {name: n, annotations: {yunikorn.apache.org/namespace.quota: '{}'}}}",
                 "namespace.quota annotations"),
                ("{apiVersion: kueue.x-k8s.io/v1beta1, kind: AdmissionCheck, metadata: {name: a}, "
                 "spec: {controllerName: kueue.x-k8s.io/multikueue}}",
                 "MultiKueue, manageJobsWithoutQueueName, resource transformations")):
            code, found, _ = self.check_manifests(manifest)
            self.assertEqual((code, list(found)), (1, [what]))
        code, found, _ = self.check_manifests("{apiVersion: mcad.ibm.com/v1beta1, kind: AppWrapper, metadata: {name: a}}")
        self.assertEqual((code, list(found)), (0, ["AppWrappers"]))
        done = self.ctl("migrate", "check", "-f", "/dev/null")
        self.assertEqual((done.returncode, done.stdout), (0, "Nothing of another scheduler is in use.\n"))

    def test_each_comment_of_the_pages_is_a_rule(self):
        pages = sorted(PAGES.glob("from-*.md"))
        self.assertEqual(len(pages), 6)
        for page in pages:
            for line in page.read_text().splitlines():
                for comment in re.findall(r"<!-- (.*?) -->", line):
                    self.assertRegex(comment, r"^(taken|different|not): \w+(\.[\w.-]+)?(:[\w-]+/[\w.-]+)?( /\S+( [=~] .+)?)?$", page)
                    self.assertRegex(line, r"^\| .* \| .* \|$", page)
            self.assertRegex(page.read_text(), r"<!-- (taken|different|not): ")

    def test_what_cannot_be_read_is_not_passed_over(self):
        class Server(serving.Quiet):
            def do_GET(self):
                found = {"/api/v1": {"resources": [{"name": "pods", "kind": "Pod"}, {"name": "pods/status", "kind": "Pod"}]}}
                if self.path in found:
                    return self.send(200, json.dumps(found[self.path]).encode())
                if "/pods" in self.path:
                    return self.send(403, b'{"message": "pods is forbidden"}')
                return self.send(404, b"{}")

        port = serving.serve(self.addCleanup, Server).server_port
        code, found, said = self.check("--server", f"http://127.0.0.1:{port}")
        self.assertEqual((code, found, said), (1, {}, "note: not looked at: Pod: pods is forbidden\n"))


if __name__ == "__main__":
    rig.TUTTI = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
