#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What-if of `sim` and of `run`, and `kubectl tutti plan` and `drain-plan`: what would become of manifests, and of the
gangs of a node; what is refused; and that nothing comes of it.

  doors_what_if_test.py PATH-TO-TUTTI
"""

import http.client
import json
import os
import pathlib
import ssl
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import doors_rig as rig
from doors_rig import DOOR, fetch, gang

POD = """
apiVersion: v1
kind: Pod
metadata: {name: %(name)s}
spec:
  schedulerName: tutti
  containers: [{name: main, image: busybox, resources: {requests: {cpu: "%(cpu)s"}}}]
"""
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: %(replicas)s
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      schedulerName: tutti
      containers: [{name: main, image: busybox, resources: {requests: {cpu: "1"}}}]
"""
RAY = """
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: train}
spec:
  rayVersion: "2.9.0"
  headGroupSpec:
    rayStartParams: {}
    template:
      spec: {schedulerName: tutti, containers: [{name: h, image: i, resources: {requests: {cpu: "1"}}}]}
  workerGroupSpecs:
  - groupName: w
    replicas: %(workers)d
    minReplicas: %(workers)d
    maxReplicas: 9
    rayStartParams: {}
    template:
      spec: {schedulerName: tutti, containers: [{name: w, image: i, resources: {requests: {cpu: "1"}}}]}
"""


class OfTheSim(rig.OfTheSim):
    """Nodes with 2 cpu free in all, and a gang that waits."""

    def ask(self, **question):
        status, text = fetch(self.url + DOOR + "whatif", "POST", json.dumps(question), content_type="application/json")
        return json.loads(text) if status == 200 else (status, text)

    def verdicts(self, manifests, **more):
        answer = self.ask(manifests=manifests, **more)
        self.assertIsInstance(answer, dict, answer)
        return {one["name"]: one["verdict"] for one in answer.get("prospects", [])}

    def objects(self):
        return [sorted((one["metadata"]["name"], one["metadata"]["resourceVersion"]) for one in json.loads(fetch(self.url + path)[1])["items"])
                for path in ("/api/v1/pods", "/api/v1/events", "/apis/scheduling.volcano.sh/v1beta1/podgroups")]

    def test_what_manifests_would_become(self):
        before, decisions = self.objects(), self.door("gangs")["gangs"]
        self.assertEqual(self.verdicts(POD % {"name": "one", "cpu": 1}), {"one": "fits"})
        self.assertEqual(self.verdicts(POD % {"name": "one", "cpu": 3}), {"one": "waits-for-nodes"})
        self.assertEqual(self.verdicts(POD % {"name": "one", "cpu": 5}), {"one": "never"})
        self.assertEqual(self.verdicts(gang("third", 2, "1")), {"third": "fits"})
        self.assertEqual(self.verdicts(gang("third", 6, "2")), {"third": "waits-for-queue"})
        self.assertEqual(self.verdicts(gang("third", 9, "2")), {"third": "never"})  # queue research has 16 cpu
        self.assertEqual(self.verdicts(gang("first", 3, "2")), {"first": "waits-for-nodes"})
        self.assertEqual(self.verdicts(RAY % {"workers": 1}), {"train": "fits"})
        self.assertEqual(self.verdicts(RAY % {"workers": 4}), {"train": "waits-for-nodes"})
        web = self.ask(manifests=DEPLOYMENT % {"replicas": 3})["prospects"]
        self.assertEqual([one["verdict"] for one in web], ["fits", "fits", "waits-for-nodes"])
        self.assertEqual(self.ask(manifests=POD % {"name": "one", "cpu": 1}, namespace="other")["prospects"][0]["namespace"], "other")
        self.assertEqual(self.objects(), before)
        self.assertEqual(self.door("gangs")["gangs"], decisions)

    def test_all_pods_of_a_stateful_set_are_asked_about(self):
        verdicts = self.verdicts(DEPLOYMENT.replace("Deployment", "StatefulSet") % {"replicas": 4})
        self.assertEqual(sorted(verdicts), ["web-0", "web-1", "web-2", "web-3"])
        self.assertEqual(sorted(verdicts.values()), ["fits", "fits", "waits-for-nodes", "waits-for-nodes"])

    def test_when_a_gang_that_waits_could_start(self):
        self.assertNotIn("start", self.door("gangs/default/second"))
        start = self.door("gangs/default/second?estimate=true")["start"]
        self.assertEqual((start["basis"], start["endless"][0]["name"]), ("none", "first"))
        for i in range(3):
            status, text = fetch(f"{self.url}/api/v1/namespaces/default/pods/first-{i}", "PATCH",
                                 json.dumps({"spec": {"activeDeadlineSeconds": 3600}}), content_type="application/merge-patch+json")
            self.assertEqual(status, 200, text)
        start = rig.eventually(lambda: (lambda found: found["basis"] == "declared" and found)(
            self.door("gangs/default/second?estimate=true")["start"]), "the limit is known")
        self.assertEqual([one["gang"]["name"] for one in start["awaits"]], ["first"])
        why = self.ctl("why", "second", "--server", self.url)
        self.assertIn(f"Estimated start: {start['at']}, in ", why.stdout, why.stderr)
        self.assertIn("These have to end before: default/first.", why.stdout)
        third = self.ask(manifests=gang("third", 2, "3"))["prospects"][0]
        self.assertEqual(third["verdict"], "waits-for-nodes")
        self.assertEqual(third["start"]["endless"][0]["name"], "second")
        self.assertEqual(self.door("gangs/default/first?estimate=true").get("start"), None)

    def test_pods_that_would_leave_are_named(self):
        answer = self.ask(manifests="""
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 100
---
""" + POD % {"name": "urgent", "cpu": 4} + "  priorityClassName: high\n")
        urgent = answer["prospects"][0]
        self.assertEqual((urgent["verdict"], urgent["priority"]), ("needs-victims", 100))
        self.assertEqual({one["gang"] for one in urgent["victims"]}, {"first"})
        self.assertEqual(urgent["places"][0]["pods"], 1)

    def test_what_has_no_effect_on_the_answer_is_noted(self):
        answer = self.ask(manifests=POD % {"name": "one", "cpu": 1} + """---
apiVersion: example.com/v1
kind: Unknown
metadata: {name: x}
---
apiVersion: v1
kind: Node
metadata: {name: n}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: other}
""")
        self.assertIn("Queues count as they are in the cluster", " ".join(answer["notes"]))
        self.assertEqual(answer["prospects"][0]["verdict"], "fits")
        self.assertIn("Unknown", " ".join(answer["notes"]))
        self.assertIn("Nodes are left out", " ".join(answer["notes"]))
        self.assertIn("No pods would come", " ".join(self.ask(manifests="apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")["notes"]))

    def test_what_cannot_be_answered_is_refused_with_the_limit_or_the_place(self):
        deep = "a: " + "[" * 5000 + "]" * 5000
        for manifests, status, words in (
                (DEPLOYMENT % {"replicas": 1000000}, 400, "1000000 pods; a question may have 10000"),
                ("---\n".join([DEPLOYMENT % {"replicas": 9000}] * 2), 400, "18000 pods"),
                ("---\n".join(["apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"] * 1001), 400, "1001 objects"),
                ((RAY % {"workers": 50000}).replace("groupName: w", "groupName: head"), 400, "RayCluster train: "),
                (POD % {"name": "one", "cpu": 1} + "  priorityClassName: unknown\n", 400, "add the PriorityClass"),
                (POD % {"name": "one", "cpu": 1} + "  contaners: []\n", 400, "contaners"),
                (POD % {"name": "../../etc", "cpu": 1}, 400, "name"),
                ("kind: {", 400, "manifests"), ("\t- x", 400, "manifests"), ("x", 400, "manifests"), (deep, 400, "manifests"), ("[" * 500000, 400, "manifests"),
                ("a" * (1 << 20), 413, "1048576 bytes")):
            answer = self.ask(manifests=manifests)
            self.assertIsInstance(answer, tuple, answer)
            self.assertEqual(answer[0], status, answer)
            self.assertIn(words, answer[1])
        self.assertEqual(self.ask(drain="nowhere"), (404, "there is no node nowhere\n"))
        self.assertEqual(self.ask()[0], 400)
        self.assertEqual(self.door("whatif")[0], 405)
        self.gang("first", "whole")

    def test_where_the_gangs_of_a_node_would_go(self):
        answers = {node: self.ask(drain=node)["prospects"] for node in ("node-1", "node-2")}
        full = next(node for node, list in answers.items() if list[0]["members"] == 2)
        self.assertEqual((answers[full][0]["name"], answers[full][0]["verdict"], answers[full][0]["breaks"]), ("first", "waits-for-nodes", True))
        other = next(node for node in answers if node != full)
        self.assertEqual(answers[other][0]["members"], 1)

    def test_which_gangs_would_start_with_another_limit_of_their_queue(self):
        self.apply(gang("third", 2, "4", "other"))
        self.gang("third", "waiting-for-nodes", "other")
        self.apply(gang("large", 6, "1"))
        self.gang("large", "waiting-for-nodes")
        ask = lambda **limit: self.ask(limit=limit)
        verdicts = lambda answer: {one["name"]: one["verdict"] for one in answer["prospects"]}
        names = ("second", "third", "large")
        for cpu, verdict in (("100000", "waits-for-nodes"), ("8000", "waits-for-queue"), ("5000", "never")):
            self.assertEqual(verdicts(ask(queue="research", amounts={"cpu": cpu})), dict.fromkeys(names, verdict), cpu)
        for wrong, status in (({"queue": "nothing", "amounts": {"cpu": "1"}}, 404), ({"queue": "research"}, 400), ({"amounts": {"cpu": "1"}}, 400),
                              ({"queue": "research", "amounts": {"cpu": "-1"}}, 400), ({"queue": "research", "amounts": {"": "1"}}, 400),
                              ({"queue": "research", "amounts": {":cpu": "1"}}, 400), ({"queue": "research", "amounts": {"spot:": "1"}}, 400),
                              ({"queue": "research", "amounts": {f"r{i}": "1" for i in range(65)}}, 400)):
            self.assertEqual(ask(**wrong)[0], status, wrong)
        of_flavor = ask(queue="research", amounts={"spot:cpu": "100000"})
        self.assertEqual(of_flavor["notes"], ["Queue research has no flavors, and so none is called spot."])
        self.assertEqual(verdicts(of_flavor), dict.fromkeys(names, "undecided"))
        printed = self.ctl("quota-plan", "research", "cpu=5", "--server", self.url)
        self.assertEqual((printed.returncode, printed.stderr), (1, ""))
        self.assertRegex(printed.stdout, r"default/second +research +2 +never")
        nothing = self.ctl("quota-plan", "default", "cpu=5", "--server", self.url)
        self.assertEqual((nothing.returncode, nothing.stdout), (0, "No gang waits in queue default.\n"))
        self.assertEqual(self.ctl("quota-plan", "research", "cpu", "--server", self.url).returncode, 2)
        self.gang("second", "waiting-for-nodes")

    def test_plan_and_drain_plan_print_and_end_with_one_if_something_waits(self):
        file = self.root / "job.yaml"
        file.write_text(POD % {"name": "one", "cpu": 1})
        fits = self.ctl("plan", "-f", str(file), "--server", self.url)
        self.assertEqual((fits.returncode, fits.stderr), (0, ""))
        self.assertRegex(fits.stdout, r"default/one +- +1 +fits +1 on node-[12]")
        file.write_text(gang("third", 6, "1"))
        waits = self.ctl("plan", "-f", str(file), "--server", self.url)
        self.assertEqual(waits.returncode, 1)
        self.assertIn("default/third:\n", waits.stdout)
        self.assertIn("Missing: ", waits.stdout)
        self.assertEqual(json.loads(self.ctl("plan", "-f", str(file), "-o", "json", "--server", self.url).stdout)["prospects"][0]["name"], "third")
        wrong = self.ctl("plan", "-f", str(self.root / "nothing"), "--server", self.url)
        self.assertEqual((wrong.returncode, wrong.stdout), (1, ""))
        self.assertIn("nothing", wrong.stderr)
        file.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")
        self.assertEqual(self.ctl("plan", "-f", str(file), "--server", self.url).returncode, 1)
        file.write_text("# " + "x" * (1 << 20))
        self.assertIn("1048576 bytes", self.ctl("plan", "-f", str(file), "--server", self.url).stderr)
        drained = self.ctl("drain-plan", "node-1", "--server", self.url)
        self.assertIn("default/first", drained.stdout)
        self.assertEqual(self.ctl("drain-plan", "nowhere", "--server", self.url).stderr, "error: there is no node nowhere\n")


class OfRun(rig.OfRun):
    def post(self, question, token, content_type="application/json", **headers):
        if token:
            headers["Authorization"] = f"Bearer {token}"
        return fetch(self.scheduler + DOOR + "whatif", "POST", question, headers=headers, content_type=content_type)

    def announce(self, length):
        """The answer to the head of a question of that length."""
        connection = http.client.HTTPSConnection(self.scheduler.removeprefix("https://"), timeout=30, context=ssl._create_unverified_context())
        self.addCleanup(connection.close)
        connection.putrequest("POST", DOOR + "whatif")
        for name, value in (("Authorization", "Bearer admin"), ("Content-Type", "application/json"), ("Content-Length", str(length))):
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def test_a_user_asks_about_namespaces_that_it_sees(self):
        mine = json.dumps({"manifests": POD % {"name": "one", "cpu": 1}, "namespace": "other"})
        status, text = self.post(mine, "dev")
        self.assertEqual(status, 200, text)
        prospect = json.loads(text)["prospects"][0]
        self.assertEqual((prospect["verdict"], prospect["places"]), ("fits", [{"pods": 1}]))
        self.assertIn("node-", self.post(mine, "admin")[1])
        status, text = self.post(json.dumps({"manifests": POD % {"name": "one", "cpu": 1}}), "dev")
        self.assertEqual(status, 403)
        self.assertIn('namespace "default"', text)
        self.assertEqual(self.post(json.dumps({"drain": "node-1"}), "dev")[0], 403)
        self.assertEqual(self.post(json.dumps({"drain": "node-1"}), "admin")[0], 200)

    def test_a_question_is_read_from_known_users_alone_and_only_as_json(self):
        question = json.dumps({"drain": "node-1"})
        self.assertEqual(self.post(question, "")[0], 401)
        self.assertEqual(self.post(question, "stranger")[0], 401)
        self.assertEqual(self.post(question, "admin", "text/plain")[0], 415)
        self.assertEqual(self.post(question, "admin", Range="bytes=0-,0-")[0], 416)
        status, text = self.announce((1 << 20) + 1)
        self.assertEqual(status, 413)
        self.assertIn("1048576 bytes", text)
        large = json.dumps({"manifests": "\n".join(["# " + "x" * 98] * 9000) + POD % {"name": "one", "cpu": 1}})
        status, text = self.post(large, "admin")
        self.assertEqual(status, 200, text)


if __name__ == "__main__":
    rig.TUTTI = os.path.abspath(sys.argv.pop(1))
    unittest.main()
