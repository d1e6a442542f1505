#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The runner's own tests: an expectation that could not fail would make every walkthrough worthless."""

import io
import json
import pathlib
import socket
import sys
import tempfile
import threading
import time
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import yaml

from runner import host, rights
from runner.expect import JUDGES, judge
from runner.quantity import milli
from runner.session import STEP_WORDS, Session
from runner.watch import Watch
from runner.wire import SlowWire
from runner.words import BadWalkthrough, StepFailed, seconds, substitute


class EveryJudgeCanFail(unittest.TestCase):
    # word: (wanted, a text that meets it, a text that does not)
    EXAMPLES = {
        "equals": ("a b", " a b\n", "a b c"),
        "contains": (["3/3 tasks", "not ready"], "message: 3/3\n  tasks ... not ready", "3/3 tasks"),
        "lacks": ("Running", "Pending", "Running"),
        "matches": (["^x-[0-9]+ Running$"], "head\nx-12 Running\n", "x-12 Running now"),
        "lines": ([{"like": "Running", "count": 1}, {"total": 2}], "a Running\nb Pending\n", "a Running\nb Running\n"),
        "shares": ({"with": "a b c", "exactly": 2}, "b c d", "a b c"),
    }

    def test_met_and_unmet(self):
        self.assertEqual(set(self.EXAMPLES), set(JUDGES))
        for word, (wanted, good, bad) in self.EXAMPLES.items():
            with self.subTest(word):
                self.assertIsNone(judge({word: wanted}, good))
                self.assertIsNotNone(judge({word: wanted}, bad))

    def test_misspelt_or_empty_expectations_are_refused(self):
        for wrong in ({}, {"contain": "x"}, None, "x"):
            with self.assertRaises(BadWalkthrough):
                judge(wrong, "x")


class FakeScheduler:
    def died(self):
        return None


class FakeCluster:
    name = "real"
    kubeconfig = "/nowhere"


class OneStep(Session):
    """A session whose kubectl answers what the test says."""

    def __init__(self, *answers):
        super().__init__(FakeCluster(), FakeScheduler(), "kubectl", "/tmp", None, io.StringIO())
        self._answers = list(answers)
        self.asked = []

    def kubectl(self, arguments, stdin=None):
        self.asked.append(arguments)
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


class Steps(unittest.TestCase):
    def test_polls_until_it_holds(self):
        session = OneStep((0, "Pending", ""), (0, "Pending", ""), (0, "Running", ""))
        session.step({"kubectl": "get x", "within": "10s", "expect": {"equals": "Running"}})
        self.assertEqual(3, len(session.asked))

    def test_fails_when_it_does_not(self):
        for step in ({"kubectl": "get x", "within": "300ms", "expect": {"equals": "Running"}},
                     {"kubectl": "get x", "expect": {"jsonpath": {"{.a}": "Running"}}},
                     {"kubectl": "get x", "fails": True}):
            with self.assertRaises(StepFailed):
                OneStep((0, "Pending", "")).step(step)
        with self.assertRaises(StepFailed):
            OneStep((1, "", "refused")).step({"kubectl": "get x"})

    def test_a_refusal_is_judged_by_its_words(self):
        step = {"kubectl": "create x", "fails": True, "expect": {"contains": "unknown field"}}
        OneStep((1, "", "unknown field a")).step(step)
        with self.assertRaises(StepFailed):
            OneStep((1, "", "no such host")).step(step)

    def test_keeps_all_or_the_groups_of_what_was_printed(self):
        session = OneStep((0, "rayjob.ray.io/train-x created\n", ""))
        session.step({"kubectl": "create", "capture": "all"})
        session.variables["kind"] = "rayjob"
        session.step({"kubectl": "create", "capture": {"job": r"${kind}.ray.io/(\S+) created"}})
        self.assertEqual(("rayjob.ray.io/train-x created", "train-x"), (session.variables["all"], session.variables["job"]))
        with self.assertRaises(StepFailed):
            session.step({"kubectl": "create", "capture": {"job": r"^(\d+)$"}})

    def test_an_order_that_was_not_kept_is_seen(self):
        class Printed:
            @staticmethod
            def text():
                return "ADDED a\nDELETED a\nADDED b"

        session = OneStep((0, "", ""))
        session.watches["pods"] = Printed()
        step = {"host": "in-order", "watch": "pods", "lines": ["^DELETED a", "^ADDED b"]}
        session.step(step)
        for wrong in (["^ADDED b", "^DELETED a"], ["^DELETED a", "^ADDED c"]):
            with self.assertRaises(StepFailed):
                session.step({**step, "lines": wrong})

    def test_a_watch_that_ends_is_started_again(self):
        script = 'echo "pod-$(wc -l < "$0") node"; echo >> "$0"; echo "told" >&2'
        with tempfile.NamedTemporaryFile() as starts:
            watch = Watch("sh", ["-c", script, starts.name], None)
            seen = watch.nth(r"^(pod-\d+) node$", 3, 30)
            watch.stop()
        self.assertEqual("pod-2 node", seen[1])
        self.assertIn("told", watch.text())
        self.assertIn("ended with 0", watch.text())

    def test_unknown_words_are_refused(self):
        for step in ({"kubectl": "get x", "expected": {}}, {"run": "get x"}, {"host": "fly"},
                     {"host": "nodes", "name": "a", "count": 1, "allocatable": {}, "colour": "red"},
                     {"kubectl": "get x", "within": "3s"}):
            with self.assertRaises(BadWalkthrough):
                OneStep((0, "", "")).step(step)

    def test_steps_for_the_other_cluster_are_left_out(self):
        session = OneStep((1, "", "refused"))
        session.step({"kubectl": "get x", "only": "sim"})
        self.assertEqual([], session.asked)


class Audit(unittest.TestCase):
    @staticmethod
    def pod(name, node="", **metadata):
        return {"metadata": {"name": name, "labels": {"gang": "g"}, **metadata}, "status": {"phase": "Running"},
                "spec": {"nodeName": node, "containers": [{"resources": {"requests": {"cpu": "1500m"}}}]}}

    def test_half_a_gang_is_seen(self):
        nodes = {"n": {}}
        whole, none = [self.pod("a", "n"), self.pod("b", "n")], [self.pod("a"), self.pod("b")]
        self.assertIsNone(host.half_done(whole, nodes, [2]))
        self.assertIsNone(host.half_done(none, nodes, [0]))
        self.assertIn("1 of 2", host.half_done([whole[0], none[1]], nodes, [0, 2]))
        self.assertIn("gone", host.half_done([whole[0], self.pod("b", "m")], nodes, [2]))
        self.assertIn("ending", host.half_done([whole[0], self.pod("b", "n", deletionTimestamp="now")], nodes, [2]))

    def test_a_node_over_its_allocatable_is_seen(self):
        nodes = {"n": {"status": {"allocatable": {"cpu": "3", "pods": "2"}}}}
        host.check_nodes(nodes, [self.pod("a", "n"), self.pod("b", "n")])
        with self.assertRaises(StepFailed):
            host.check_nodes(nodes, [self.pod("a", "n"), self.pod("b", "n"), self.pod("c", "n")])

    def test_quantities(self):
        for text, wanted in (("1500m", 1500), ("2", 2000), ("1Ki", 1024000), ("1e3", 1000000), ("0.1", 100), ("1k", 1000000)):
            self.assertEqual(wanted, milli(text), text)


class Rights(unittest.TestCase):
    ACCOUNT = {"kind": "ServiceAccount", "metadata": {"name": "s", "namespace": "n"}}
    SUBJECTS = [{"kind": "ServiceAccount", "name": "s", "namespace": "n"}]

    def granted(self, *rules, namespace=None):
        role = {"kind": "Role" if namespace else "ClusterRole", "metadata": {"name": "r"}, "rules": list(rules)}
        binding = {"kind": role["kind"] + "Binding", "metadata": {"name": "b"}, "subjects": self.SUBJECTS,
                   "roleRef": {"kind": role["kind"], "name": "r"}}
        if namespace:
            role["metadata"]["namespace"] = binding["metadata"]["namespace"] = namespace
        return rights.granted([self.ACCOUNT, role, binding])

    def audit(self, *events):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("".join(json.dumps(event) + "\n" for event in events))
            file.flush()
            return rights.read_audit(file.name)

    @staticmethod
    def event(verb, resource, decision="allow", **more):
        return {"verb": verb, "objectRef": {"resource": resource, **more}, "annotations": {"authorization.k8s.io/decision": decision}}

    def test_a_right_that_nobody_used_is_named(self):
        grants = self.granted({"apiGroups": [""], "resources": ["pods", "pods/binding"], "verbs": ["create", "get"]})
        uses, _ = self.audit(self.event("get", "pods", namespace="a", name="p"), self.event("create", "pods", subresource="binding"))
        self.assertEqual([rights.words(right) for right in rights.unused(grants, uses)], ["create pods", "get pods/binding"])

    def test_a_right_in_one_namespace_or_to_one_name_is_not_used_elsewhere(self):
        grants = self.granted({"apiGroups": ["g"], "resources": ["leases"], "resourceNames": ["l"], "verbs": ["get"]}, namespace="n")
        for place, idle in (({"namespace": "n", "name": "l"}, 0), ({"namespace": "m", "name": "l"}, 1), ({"namespace": "n", "name": "k"}, 1)):
            uses, _ = self.audit(self.event("get", "leases", apiGroup="g", **place))
            self.assertEqual(len(rights.unused(grants, uses)), idle, place)

    def test_what_is_forbidden_is_told_from_what_is_used(self):
        uses, forbidden = self.audit(self.event("list", "secrets", "forbid"), self.event("list", "pods"))
        self.assertEqual([rights.words(right) for right in uses], ["list pods"])
        self.assertEqual([rights.words(right) for right in forbidden], ["list secrets"])
        _, forbidden = self.audit({"verb": "get", "requestURI": "/metrics", "annotations": {"authorization.k8s.io/decision": "forbid"}})
        self.assertEqual(len(forbidden), 1)

    def test_roles_of_others_are_not_ours(self):
        documents = rights.shipped()
        granted = rights.granted(documents)
        self.assertIn(("create", "", "pods/binding", "", ""), granted)
        self.assertIn(("get", "coordination.k8s.io", "leases", "tutti-system", "tutti"), granted)
        self.assertFalse([right for right in granted if right[2].startswith("/")])


class Words(unittest.TestCase):
    def test_durations(self):
        self.assertEqual([10, 0.5, 120, 3], [seconds(text) for text in ("10s", "500ms", "2m", 3)])
        with self.assertRaises(BadWalkthrough):
            seconds("soon")

    def test_variables(self):
        self.assertEqual("a-7", substitute("${x}-${y}", {"x": "a", "y": 7}))
        with self.assertRaises(BadWalkthrough):
            substitute("${z}", {})


class Wire(unittest.TestCase):
    def test_what_the_scheduler_sends_is_slow_and_can_be_cut(self):
        server = socket.create_server(("127.0.0.1", 0))
        arrived = []

        def serve():
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"hello")
                try:
                    while data := connection.recv(65536):
                        arrived.append(len(data))
                except OSError:
                    pass

        thread = threading.Thread(target=serve)
        thread.start()
        wire = SlowWire(server.getsockname()[1], 20000)
        client = socket.create_connection(("127.0.0.1", wire.port))
        self.assertEqual(b"hello", client.recv(5))
        started = time.monotonic()
        client.sendall(b"x" * 1000000)
        deadline = started + 10
        while sum(arrived) < 4000 and time.monotonic() < deadline:
            threading.Event().wait(0.005)
        self.assertGreater(time.monotonic() - started, 0.1)
        wire.close()
        thread.join(10)
        self.assertFalse(thread.is_alive())
        self.assertLess(sum(arrived), 100000)
        client.close()
        server.close()


class Data(unittest.TestCase):
    def test_every_walkthrough_uses_known_words(self):
        paths = sorted(HERE.glob("*.yaml"))
        self.assertTrue(paths)
        for path in paths:
            with self.subTest(path.name):
                for step in flat(yaml.safe_load(path.read_text())["steps"]):
                    verb = next(iter(step))
                    self.assertIn(verb, STEP_WORDS)
                    if verb == "host":
                        self.assertTrue(hasattr(host, "do_" + step["host"].replace("-", "_")), step["host"])
                    if "file" in step:
                        self.assertTrue((HERE / step["file"]).exists(), step["file"])

    def test_the_mended_seed_says_what_the_original_says(self):
        """Line by line, but for the indentation, which the original lost."""
        original = (HERE / "seed-004" / "original.txt").read_text()
        blocks = [block.split("\nEOF")[0].splitlines()[1:] for block in original.split("kubectl create -f - <<EOF")[1:]]
        removed = "replicas: 1"
        for name, block, keeps in (("queue", blocks[0], True), ("not-mended", blocks[1], True),
                                   ("test-cluster-0", blocks[1], False), ("test-cluster-1", blocks[2], False)):
            with self.subTest(name):
                mended = [line.strip() for line in (HERE / "seed-004" / f"{name}.yaml").read_text().splitlines()
                          if not line.startswith("#")]
                wanted = [line.strip() for line in block if keeps or line.strip() != removed]
                self.assertEqual(wanted, mended)


def flat(steps):
    for step in steps:
        yield step
        yield from flat(step.get("steps", []))


if __name__ == "__main__":
    unittest.main()
