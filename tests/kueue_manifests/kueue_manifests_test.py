#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds manifests/kueue and manifests/appwrapper to what their users know, on a real API server.

  kueue_manifests_test.py [unittest arguments]

What users apply is in users/, what is refused in refused.yaml, what policies make of new objects in held.yaml, and
what must not leave its queue in moved.yaml.
"""

import copy
import pathlib
import re
import time
import unittest

import yaml

from server import MANIFESTS, PATIENCE_SECONDS, POLL_SECONDS, Server

HERE = pathlib.Path(__file__).resolve().parent
USERS = sorted((HERE / "users").glob("*.yaml"))
REFUSAL = "Status"  # the kind of the answer

NAMESPACED = {
    "AppWrapper": "appwrappers",
    "LocalQueue": "localqueues",
    "ProvisioningRequest": "provisioningrequests",
    "QuotaSubtree": "quotasubtrees",
    "Workload": "workloads",
}
CLUSTER_WIDE = {
    "AdmissionCheck": "admissionchecks",
    "ClusterQueue": "clusterqueues",
    "Cohort": "cohorts",
    "ProvisioningRequestConfig": "provisioningrequestconfigs",
    "ResourceFlavor": "resourceflavors",
    "Topology": "topologies",
    "WorkloadPriorityClass": "workloadpriorityclasses",
}
NEWEST = "kueue.x-k8s.io/v1beta2"
NEWEST_ELSEWHERE = {"AppWrapper": "workload.codeflare.dev/v1beta2", "ProvisioningRequest": "autoscaling.x-k8s.io/v1"}

SERVER = None


def setUpModule():
    global SERVER
    SERVER = Server()
    unittest.addModuleCleanup(SERVER.down)


def path_of(version, kind, namespace="default"):
    """Where the API server has the objects of a kind; `version` is with its group."""
    if kind in NAMESPACED:
        return f"/apis/{version}/namespaces/{namespace}/{NAMESPACED[kind]}"
    return f"/apis/{version}/{CLUSTER_WIDE[kind]}"


def at(value, path):
    """The field at a path of dots; None if it is not there."""
    for key in path.split("."):
        value = (value or {}).get(key)
    return value


def lost(sent, stored, path=""):
    """The paths at which the stored object has not what was sent. Fields that came on top are no loss."""
    if isinstance(sent, dict) and isinstance(stored, dict):
        return [each for key in sent for each in lost(sent[key], stored.get(key), f"{path}.{key}")]
    if isinstance(sent, list) and isinstance(stored, list) and len(sent) == len(stored):
        return [each for i, pair in enumerate(zip(sent, stored)) for each in lost(*pair, f"{path}[{i}]")]
    return [] if sent == stored else [path]


def cases(name):
    return yaml.safe_load((HERE / name).read_text())


class Kinds(unittest.TestCase):
    """The CustomResourceDefinitions."""

    @classmethod
    def setUpClass(cls):
        # One after the other: two guides have a queue of the same name.
        SERVER.kubectl("apply", "--validate=strict", "-f", HERE / "users")

    def test_every_kind_has_the_columns_that_users_know(self):
        for arguments, columns in {
                "clusterqueue": "NAME, COHORT, PENDING WORKLOADS",
                "clusterqueue -o wide": "NAME, COHORT, STRATEGY, PENDING WORKLOADS, ADMITTED WORKLOADS",
                "clusterqueues.v1beta1.kueue.x-k8s.io": "NAME, COHORT, PENDING WORKLOADS",
                "localqueue": "NAME, CLUSTERQUEUE, PENDING WORKLOADS, ADMITTED WORKLOADS",
                "cohorts": "NAME, AGE",
                "resourceflavor": "NAME, AGE",
                "workloads.kueue.x-k8s.io": "NAME, QUEUE, RESERVED IN, ADMITTED, FINISHED, AGE",
                "workloadpriorityclass": "NAME, VALUE",
                "admissionchecks": "NAME, AGE",
                "provisioningrequestconfig": "NAME, AGE",
                "topology": "NAME, AGE",
                "provisioningrequest": "NAME, ACCEPTED, PROVISIONED, FAILED, AGE",
                "appwrappers": "NAME, AGE",
                "aw": "NAME, STATUS, QUOTA RESERVED, RESOURCES DEPLOYED, UNHEALTHY, AGE",
        }.items():
            with self.subTest(arguments):
                header = SERVER.kubectl("get", *arguments.split()).splitlines()[0]
                self.assertEqual(re.sub("  +", ", ", header.strip()), columns)

    def test_short_names_are_those_of_every_release(self):
        for version, names in {
                "kueue.x-k8s.io/v1beta2": {
                    "admissionchecks": "ac", "clusterqueues": "cq", "cohorts": "co", "localqueues": "lq queue queues",
                    "provisioningrequestconfigs": "prc", "resourceflavors": "flavor flavors rf", "topologies": "topo",
                    "workloadpriorityclasses": "wpc", "workloads": "kueueworkload kueueworkloads kwl wl"},
                "autoscaling.x-k8s.io/v1": {"provisioningrequests": "provreq provreqs"},
                "workload.codeflare.dev/v1beta2": {"appwrappers": "aw"},
        }.items():
            served = SERVER.call("GET", f"/apis/{version}")["resources"]
            self.assertEqual({r["name"]: " ".join(sorted(r["shortNames"])) for r in served if "/" not in r["name"]}, names)

    def test_where_volcanos_queues_are_installed_the_word_queue_is_theirs(self):
        group = "scheduling.volcano.sh/v1beta1"
        SERVER.call("POST", f"/apis/{group}/queues",
                    {"apiVersion": group, "kind": "Queue", "metadata": {"name": "volcanos"}, "spec": {}})
        for word in ("queue", "queues"):
            self.assertEqual(SERVER.kubectl("get", word, "-o", "name"), "queue.scheduling.volcano.sh/volcanos\n")

    def test_the_cohort_is_shown_by_whichever_name_it_was_written(self):
        for version in ("v1beta1", "v1beta2"):
            shown = SERVER.kubectl("get", f"clusterqueues.{version}.kueue.x-k8s.io", "--no-headers")
            self.assertEqual(shown.split(), ["cluster-queue", "old-team", "old-team", "team-a", "team-a"])

    def test_what_was_written_in_one_version_is_read_in_the_others(self):
        for path, versions, expected in (
                ("clusterqueues/old-team", "v1beta1 v1beta2", {
                    "spec.cohort": "old-team",
                    "spec.flavorFungibility": {"whenCanBorrow": "Borrow", "whenCanPreempt": "Preempt"}}),
                ("clusterqueues/team-a", "v1beta1 v1beta2", {"spec.cohortName": "team-a", "spec.fairSharing.weight": 2}),
                ("cohorts/old-team", "v1alpha1 v1beta1 v1beta2", {"spec.parent": "company"}),
                ("topologies/old-racks", "v1alpha1 v1beta1 v1beta2", {"metadata.name": "old-racks"}),
                ("admissionchecks/old-check", "v1beta1 v1beta2", {"spec.retryDelayMinutes": 5}),
                ("namespaces/default/workloads/old-by-hand", "v1beta1 v1beta2", {
                    "spec.priorityClassName": "dev", "spec.priorityClassSource": "kueue.x-k8s.io/workloadpriorityclass"}),
                ("namespaces/default/workloads/by-hand", "v1beta1 v1beta2", {"spec.priorityClassRef.name": "prod"})):
            for version in versions.split():
                with self.subTest(path, version=version):
                    seen = SERVER.call("GET", f"/apis/kueue.x-k8s.io/{version}/{path}")
                    self.assertEqual(seen["apiVersion"], f"kueue.x-k8s.io/{version}")
                    self.assertEqual({field: at(seen, field) for field in expected}, expected)

    def test_kinds_that_a_kueue_left_behind_are_replaced_and_their_objects_stay(self):
        crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/clusterqueues.kueue.x-k8s.io"
        service = {"name": "kueue-webhook-service", "namespace": "kueue-system", "path": "/convert"}
        SERVER.merge(crd, {"spec": {"conversion": {"strategy": "Webhook", "webhook": {
            "conversionReviewVersions": ["v1"], "clientConfig": {"service": service}}}}})
        old = f"{path_of('kueue.x-k8s.io/v1beta1', 'ClusterQueue')}/team-a"
        self.await_kind(old, REFUSAL)
        SERVER.kubectl("replace", "-k", MANIFESTS / "kueue" / "crds")
        self.await_kind(old, "ClusterQueue")

    def await_kind(self, path, kind):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (answer := SERVER.call("GET", path))["kind"] != kind:
            self.assertLess(time.monotonic(), deadline, answer)
            time.sleep(POLL_SECONDS)

    def test_what_was_applied_is_stored_whole(self):
        applied = {(path_of(d["apiVersion"], d["kind"], d["metadata"].get("namespace", "default")), d["metadata"]["name"]): d
                   for file in USERS for d in yaml.safe_load_all(file.read_text())}
        for (path, name), document in applied.items():
            with self.subTest(path, name=name):
                self.assertEqual(lost(document, SERVER.call("GET", f"{path}/{name}")), [])

    def test_defaults_are_kueues(self):
        bare = {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ClusterQueue", "metadata": {"name": "bare"},
                "spec": {"fairSharing": {}}}
        queue = SERVER.call("POST", "/apis/kueue.x-k8s.io/v1beta1/clusterqueues?dryRun=All", bare)
        self.assertEqual(queue["spec"], {
            "queueingStrategy": "BestEffortFIFO", "stopPolicy": "None", "fairSharing": {"weight": 1},
            "flavorFungibility": {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"},
            "preemption": {"withinClusterQueue": "Never", "reclaimWithinCohort": "Never",
                           "borrowWithinCohort": {"policy": "Never"}}})
        stored = lambda kind, name: SERVER.call("GET", f"{path_of(NEWEST, kind)}/{name}")["spec"]
        self.assertEqual(stored("LocalQueue", "user-queue")["stopPolicy"], "None")
        self.assertEqual(stored("AdmissionCheck", "rayjob-gpu")["retryDelayMinutes"], 15)
        self.assertEqual(stored("ProvisioningRequestConfig", "rayjob-gpu-config")["retryStrategy"],
                         {"backoffLimitCount": 3, "backoffBaseSeconds": 60, "backoffMaxSeconds": 1800})
        workload = stored("Workload", "by-hand")
        self.assertEqual(([p["count"] for p in workload["podSets"]], workload["active"]), ([1, 8], True))

    def test_a_status_is_stored_with_both_spellings(self):
        usage = [{"name": "default-flavor", "resources": [{"name": "cpu", "total": "2"}]}]
        racks = {"levels": ["rack"], "domains": [{"values": ["r1"], "count": 1}],
                 "slices": [{"domainCount": 1, "podCounts": {"universal": 1}, "valuesPerLevel": [{"universal": "r1"}]}]}
        for kind, name, status in (
                ("LocalQueue", "user-queue", {
                    "flavorUsage": usage, "flavorsUsage": usage, "flavorsReservation": usage, "pendingWorkloads": 3}),
                ("Workload", "by-hand", {
                    "accumulatedPastExexcutionTimeSeconds": 7, "accumulatedPastExecutionTimeSeconds": 7,
                    "admission": {"clusterQueue": "team-a", "podSetAssignments": [
                        {"name": name, "count": 1, "flavors": {"cpu": "spot"}, "topologyAssignment": racks}
                        for name in ("head", "workers")]}})):
            SERVER.merge(f"{path_of(NEWEST, kind)}/{name}/status", {"status": status})
            for version in ("v1beta1", "v1beta2"):
                with self.subTest(kind, version=version):
                    self.assertEqual(SERVER.call("GET", f"{path_of(f'kueue.x-k8s.io/{version}', kind)}/{name}")["status"], status)

    def test_what_is_wrong_is_refused_in_kueues_words(self):
        for number, case in enumerate(cases("refused.yaml")):
            with self.subTest(f"{case['kind']}: {case['says'][0]}"):
                answer = self.tried(f"refused-{number}", case)
                self.assertEqual(answer["kind"], REFUSAL, "it was not refused")
                for text in case["says"]:
                    self.assertIn(text, answer["message"])
                for text in case.get("silent", []):
                    self.assertNotIn(text, answer["message"])

    def tried(self, name, case):
        """The answer to what a case of refused.yaml tries."""
        version = NEWEST_ELSEWHERE.get(case["kind"], NEWEST)
        if "version" in case:
            version = version.split("/")[0] + "/" + case["version"]
        path = path_of(version, case["kind"])
        thing = {"apiVersion": version, "kind": case["kind"], "metadata": {"name": name}, "spec": case["spec"]}
        if "was" not in case:
            return SERVER.call("POST", f"{path}?dryRun=All&fieldValidation=Strict", thing)
        stored = SERVER.call("POST", path, {**thing, "spec": case["was"]})
        if "status" in case:
            stored = SERVER.call("PUT", f"{path}/{name}/status", {**stored, "status": case["status"]})
        self.assertEqual(stored["kind"], case["kind"], stored.get("message"))
        return SERVER.call("PUT", f"{path}/{name}", {**stored, "spec": case["spec"]})


class Held(unittest.TestCase):
    """The policies, in each version of their API."""

    def test_under_v1(self):
        self.hold("v1")

    def test_under_v1beta1(self):
        self.hold("v1beta1")

    def test_under_v1alpha1(self):
        self.hold("v1alpha1")

    def hold(self, version):
        folder = MANIFESTS / "kueue" / "hold" / version
        SERVER.kubectl("apply", "-k", folder)
        try:
            self.await_policies(True)
            for number, case in enumerate(cases("held.yaml")):
                with self.subTest(case["title"]):
                    self.assertIsNone(self.shortfall(f"held-{number}", case))
            for case in cases("moved.yaml"):
                with self.subTest(f"a {case['kind']} moves to another queue while it waits, and not while it runs"):
                    self.move(f"moved-{version}", case)
        finally:
            SERVER.kubectl("delete", "-k", folder)
            self.await_policies(False)

    def await_policies(self, wanted):
        """Waits until all policies act, or none does: the API server learns of them by and by."""
        showing = [case for case in cases("held.yaml") if case.get("shows")]
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            short = {case["title"]: self.shortfall("probe", case) for case in showing}
            if all((text is None) == wanted for text in short.values()):
                return
            self.assertLess(time.monotonic(), deadline, f"not {'all' if wanted else 'none'} of the policies act: {short}")
            time.sleep(POLL_SECONDS)

    def shortfall(self, name, case):
        """What a case's object becomes in place of what it should; None if it becomes that."""
        answer = self.create(name, case)
        if "says" in case:
            return None if case["says"] in answer.get("message", "") else answer
        seen = {path: at(answer, path) for path in case["becomes"]}
        return None if answer["kind"] != REFUSAL and seen == case["becomes"] else answer.get("message", seen)

    def create(self, name, case):
        """What would be stored: the creation is only tried."""
        thing = copy.deepcopy(case["object"])
        metadata = thing.setdefault("metadata", {})
        metadata["name"] = name
        if "owner" in case:
            metadata["ownerReferences"] = [
                {"apiVersion": "example.com/v1", "kind": case["owner"], "name": "o", "uid": "o", "controller": True}]
        path = self.path(thing["apiVersion"], thing["kind"], metadata.setdefault("namespace", "default"))
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            answer = SERVER.call("POST", f"{path}?dryRun=All", thing)
            # A policy learns of a new kind some seconds later than the API server does.
            if "There can be a delay between when" not in answer.get("message", "") or time.monotonic() > deadline:
                return answer
            time.sleep(POLL_SECONDS)

    def move(self, name, case):
        path = self.path(case["apiVersion"], case["kind"], "default")
        label = lambda queue: {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": queue}}}
        thing = {"apiVersion": case["apiVersion"], "kind": case["kind"], "spec": case["spec"],
                 "metadata": {"name": name, **label("a")["metadata"]}}
        self.assertEqual(SERVER.call("POST", path, thing)["kind"], case["kind"])
        self.assertEqual(SERVER.merge(f"{path}/{name}", label("b"))["kind"], case["kind"])
        self.assertEqual(SERVER.merge(f"{path}/{name}", {"spec": case["let-go"]})["kind"], case["kind"])
        for queue in ("c", None):
            self.assertIn(f'metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: "{queue or ""}": field is immutable',
                          SERVER.merge(f"{path}/{name}", label(queue)).get("message", "it was not refused"))
        self.assertEqual(SERVER.merge(f"{path}/{name}", {"metadata": {"labels": {"a": "b"}}})["kind"], case["kind"])

    def path(self, version, kind, namespace):
        root = "/api/v1" if version == "v1" else f"/apis/{version}"
        return f"{root}/namespaces/{namespace}/{kind.lower()}s"


class Wrapped(unittest.TestCase):
    """Who may wrap what in an AppWrapper."""

    def test_nobody_wraps_what_they_may_not_create(self):
        folder = MANIFESTS / "appwrapper" / "rights"
        SERVER.kubectl("apply", "-k", folder)
        self.addCleanup(SERVER.kubectl, "delete", "-k", folder)
        self.grant("eve", {"workload.codeflare.dev": "appwrappers", "batch": "jobs"})
        deadline = time.monotonic() + PATIENCE_SECONDS
        table = cases("wrapped.yaml")
        while (short := [self.shortfall("probe", case) for case in table if "was" not in case]) != [None] * len(short):
            self.assertLess(time.monotonic(), deadline, short)
            time.sleep(POLL_SECONDS)
        for number, case in enumerate(case for case in table if "was" in case):
            with self.subTest(case["title"]):
                self.assertIsNone(self.shortfall(f"wrapped-{number}", case))

    def grant(self, user, resources):
        rbac = "/apis/rbac.authorization.k8s.io/v1"
        rules = [{"apiGroups": [group], "resources": [resource], "verbs": ["create", "update"]}
                 for group, resource in resources.items()]
        SERVER.call("POST", f"{rbac}/clusterroles", {"metadata": {"name": user}, "rules": rules})
        SERVER.call("POST", f"{rbac}/clusterrolebindings", {
            "metadata": {"name": user}, "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": user}})

    def shortfall(self, name, case):
        """What the user is told in place of what they should be; None if it is that."""
        version = f"workload.codeflare.dev/{case.get('version', 'v1beta2')}"
        path = path_of(version, "AppWrapper")
        thing = {"apiVersion": version, "kind": "AppWrapper", "metadata": {"name": name}, "spec": case["spec"]}
        if "was" in case:
            stored = SERVER.call("POST", path, {**thing, "spec": case["was"]})
            if "created" in case:
                stored = SERVER.merge(f"{path}/{name}/status", {"status": {"componentStatus": case["created"]}})
            answer = SERVER.call("PUT", f"{path}/{name}?dryRun=All", {**stored, "spec": case["spec"]}, user="eve")
        else:
            answer = SERVER.call("POST", f"{path}?dryRun=All", thing, user="eve")
        good = case["says"] in answer.get("message", "") if "says" in case else answer["kind"] != REFUSAL
        return None if good else answer.get("message", "it was stored")


if __name__ == "__main__":
    unittest.main()
