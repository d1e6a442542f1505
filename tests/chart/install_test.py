#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs the chart with Helm on a real API server, runs the scheduler with what it grants, upgrades and uninstalls it.

  install_test.py TUTTI [unittest arguments]
"""

import json
import os
import pathlib
import ssl
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

import yaml

from helm import CHART, REPOSITORY, helm

sys.path.insert(0, str(REPOSITORY / "tests" / "support"))

from ports import free_port

TUTTI = None
CLUSTER = REPOSITORY / "tests" / "controlplane" / "cluster"
SECONDS = 90
RELEASE, NAMESPACE, NAME = "gangs", "batch", "gangs-tutti"


class Installed(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.cluster("up", "--no-kwok", "--no-controller-manager", "--until-exit-of", str(os.getpid()))
        self.addCleanup(self.cluster, "down")
        self.kubectl_path = json.loads((self.dir / "cluster.json").read_text())["bin"] + "/kubectl"

    def cluster(self, verb, *arguments):
        done = subprocess.run([CLUSTER, verb, "--dir", self.dir, *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def kubectl(self, *arguments):
        done = subprocess.run([self.kubectl_path, "--kubeconfig", self.dir / "admin.kubeconfig", *arguments],
                              capture_output=True, text=True, timeout=SECONDS, check=False,
                              env={**os.environ, "KUBECACHEDIR": str(self.dir / "kubectl-cache")})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def helm(self, *arguments, values=None):
        environment = {**os.environ, "HELM_CACHE_HOME": str(self.dir / "helm"), "HELM_CONFIG_HOME": str(self.dir / "helm")}
        done = helm(*arguments, "--kubeconfig", self.dir / "admin.kubeconfig", "--namespace", NAMESPACE, values=values,
                    env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def names(self, kind, *arguments):
        return self.kubectl("get", kind, *arguments, "-o", "name").split()

    def test_it_is_installed_runs_with_its_rights_is_upgraded_and_leaves_only_the_kinds(self):
        # Volcano's kinds are there before, of another owner: they are left as they are.
        values = {"crds": {"volcano": {"install": True}, "kueue": {"install": True}, "appwrapper": {"install": True}},
                  "kueue": {"hold": True}, "appwrapper": {"rights": True}, "networkPolicy": {"enabled": True}}
        notes = self.helm("install", RELEASE, CHART, "--create-namespace", values=values)
        self.assertIn(f"kubectl -n {NAMESPACE} get lease {NAME}", notes)
        crds = self.names("crd")
        self.assertIn("customresourcedefinition.apiextensions.k8s.io/clusterqueues.kueue.x-k8s.io", crds)
        labels = json.loads(self.kubectl("get", "crd", "queues.scheduling.volcano.sh", "-o", "json"))["metadata"].get("labels", {})
        self.assertNotIn("helm.sh/chart", labels)

        self.run_as_installed()

        before = self.stamp()
        self.helm("upgrade", RELEASE, CHART, values={**values, "tuttiConfig": {"policy": "keep"}})
        self.assertNotEqual(self.stamp(), before)
        self.assertIn("policy: keep", self.kubectl("-n", NAMESPACE, "get", "cm", NAME, "-o", "yaml"))

        self.helm("uninstall", RELEASE)
        self.assertEqual(self.names("crd"), crds, "no object of a user is deleted with its kind")
        for kind in ("clusterrole,clusterrolebinding,role,rolebinding,priorityclass,flowschema,prioritylevelconfiguration,"
                     "validatingadmissionpolicy,mutatingadmissionpolicy,deploy,cm,svc,sa,pdb,networkpolicy").split(","):
            left = self.names(kind, "-A")
            self.assertFalse([name for name in left if "tutti" in name], kind)

    def test_the_tenancy_policy_of_the_examples_limits_queues_and_priorities_by_namespace(self):
        self.kubectl("create", "namespace", "team-a")
        self.kubectl("label", "namespace", "team-a", "example.com/queues=team-a.shared", "example.com/priorities=low")
        self.kubectl("apply", "-f", REPOSITORY / "manifests/examples/tenancy/queue-policy.yaml")

        def refusal(namespace, queue, priority=""):
            group = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": "g", "namespace": namespace},
                     "spec": {"minMember": 1, "queue": queue, "priorityClassName": priority}}
            done = subprocess.run([self.kubectl_path, "--kubeconfig", self.dir / "admin.kubeconfig", "create", "--dry-run=server", "-f", "-"],
                                  input=json.dumps(group), capture_output=True, text=True, timeout=SECONDS, check=False)
            return done.stderr

        def await_refusal(namespace, queue, otherwise):
            deadline = time.monotonic() + SECONDS
            while "may not use queue" not in refusal(namespace, queue):
                self.assertLess(time.monotonic(), deadline, otherwise)
                time.sleep(0.2)

        await_refusal("default", "team-a", "the policy is not in force")
        self.assertEqual(refusal("default", "default"), "")
        self.assertEqual(refusal("team-a", "shared", "low"), "")
        self.assertIn("namespace team-a may not use queue team-b", refusal("team-a", "team-b"))
        self.assertIn("namespace team-a may not use priority high", refusal("team-a", "shared", "high"))

        # What is there stays usable when the label goes: the scheduler writes its status.
        self.kubectl("apply", "-f", self.file("group.yaml", {
            "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": "old", "namespace": "team-a"},
            "spec": {"minMember": 1, "queue": "shared"}}))
        self.kubectl("label", "namespace", "team-a", "example.com/queues-")
        await_refusal("team-a", "shared", "the label is still seen")
        self.kubectl("-n", "team-a", "annotate", "podgroups.scheduling.volcano.sh", "old", "a=b")

    def file(self, name, document):
        (self.dir / name).write_text(yaml.safe_dump(document))
        return self.dir / name

    def stamp(self):
        deployment = json.loads(self.kubectl("-n", NAMESPACE, "get", "deploy", NAME, "-o", "json"))
        return deployment["spec"]["template"]["metadata"]["annotations"]["checksum/config"]

    def run_as_installed(self):
        """The scheduler lists all it needs and gets its Lease with the installed rights and configuration."""
        kubeconfig = self.cluster("kubeconfig", "--serviceaccount", f"{NAMESPACE}/{NAME}")
        config = self.dir / "config.yaml"
        config.write_text(yaml.safe_load(self.kubectl("-n", NAMESPACE, "get", "cm", NAME, "-o", "yaml"))["data"]["config.yaml"])
        port = free_port()
        with open(self.dir / "tutti.log", "wb") as log:
            process = subprocess.Popen([TUTTI, "run", "--kubeconfig", kubeconfig, "--config", config, "--secure-port", str(port)],
                                       stdout=log, stderr=log)
        self.addCleanup(lambda: (process.kill(), process.wait()))
        deadline = time.monotonic() + SECONDS
        while not (self.ready(port) and self.holder()):
            self.assertIsNone(process.poll(), (self.dir / "tutti.log").read_text())
            self.assertLess(time.monotonic(), deadline, (self.dir / "tutti.log").read_text())
            time.sleep(0.1)
        process.terminate()
        self.assertEqual(process.wait(SECONDS), 0)
        self.assertNotIn("forbidden", (self.dir / "tutti.log").read_text())

    def ready(self, port):
        try:
            with urllib.request.urlopen(f"https://127.0.0.1:{port}/readyz", timeout=SECONDS,
                                        context=ssl._create_unverified_context()) as answer:
                return answer.status == 200
        except urllib.error.URLError:
            return False

    def holder(self):
        leases = json.loads(self.kubectl("-n", NAMESPACE, "get", "lease", "-o", "json"))["items"]
        return {lease["metadata"]["name"]: lease["spec"].get("holderIdentity") for lease in leases}.get(NAME)


if __name__ == "__main__":
    TUTTI = sys.argv.pop(1)
    unittest.main()
