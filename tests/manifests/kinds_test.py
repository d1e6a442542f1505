#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the lists of kinds of job to each other: tables of the program, policies, rights, and the embedded cluster.

  kinds_test.py [unittest arguments]

A table of the program is read by the shape of its rows. docs/new-dialect.md says what a row is for.
"""

import pathlib
import re
import typing
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
POD_SETS = "scheduler/dialects/pod_sets.cc"
JOBS = "scheduler/dialects/kueue/jobs.cc"
WRAPPED = "scheduler/dialects/appwrapper_kinds.cc"
COMMAND = "scheduler/app/ctl_command.cc"
EMBEDDED = "sim/store/hold.cc"
RESOURCES = "sim/objects/resources.h"
HOLD = "manifests/kueue/hold/v1/hold.yaml"
REFUSE = "manifests/kueue/hold/v1/refuse.yaml"
RIGHTS = "manifests/appwrapper/rights/rights.yaml"
CREATOR = "manifests/appwrapper/rights/creator.yaml"
RBAC = "manifests/deploy/20-rbac.yaml"
WALKTHROUGH = "tests/walkthroughs/wrapped-kinds.yaml"

# Kueue queues these and Tutti does not. What they make is left alone: else its parts would wait while the rest runs.
NOT_SERVED = {"SparkApplication", "TrainJob"}
# Their pods wait for quota themselves, so what these make is not left alone.
PODS_WAIT = {"Pod", "Deployment", "StatefulSet"}
# What they make waits; their own label is that of pods to come.
REPLICAS = {"Deployment", "StatefulSet", "LeaderWorkerSet"}
UNGATES = {"tutti-ungate-elastic-pods"}  # it takes a gate away from every pod
MAKE_NO_PODS = {"Service", "ConfigMap", "PodGroup"}


class Kind(typing.NamedTuple):
    group: str
    resource: str
    kind: str

    @property
    def place(self):
        """As rights and policies name it."""
        return (self.group, self.resource)

    @property
    def name(self):
        """As an apiVersion without its version, and a kind."""
        return f"{self.group or 'v1'}/{self.kind}"


def text(file):
    return (ROOT / file).read_text()


def documents(file):
    return [document for document in yaml.safe_load_all(text(file)) if document]


def between(file, begin, end):
    """What stands in the file between two texts."""
    _, found, rest = text(file).partition(begin)
    if not found or end not in rest:
        raise AssertionError(f"{file} has no {begin!r} with {end!r} behind it: this test has to learn where the table is")
    return rest.partition(end)[0]


def strings(code):
    return re.findall(r'"([^"]*)"', code)


def jobs():
    """Kinds that wait in Kueue's queues."""
    table = between(JOBS, "> table = {", "\n  };")
    return ([Kind(*row) for row in re.findall(r'\{\{"([^"]*)", "([^"]*)", "([^"]*)", \{', table)] +
            [Kind("kubeflow.org", *row) for row in re.findall(r'Replicated\("([^"]*)", "([^"]*)"', table)] +
            [Kind(*row) for row in re.findall(r'ByPods\("([^"]*)", "([^"]*)", "([^"]*)", ', table)])


def wrapped():
    """Kinds that an AppWrapper may wrap, and whether they are watched."""
    rows = re.findall(r'\{\{"([^"]*)", "([^"]*)", "([^"]*)", \{[^}]*\}\}(, true)?\}', between(WRAPPED, "> table{", "\n  };"))
    return {Kind(*row): bool(watched) for *row, watched in rows}


def with_pod_sets():
    """Group and kind of what PodSetsOf knows."""
    rows = re.findall(r'\{"([^"]*)", "([^"]*)", Read', between(POD_SETS, "kRows[] = {", "};"))
    replicas = re.findall(r'\{"([^"]*)", "[^"]*", "[^"]*"\}', between(POD_SETS, "kReplicaKinds[] = {", "};"))
    return set(rows) | {("kubeflow.org", kind) for kind in replicas}


def makers():
    """Kinds of which the pods and jobs that they make are left alone."""
    return set(strings(between(JOBS, "kMakers[] = {", "}")))


def policies(file):
    return {each["metadata"]["name"]: each["spec"] for each in documents(file) if each["kind"].endswith("AdmissionPolicy")}


def matched(policy):
    """Group and resource of all that a policy is asked about."""
    return {(group, resource) for rule in policy["matchConstraints"]["resourceRules"]
            for group in rule["apiGroups"] for resource in rule["resources"]}


def embedded_policies():
    """What the embedded cluster does for each policy, by the policy's name: group and resource."""
    code = text(EMBEDDED)
    names = dict(re.findall(r'constexpr const char\* (k\w+) = "(tutti-[^"]*)"', code))
    places = {name: place for name, *place in re.findall(r'(k\w+)\{"([^"]*)", "([^"]*)"\}', text(RESOURCES) + code)}
    pairs = re.findall(r"id == (k\w+) && in_force\((k\w+)\)", code)
    for variable, policy in (("has_flag", "kHoldJobs"), ("has_run_policy", "kHoldTrainingJobs")):
        kinds = between(EMBEDDED, f"const bool {variable} =", ";")
        pairs += [(kind, policy) for kind in re.findall(r"id == (k\w+)", kinds)]
    pairs += [("kPods", policy) for policy in re.findall(r"IsInForce\(store, (k\w+)\)", code)]
    done = {name: set() for name in names.values()}
    for kind, policy in pairs:
        done[names[policy]].add(tuple(places[kind]))
    return done


def granted(file, *verbs):
    """Group and resource of all on which the file's first ClusterRole allows all of these verbs."""
    allowed = {}
    for rule in documents(file)[0]["rules"]:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                allowed.setdefault((group, resource), set()).update(rule["verbs"])
    return {place for place, has in allowed.items() if has >= set(verbs)}


class Kinds(unittest.TestCase):
    def assert_all_in(self, kinds, where, known, there):
        """All `kinds`, which the file `where` has, are `known` at `there`."""
        if not kinds:
            self.fail(f"{where}: no kind was found; this test has to learn how its list is written")
        if lacking := sorted(set(kinds) - set(known)):
            names = ", ".join(each if isinstance(each, str) else "/".join(filter(None, each)) for each in lacking)
            self.fail(f"{there} lacks {names}, which {where} has")

    def assert_same(self, kinds, where, others, there):
        self.assert_all_in(kinds, where, others, there)
        self.assert_all_in(others, there, kinds, where)

    def test_pod_sets_of_every_job_are_known(self):
        known = with_pod_sets()
        self.assert_all_in({(kind.group, kind.kind) for kind in jobs()}, JOBS, known, POD_SETS)
        self.assert_all_in({(kind.group, kind.kind) for kind in wrapped() if kind.kind not in MAKE_NO_PODS}, WRAPPED, known,
                           POD_SETS)

    def test_what_a_job_makes_is_left_alone(self):
        expected = {kind.kind for kind in jobs()} - PODS_WAIT | NOT_SERVED
        self.assert_same(expected, f"{JOBS} (Table())", makers(), f"{JOBS} (kMakers)")

    def test_policies_and_the_embedded_cluster_leave_it_alone_too(self):
        self.assert_same(makers(), JOBS, strings(between(EMBEDDED, "kOwners[] = {", "}")), EMBEDDED)
        for name, policy in policies(HOLD).items():
            conditions = " ".join(condition["expression"] for condition in policy["matchConditions"])
            owners = re.findall(r"o\.kind in\s*\[([^\]]*)\]", conditions)
            if name in UNGATES:
                continue
            self.assertEqual(len(owners), 1, f"{HOLD}: {name} has not one list of owners")
            self.assert_same(makers(), JOBS, re.findall(r"'([^']*)'", owners[0]), f"{HOLD} ({name})")

    def test_every_job_is_held_at_its_creation(self):
        held = set().union(*map(matched, policies(HOLD).values()))
        self.assert_same({kind.place for kind in jobs()}, JOBS, held, HOLD)

    def test_the_embedded_cluster_does_what_the_policies_do(self):
        done = embedded_policies()
        self.assert_same(policies(HOLD), HOLD, done, EMBEDDED)
        for name, policy in policies(HOLD).items():
            self.assert_same(matched(policy), f"{HOLD} ({name})", done[name], EMBEDDED)

    def test_what_is_held_is_refused_if_it_cannot_be(self):
        hold, refuse = policies(HOLD), policies(REFUSE)
        for holder, refuser in (("tutti-hold-jobs", "tutti-queued-jobs"), ("tutti-hold-pods", "tutti-queued-pods")):
            self.assert_all_in(matched(hold[holder]), f"{HOLD} ({holder})", matched(refuse[refuser]), f"{REFUSE} ({refuser})")

    def test_no_job_leaves_its_queue_while_it_runs(self):
        refused = set().union(*map(matched, policies(REFUSE).values()))
        self.assert_same({kind.place for kind in jobs() if kind.kind not in REPLICAS}, JOBS, refused, REFUSE)

    def test_jobs_may_be_watched_and_patched_and_nothing_else_of_their_groups(self):
        places = {kind.place for kind in jobs()}
        self.assert_all_in(places, JOBS, granted(RBAC, "list", "watch"), f"{RBAC} (list, watch)")
        self.assert_all_in(places, JOBS, granted(RBAC, "patch"), f"{RBAC} (patch)")
        groups = {group for group, _ in places if group}
        patched = {(group, resource) for group, resource in granted(RBAC, "patch") if group in groups and "/" not in resource}
        self.assert_all_in(patched, f"{RBAC} (patch)", places, JOBS)

    def test_wrapped_kinds_may_be_created_and_watched(self):
        kinds = wrapped()
        self.assert_same({kind.place for kind in kinds}, WRAPPED, granted(CREATOR, "create", "delete"), CREATOR)
        self.assert_same({kind.place for kind, watched in kinds.items() if not watched}, f"{WRAPPED} (not watched)",
                         granted(CREATOR, "get"), f"{CREATOR} (get)")
        self.assert_all_in({kind.place for kind, watched in kinds.items() if watched}, WRAPPED,
                           granted(RBAC, "list", "watch"), f"{RBAC} (list, watch)")

    def test_users_are_asked_for_their_right_to_each_wrapped_kind(self):
        (policy,) = policies(RIGHTS).values()
        (others,) = [each["expression"] for each in policy["variables"] if each["name"] == "others"]
        self.assert_same({kind.name for kind in wrapped()}, WRAPPED, re.findall(r"'([^']*/[^']*)'", others),
                         f"{RIGHTS} (variable others)")
        asked = {found for each in policy["validations"] for found in re.findall(
            r"'([^']*)' in variables\.kinds.*authorizer\.group\('([^']*)'\)\.resource\('([^']*)'\)", each["expression"], re.S)}
        self.assert_same({(kind.name, kind.group, kind.resource) for kind in wrapped()}, WRAPPED, asked,
                         f"{RIGHTS} (validations)")

    def test_every_wrapped_kind_is_wrapped_once_in_a_walkthrough(self):
        (rounds,) = [step for step in documents(WALKTHROUGH)[0]["steps"] if "repeat" in step]
        items = [yaml.safe_load(item) for item in rounds["set"]["item"]["cycle"]]
        played = {re.sub("/v[^/]*$", "", item["apiVersion"]) + "/" + item["kind"] for item in items}
        self.assert_same({kind.name for kind in wrapped()}, WRAPPED, played, WALKTHROUGH)
        self.assertEqual(rounds["repeat"], len(items), f"{WALKTHROUGH} does not play each of its items once")

    def test_every_job_may_be_named_at_the_command_line(self):
        words = strings(between(COMMAND, "kinds = {", "}"))
        self.assert_all_in({kind.kind.lower() for kind in jobs()}, JOBS, words, COMMAND)


if __name__ == "__main__":
    unittest.main()
