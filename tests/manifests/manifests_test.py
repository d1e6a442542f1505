#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every example offline, and holds what is deployed to what it promises.

  manifests_test.py TUTTI [unittest arguments]
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import yaml

MANIFESTS = pathlib.Path(__file__).resolve().parents[2] / "manifests"
EXAMPLES = MANIFESTS / "examples"
TUTTI = None

# What each example must come to: dialect, members and minimum of its gang; a gang of one is not named.
GANGS = {
    "appwrapper.yaml": [("mcad", 3, 3)],
    "lone-pods.yaml": [],
    "ray-cluster.yaml": [("kuberay", 5, 5)],
    "ray-cluster-volcano.yaml": [("volcano", 5, 5)],
    "ray-job.yaml": [("kuberay", 3, 3)],
    "scheduler-plugins-gang.yaml": [("scheduler-plugins", 4, 4)],
    "upstream-gang.yaml": [("upstream", 4, 4)],
    "volcano-gang.yaml": [("volcano", 4, 4)],
    "yunikorn-gang.yaml": [("yunikorn", 4, 4)],
}


def run(*arguments):
    done = subprocess.run([TUTTI, "simulate", *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise AssertionError(f"tutti simulate {' '.join(map(str, arguments))}: {done.returncode}\n{done.stderr}")
    return done.stdout


def documents(path):
    return [d for d in yaml.safe_load_all(path.read_text()) if d]


class Examples(unittest.TestCase):
    def test_every_example_is_listed_here(self):
        self.assertEqual(sorted(GANGS), sorted(p.name for p in EXAMPLES.glob("*.yaml")))

    def test_every_example_starts_whole(self):
        for name, gangs in GANGS.items():
            with self.subTest(name):
                more = ["--batch-scheduler", "volcano"] if name == "ray-cluster-volcano.yaml" else []
                # A RayJob takes its cluster down at its end: it is looked at while it runs.
                more += ["--until", "30s"] if name == "ray-job.yaml" else []
                result = json.loads(run(EXAMPLES / "offline/nodes.yaml", EXAMPLES / name, "-o", "json", *more))
                self.assertTrue(result["pods"])
                for pod in result["pods"]:
                    self.assertIn(pod["state"], ("bound", "finished"), pod)
                    self.assertTrue(pod["node"], pod)
                seen = [(g["dialect"], g["members"], g["minMember"]) for g in result["gangs"] if g["dialect"] != "plain"]
                self.assertEqual(seen, gangs)

    def test_the_offline_example_does_what_its_comment_says(self):
        text = run(EXAMPLES / "offline", "-o", "json")
        self.assertEqual(text, run(EXAMPLES / "offline", "-o", "json"), "the same input gives the same bytes")
        result = json.loads(text)
        gangs = {g["name"]: g for g in result["gangs"]}
        self.assertEqual(gangs["first"]["state"], "finished")
        self.assertEqual(gangs["second"]["state"], "finished")
        self.assertEqual(gangs["third"]["bound"], 0)
        self.assertIn("8 of the 9 pods it needs fit now. Missing: 1 nvidia.com/gpu.", gangs["third"]["message"])
        starts = {}
        for step in result["timeline"]:
            if step["action"] == "bind":
                starts.setdefault(step["gang"].split("/")[-1], []).append(step["atSeconds"])
        self.assertEqual({g: set(at) for g, at in starts.items()}, {"first": {0}, "second": {60}})

    def test_queues_of_weight_one_and_three_have_a_quarter_and_three_quarters(self):
        result = json.loads(run(EXAMPLES / "queues", "-o", "json"))
        at_once = [s["gang"].split("/")[-1] for s in result["timeline"] if s["action"] == "bind" and s["atSeconds"] == 0]
        self.assertEqual(sorted(g.split("-")[0] for g in at_once), ["high", "high", "high", "low"])
        self.assertTrue(all(g["state"] == "finished" for g in result["gangs"]), result["gangs"])

    def test_a_queue_of_weight_three_takes_its_three_quarters_back(self):
        folder = EXAMPLES / "reclaim"
        result = json.loads(run(folder, "--config", folder / "volcano-scheduler.conf", "-o", "json"))

        def bound(until_s):
            """The pods of each gang that are bound then."""
            count = {"borrower": 0, "owner": 0}
            for step in result["timeline"]:
                if step["atSeconds"] <= until_s and step["action"] in ("bind", "evict", "finish"):
                    count[step["gang"].split("/")[-1]] += 1 if step["action"] == "bind" else -1
            return count

        self.assertEqual(bound(59), {"borrower": 4, "owner": 0})
        self.assertEqual(bound(120), {"borrower": 1, "owner": 3})
        self.assertEqual({g["name"]: g["state"] for g in result["gangs"]}, {"borrower": "whole", "owner": "finished"})

    def test_the_whole_folder_is_taken_with_its_subfolders(self):
        result = json.loads(run("-R", MANIFESTS, "-o", "json"))
        self.assertEqual((result["apiVersion"], result["kind"]), ("tutti.dev/v1alpha1", "SimulationResult"))
        self.assertTrue({"tutti", "first", "upstream-train"} <= {name for g in result["gangs"] for name in (g["name"], g["name"].split("-")[0])})


class Deployed(unittest.TestCase):
    def objects(self, kind):
        return [d for p in sorted((MANIFESTS / "deploy").glob("*.yaml")) for d in documents(p) if d["kind"] == kind]

    def test_every_kustomization_names_every_file(self):
        for file in MANIFESTS.rglob("kustomization.yaml"):
            listed = yaml.safe_load(file.read_text())["resources"]
            folder = "deploy/" if file.parent == MANIFESTS else ""
            there = [folder + p.name for p in sorted((file.parent / folder).glob("*.yaml")) if p != file]
            overlaid = [] if "../v1" not in listed else ["../v1"]
            with self.subTest(file.parent.relative_to(MANIFESTS)):
                self.assertEqual(listed, overlaid + there)

    def test_the_configuration_is_one_that_tutti_reads(self):
        (config,) = self.objects("ConfigMap")
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(config["data"]["config.yaml"])
            file.flush()
            run("--config", file.name, EXAMPLES / "offline")

    def test_no_right_is_a_wildcard_and_secrets_are_not_among_them(self):
        for role in self.objects("ClusterRole") + self.objects("Role"):
            for rule in role["rules"]:
                named = [v for values in rule.values() for v in values]
                self.assertNotIn("*", named, role["metadata"]["name"])
                self.assertFalse({"secrets", "escalate", "impersonate", "bind"} & set(named))

    def test_the_pods_are_restricted(self):
        (deployment,) = self.objects("Deployment")
        self.assertEqual(deployment["spec"]["replicas"], 2)
        pod = deployment["spec"]["template"]["spec"]
        self.assertTrue(pod["securityContext"]["runAsNonRoot"])
        self.assertEqual(pod["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"})
        (container,) = pod["containers"]
        self.assertEqual(container["securityContext"], {
            "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}})
        for probe, path in (("livenessProbe", "/livez"), ("readinessProbe", "/readyz")):
            self.assertEqual(container[probe]["httpGet"], {"path": path, "port": "https", "scheme": "HTTPS"})

    def test_the_lease_has_another_priority_level_than_everything_else(self):
        levels = {s["metadata"]["name"]: s["spec"]["priorityLevelConfiguration"]["name"] for s in self.objects("FlowSchema")}
        self.assertEqual(levels, {"tutti-lease": "leader-election", "tutti": "tutti"})


if __name__ == "__main__":
    TUTTI = sys.argv.pop(1)
    unittest.main()
