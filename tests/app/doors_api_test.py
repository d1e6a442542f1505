#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""/apis/tutti/v1/ of `sim`: gangs, queues, nodes and what changes of them.

  doors_api_test.py PATH-TO-TUTTI
"""

import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import doors_rig as rig
from doors_rig import CLUSTER, DOOR, Events, eventually, fetch, gang


class OfGangs(rig.OfTheSim):
    def test_gangs_are_listed_and_chosen(self):
        gangs = self.door("gangs")["gangs"]
        self.assertEqual([(one["name"], one["state"]) for one in gangs],
                         [("first", "whole"), ("second", "waiting-for-nodes")])
        self.assertGreater(int(self.door("gangs")["sequence"]), 0)
        self.assertEqual(gangs[0]["members"], 3)
        self.assertEqual(gangs[0]["requests"], {"cpu": "6000", "pods": "3"})
        self.assertNotIn("memberList", gangs[0])
        for query, names in (("state=whole", ["first"]), ("queue=research", ["first", "second"]), ("queue=no", []),
                             ("name=second-1", ["second"]), ("namespace=other", [])):
            found = self.door(f"gangs?{query}").get("gangs", [])
            self.assertEqual([one["name"] for one in found], names, query)
        self.assertEqual(len(self.door("gangs?members=true")["gangs"][0]["memberList"]), 3)

    def test_a_gang_that_waits_says_why_where_and_for_what_others_hold(self):
        second = self.door("gangs/default/second")
        self.assertEqual((second["position"], second["line"]), (1, 1))
        self.assertEqual(second["why"]["kind"], "nodes")
        self.assertEqual(second["why"]["nodes"]["short"][0]["resource"], "cpu")
        self.assertEqual([one["gang"]["name"] for one in second["holders"]], ["first"])
        self.assertEqual(second["holders"][0]["amounts"], {"cpu": "6000"})
        self.assertEqual(self.door("gangs/default/second-0")["name"], "second")
        self.assertEqual(self.door("gangs/default/third")[0], 404)

    def test_history_has_what_happened_in_order(self):
        history = self.door("gangs/default/first/history")
        steps = [event["step"] for event in history["events"]]
        self.assertLess(steps.index("bound"), steps.index("started"))
        self.assertIn("wholeFrom", history)
        waits = self.door("gangs/default/second/history")["events"][-1]
        self.assertEqual((waits["step"], waits["reason"]), ("waits", "NoPlacement"))
        self.assertEqual(self.door("gangs/default/third/history")[0], 404)

    def test_nodes_say_what_is_free_and_which_gangs_hold_the_rest(self):
        answer = self.door("nodes")
        self.assertEqual([one["name"] for one in answer["nodes"]], ["node-1", "node-2"])
        self.assertEqual(answer["levels"], ["topology.kubernetes.io/zone"])
        held = {}
        for node in answer["nodes"]:
            self.assertEqual(node["labels"], {"topology.kubernetes.io/zone": "a"})
            self.assertEqual(int(node["free"].get("cpu", 0)) + int(node["requested"]["cpu"]), 4000)
            for holder in node["holders"]:
                held[holder["gang"]["name"]] = held.get(holder["gang"]["name"], 0) + holder["pods"]
        self.assertEqual(held, {"first": 3})
        self.assertEqual(self.door("nodes?labels=unrelated")["nodes"][0]["labels"], {"unrelated": "x"})
        self.assertNotIn("holders", self.door("nodes?holders=false")["nodes"][0])
        self.assertEqual(self.door("nodes?name=node-9")[0], 404)

    def test_queues_say_what_they_have_and_which_gangs_wait(self):
        queue = next(one for one in self.door("queues")["queues"] if one["name"] == "research")
        self.assertEqual((queue["kind"], queue["state"], queue["dialect"]), ("queue", "open", "volcano"))
        cell = next(one for one in queue["cells"] if one["resource"] == "cpu")
        self.assertEqual((cell["limit"], cell["used"], cell["pending"]), ("16000", "6000", "6000"))
        self.assertEqual([(one["position"], one["gang"]["name"]) for one in queue["line"]], [(1, "second")])

    def test_what_is_asked_wrongly_is_refused_with_what_is_known(self):
        self.assertEqual(self.door("gangs?foo=1"), (400, 'unknown parameter "foo"; known are namespace, queue, state, '
                                                         'name, members\n'))
        status, text = self.door("nothing")
        self.assertEqual(status, 404)
        self.assertIn(DOOR + "gangs/*/*/history", text)
        self.assertEqual(self.door("watch?since=soon")[0], 400)
        self.assertEqual(self.door("gangs?state=waiting")[0], 400)
        self.assertEqual(self.door("gangs", method="POST", body="a: b")[0], 405)

    def test_what_is_no_text_or_no_number_is_answered_and_harms_nothing(self):
        for path, status in (("gangs/%FF%FE/x", 404), ("gangs/default/%C0%80/history", 404), ("gangs/default//", 404),
                             ("gangs?namespace=%FF", 200), ("gangs?members=%00", 200), ("nodes?labels=,,%FF,", 200),
                             ("nodes?name=%FF", 404), ("queues?name=" + "x" * 4000, 200), ("watch?since=-1", 400),
                             ("watch?since=99999999999999999999", 400), ("%2e%2e/%2e%2e/etc/passwd", 404), ("", 404)):
            self.assertEqual(fetch(self.url + DOOR + path)[0], status, path)
        self.assertTrue(self.door("version")["leading"])

    def test_the_version_says_that_it_leads(self):
        version = self.door("version")
        self.assertTrue(version["leading"])
        self.assertIn("tutti", version["schedulerNames"])

    def test_a_watch_tells_changes_and_goes_on_where_it_ended(self):
        sequence = self.door("gangs")["sequence"]
        events = Events(f"{self.url}{DOOR}watch?since={sequence}")
        self.assertEqual(events.next(), {"event": "current", "id": sequence, "data": {"sequence": sequence}})
        self.apply(gang("third", 1, "1"))
        whole = events.until(lambda one: one["event"] == "gang" and one["data"]["gang"].get("state") == "whole")
        self.assertEqual(whole["data"]["gang"]["name"], "third")
        last = whole.get("id") or events.until(lambda one: "id" in one)["id"]
        events.close()
        fetch(self.url + "/api/v1/namespaces/default/pods/third-0", "DELETE")
        fetch(self.url + "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups/third", "DELETE")
        events = Events(f"{self.url}{DOOR}watch?since={sequence}", {"Last-Event-ID": last})  # the header wins, as readers send both
        self.assertEqual(events.next()["id"], last)
        gone = events.until(lambda one: one["event"] == "gone")
        self.assertEqual(gone["data"]["gone"]["name"], "third")
        events.close()

    def test_a_watch_from_a_number_that_is_not_kept_says_that_one_has_to_list_again(self):
        events = Events(f"{self.url}{DOOR}watch?since=1")
        self.assertEqual(events.next()["event"], "current")
        again = events.next()
        self.assertEqual(again["event"], "relist")
        self.assertIn("not kept", again["data"]["relist"])
        self.assertIsNone(events.next())


KUEUE = """---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: on-demand}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: Cohort
metadata: {name: all}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: team-a}
spec:
  namespaceSelector: {}
  cohort: all
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: on-demand, resources: [{name: cpu, nominalQuota: 4, borrowingLimit: 1}]}]
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: team-b}
spec:
  namespaceSelector: {}
  cohort: all
  stopPolicy: Hold
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: on-demand, resources: [{name: cpu, nominalQuota: 2}]}]
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {name: mine, namespace: default}
spec: {clusterQueue: team-a}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {name: lost, namespace: default}
spec: {clusterQueue: nowhere}
"""
JOB = """---
apiVersion: batch/v1
kind: Job
metadata: {name: %(name)s, namespace: default, labels: {kueue.x-k8s.io/queue-name: mine}}
spec:
  suspend: true
  parallelism: %(pods)d
  completions: %(pods)d
  template:
    spec:
      schedulerName: tutti
      restartPolicy: Never
      containers: [{name: main, image: busybox, resources: {requests: {cpu: "1"}}}]
"""


class OfQuota(rig.Base):
    def setUp(self):
        super().setUp()
        self.sim(CLUSTER + KUEUE + JOB % {"name": "runs", "pods": 5})
        eventually(lambda: "reserving" in self.queues()[("cluster-queue", "team-a")]["gangs"], "a job has quota")
        self.apply(JOB % {"name": "waits", "pods": 3})

    def queues(self):
        return {(one["kind"], one["name"]): one for one in self.door("queues")["queues"]}

    def test_cohorts_and_their_queues_have_what_gangs_reserve_and_borrow(self):
        eventually(lambda: "pending" in self.queues()[("cluster-queue", "team-a")]["gangs"], "the other job waits")
        queues = self.queues()
        leaf, cohort = queues[("cluster-queue", "team-a")], queues[("cohort", "all")]
        cell = leaf["cells"][0]
        self.assertEqual((cell["flavor"], cell["resource"]), ("on-demand", "cpu"))
        self.assertEqual((cell["nominal"], cell["limit"], cell["reserved"], cell["borrowed"]),
                         ("4000", "5000", "5000", "1000"))
        self.assertEqual((leaf["parent"], leaf["state"], leaf["gangs"]["pending"]), ("all", "open", 1))
        self.assertEqual(queues[("cluster-queue", "team-b")]["state"], "hold")
        self.assertEqual((cohort["cells"][0]["nominal"], cohort["cells"][0]["used"]), ("6000", "5000"))
        self.assertEqual(queues[("local", "mine")]["parent"], "team-a")
        self.assertIn("does not exist", queues[("local", "lost")]["problem"])
        self.assertEqual([one["position"] for one in leaf["line"]], [1])

    def test_kueues_own_api_says_what_waits(self):
        def items(path, expect=200):
            status, text = fetch(f"{self.url}/apis/visibility.kueue.x-k8s.io/v1beta2/{path}/pendingworkloads")
            self.assertEqual(status, expect, text)
            return json.loads(text).get("items")

        one = eventually(lambda: items("clusterqueues/team-a"), "the other job waits")[0]
        self.assertRegex(one["metadata"].pop("creationTimestamp"), r"^20\S+Z$")
        self.assertTrue(one["metadata"].pop("name").startswith("job-waits-"))
        self.assertEqual(one, {"metadata": {"namespace": "default"}, "priority": 0, "localQueueName": "mine",
                               "positionInClusterQueue": 0, "positionInLocalQueue": 0})
        self.assertEqual(len(items("namespaces/default/localqueues/mine")), 1)
        self.assertEqual(items("namespaces/default/localqueues/lost"), [])
        self.assertEqual(items("clusterqueues/team-b"), [])
        items("clusterqueues/nowhere", expect=404)

    def test_a_gang_in_such_a_queue_says_how_far_it_has_come(self):
        by_quota = lambda: {one["name"]: one.get("quota", {}).get("state") for one in self.door("gangs").get("gangs", [])}
        eventually(lambda: sorted(filter(None, by_quota().values())) == ["admitted", "pending"], "one job is admitted")
        waits = next(one for one in self.door("gangs")["gangs"] if one.get("quota", {}).get("state") == "pending")
        self.assertEqual((waits["quota"]["queue"], waits["why"]["kind"]), ("team-a", "quota"))
        why = self.ctl("why", waits["name"], "--server", self.url)
        self.assertIn("Its quota is pending", why.stdout)
        self.assertIn("cluster-queue", self.ctl("get", "queues", "--server", self.url).stdout)


    def test_a_question_about_a_job_in_such_a_queue_knows_its_quota(self):
        eventually(lambda: "pending" in self.queues()[("cluster-queue", "team-a")]["gangs"], "the other job waits")

        def ask(**question):
            status, text = fetch(self.url + DOOR + "whatif", "POST", json.dumps(question), content_type="application/json")
            self.assertEqual(status, 200, text)
            return json.loads(text)["prospects"]

        for pods, verdict in ((2, "waits-for-queue"), (6, "never")):
            [one] = ask(manifests=JOB % {"name": "asked", "pods": pods})
            self.assertEqual((one["verdict"], one["why"]["kind"]), (verdict, "quota"))
            self.assertIn("couldn't assign flavors to pod set main", one["message"])
        limited = lambda cpu: [one["verdict"] for one in ask(limit={"queue": "team-a", "amounts": {"cpu": cpu}})]
        self.assertEqual(limited("2000"), ["waits-for-queue"])
        self.assertEqual(limited("1000"), ["never"])
        self.assertIn(limited("20000"), (["fits"], ["waits-for-nodes"]))
        printed = self.ctl("quota-plan", "team-a", "cpu=1", "--server", self.url)
        self.assertRegex(printed.stdout, r"job-waits-\S+ .*never")


class WithoutAScheduler(rig.Base):
    def test_a_cluster_that_has_none_says_so(self):
        self.sim(CLUSTER, "--no-scheduler")
        status, text = self.door("gangs")
        self.assertEqual(status, 503)
        self.assertIn("--no-scheduler", text)
        self.assertNotIn("leading", self.door("version"))


if __name__ == "__main__":
    rig.TUTTI = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
