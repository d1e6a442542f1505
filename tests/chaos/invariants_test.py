#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The judges' own tests: an invariant that could not fail would make chaos worthless."""

import json
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "walkthroughs")]

from chaos import invariants
from chaos.invariants import World, violations

REASON = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/2 nodes are available"}


def node(name, cpu="4", taints=()):
    return {"metadata": {"name": name}, "spec": {"taints": list(taints)},
            "status": {"allocatable": {"cpu": cpu, "memory": "64Gi", "pods": "110"}}}


def pod(name, on="", cpu="1", group="", commit="", phase="", conditions=(REASON,), **metadata):
    annotations = {"scheduling.k8s.io/group-name": group} if group else {}
    if commit:
        annotations[invariants.BIND] = json.dumps({"uid": f"uid-{name}", "node": on, "commit": f"uid-{commit}", "plan": "1"})
    return {"metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}", "annotations": annotations, **metadata},
            "spec": {"schedulerName": "tutti", "nodeName": on,
                     "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]},
            "status": {"phase": phase or ("Running" if on else "Pending"), "conditions": [] if on else list(conditions)}}


def ray(name, kind, on="", cpu="1"):
    return pod(name, on, cpu, labels={"ray.io/cluster": "r", "ray.io/node-type": "head" if kind == "headgroup" else "worker",
                                      "ray.io/group": kind})


def world(nodes, pods, groups=(), rays=()):
    lists = {kind: [] for kind in invariants.KINDS}
    lists["nodes"], lists["pods"] = nodes, pods
    lists[f"podgroups.{invariants.VOLCANO}"] = [
        {"metadata": {"name": name, "namespace": "default"}, "spec": {"minMember": least}} for name, least in groups]
    lists["rayclusters.ray.io"] = [
        {"metadata": {"name": name, "namespace": "default"},
         "spec": {"workerGroupSpecs": [{"groupName": "w", "replicas": workers}]}} for name, workers in rays]
    return World(lists)


class EveryInvariantCanFail(unittest.TestCase):
    def holds(self, invariant, *args, **keywords):
        self.assertEqual(list(invariant(world(*args, **keywords))), [])

    def fails(self, invariant, *args, **keywords):
        self.assertNotEqual(list(invariant(world(*args, **keywords))), [])

    def test_overcommitted(self):
        self.holds(invariants.overcommitted, [node("n")], [pod("a", "n", "3"), pod("b", "n", "1")])
        self.fails(invariants.overcommitted, [node("n")], [pod("a", "n", "3"), pod("b", "n", "1100m")])
        self.holds(invariants.overcommitted, [node("n")], [pod("a", "n", "3"), pod("b", "n", "3", phase="Succeeded")])
        self.fails(invariants.overcommitted, [node("n")], [pod("a", "n", "3"), pod("b", "n", "3", deletionTimestamp="now")])

    def test_half_done(self):
        group = [("g", 2)]
        self.fails(invariants.half_done, [node("n")], [pod("a", "n", group="g", commit="b"), pod("b", group="g")], group)
        self.holds(invariants.half_done, [node("n")], [pod("a", "n", group="g", commit="a"), pod("b", group="g")], group)
        self.holds(invariants.half_done, [node("n")], [pod("a", "n", group="g", commit="gone"), pod("b", group="g")], group)
        self.holds(invariants.half_done, [node("n")], [pod("a", group="g"), pod("b", group="g")], group)

    def test_half_undone(self):
        mark = {"type": "DisruptionTarget", "status": "True", "reason": "GangNotWhole"}
        marked = pod("a", "n")
        marked["status"]["conditions"] = [mark]
        self.fails(invariants.half_undone, [node("n")], [marked])
        self.holds(invariants.half_undone, [node("n")], [pod("a", "n")])

    def test_silent(self):
        self.holds(invariants.silent, [], [pod("a")])
        self.fails(invariants.silent, [], [pod("a", conditions=[])])
        self.fails(invariants.silent, [], [pod("a", conditions=[{**REASON, "message": ""}])])

    def test_waits_though_it_fits(self):
        waits, group = invariants.waits_though_it_fits, [("g", 3)]
        three = [pod(name, cpu="2", group="g") for name in "abc"]
        self.fails(waits, [node("m"), node("n", "2")], three, group)
        self.holds(waits, [node("m"), node("n", "1")], three, group)
        self.holds(waits, [node("m"), node("n", taints=[{"key": "k", "effect": "NoSchedule"}])], three, group)
        self.holds(waits, [node("m"), node("n")], three[:2], group)  # one is not there yet
        self.holds(waits, [node("m")], [pod("a", cpu="5")])
        self.fails(waits, [node("m")], [pod("a", cpu="4")])
        # One of a gang that has started.
        self.fails(waits, [node("m")], [pod("a", "m", "2", "g", "a"), pod("b", cpu="2", group="g")], [("g", 2)])

    def test_waits_though_it_fits_with_a_head(self):
        waits = invariants.waits_though_it_fits
        members = [ray("h", "headgroup", cpu="1"), ray("w1", "w", cpu="2"), ray("w2", "w", cpu="2")]
        self.fails(waits, [node("m"), node("n", "1")], members, rays=[("r", 2)])
        self.holds(waits, [node("m", "3"), node("n", "1")], members, rays=[("r", 2)])
        self.fails(waits, [node("m", "3"), node("n", "2")], members, rays=[("r", 2)])

    def test_not_whole(self):
        group = [("g", 2)]
        self.holds(invariants.not_whole, [node("n")], [pod("a", "n", group="g"), pod("b", "n", group="g")], group)
        self.fails(invariants.not_whole, [node("n")], [pod("a", "n", group="g"), pod("b", group="g")], group)
        self.fails(invariants.not_whole, [node("n")], [pod("a", "n", group="g"), pod("b", "gone", group="g")], group)
        self.holds(invariants.not_whole, [node("n")],
                   [pod("a", "n", group="g"), pod("b", "n", group="g", phase="Succeeded")], group)
        self.fails(invariants.not_whole, [node("n")], [pod("a")])

    def test_all_of_them_are_asked(self):
        broken = world([node("n")], [pod("a", "n", "5"), pod("b", conditions=[], cpu="9")])
        self.assertEqual(len(violations(broken, invariants.ALWAYS)), 1)
        self.assertEqual(len(violations(broken, invariants.AT_REST)), 2)
        self.assertEqual(len(violations(broken, invariants.WITH_ROOM)), 4)


if __name__ == "__main__":
    unittest.main()
