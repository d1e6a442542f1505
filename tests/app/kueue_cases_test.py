#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What Kueue decides, asked of `tutti simulate`: each case of tests/queue/kueue_cases, and of kueue_topology, as manifests.

  kueue_cases_test.py TUTTI FOLDER... [-k PATTERN] [--show]

A flavor has one node of its labels, which is too large to be a limit, unless the case has nodes of its own. What is compared: who is
evicted, for which one and why, and what becomes of each workload, with flavors, counts, and places where
they are given. The README.md of tests/queue/kueue_cases says what the lines of a case mean. OTHERWISE has the cases that are decided otherwise on purpose.
"""
import datetime
import json
import pathlib
import re
import subprocess
import sys
import tempfile

API = "kueue.x-k8s.io/v1beta2"
LARGE = {"cpu": "1M", "memory": "1Ei", "pods": "1M"}

# Cases that are decided otherwise on purpose, and why.
OTHERWISE = {
    "workload with unhealthyNode annotation; second pass; preferred; no fit when using slices; FailFast":
        "its members have no pods yet, so they move to other nodes together, and none has to leave",
    "scheduling workload when the node for another admitted workload is deleted":
        "the one that has quota is given the last node, as it lost its own; there is none for the other one",
    "workload with unhealthyNode annotation; second pass; required rack; fit":
        "it has quota for one pod, so that one has a place, though its status names places of two",
    "multi-layer topology: block required with rack and host slices; workload fits": "two nodes do, so no third one is begun",
    "workload which requires borrowing gets scheduled": "both nodes are needed, and neither is filled before the other",
}
# Cases that are not decided so yet, and why.
NOT_YET = {
    "workload with unhealthyNode; second pass; slices; unhealthy node hosts whole slice and incomplete slice":
        "members that move go to as many nodes as have room, and not to the fewest",
}


def amount(resource, value):
    return f"{value}m" if resource == "cpu" else str(value)


def words(text):
    plain, named = [], {}
    for word in text.split():
        key, equals, value = word.partition("=")
        if equals:
            named[key] = value
        else:
            plain.append(word)
    return plain, named


class Case:
    def __init__(self, name):
        self.name, self.objects, self.config = name, [], {}
        self.expect = {"by": None, "evicted": set(), "workloads": {}}
        self.queues, self.cohorts, self.resources, self.problems = {}, {}, set(), []
        self.flavors, self.namespaces, self.levels, self.labelled = [], set(), {}, None

    def add(self, kind, ns, name, spec, api=API, **more):
        meta = {"name": name, **more.pop("meta", {})}
        if ns:
            meta["namespace"] = ns
            self.namespaces.add(ns)
        self.objects.append({"apiVersion": api, "kind": kind, "metadata": meta, "spec": spec, **more})
        return self.objects[-1]

    def quota(self, plain, named):
        kind, of, group, flavor, resource, nominal = plain
        groups = (self.queues if kind == "queue" else self.cohorts)[of].setdefault("resourceGroups", [])
        if int(group) == len(groups):
            groups.append({"coveredResources": [], "flavors": []})
        group = groups[int(group)]
        if not group["flavors"] or group["flavors"][-1]["name"] != flavor:
            group["flavors"].append({"name": flavor, "resources": []})
        if len(group["flavors"]) == 1:
            group["coveredResources"].append(resource)
        self.resources.add(resource)
        quota = {"name": resource, "nominalQuota": amount(resource, nominal)}
        for short, field in (("borrow", "borrowingLimit"), ("lend", "lendingLimit")):
            if short in named:
                quota[field] = amount(resource, named[short])
        group["flavors"][-1]["resources"].append(quota)

    def node(self, name, resources):
        allocatable = {r: amount(r, v) for r, v in resources.items()}
        node = self.add("Node", None, name, {}, api="v1")
        node["status"] = {"allocatable": allocatable, "capacity": allocatable, "conditions": [{"type": "Ready", "status": "True"}]}
        self.labelled = node["metadata"].setdefault("labels", {})

    def flavor(self, name, n):
        self.flavors.append(name)
        spec = self.add("ResourceFlavor", None, name, {"nodeLabels": {}})["spec"]
        if "topology" in n:
            spec["topologyName"] = n["topology"]
        self.labelled = spec["nodeLabels"]

    def queue(self, name, n):
        spec = {"namespaceSelector": {"matchLabels": {"admits": name}}, "flavorFungibility": {}, "preemption": {}}
        for key, path in (("cohort", ["cohortName"]), ("strategy", ["queueingStrategy"]), ("stop", ["stopPolicy"]),
                          ("borrow", ["flavorFungibility", "whenCanBorrow"]), ("preempt", ["flavorFungibility", "whenCanPreempt"]),
                          ("preference", ["flavorFungibility", "preference"]), ("within", ["preemption", "withinClusterQueue"]),
                          ("reclaim", ["preemption", "reclaimWithinCohort"]),
                          ("borrowing", ["preemption", "borrowWithinCohort", "policy"])):
            if key in n:
                at = spec
                for step in path[:-1]:
                    at = at.setdefault(step, {})
                at[path[-1]] = n[key]
        if "threshold" in n:
            spec["preemption"].setdefault("borrowWithinCohort", {})["maxPriorityThreshold"] = int(n["threshold"])
        if "checks" in n:
            spec["admissionChecksStrategy"] = {"admissionChecks": [{"name": check} for check in n["checks"].split(",")]}
        if "weight" in n:
            spec["fairSharing"] = {"weight": n["weight"]}
        self.queues[name] = self.add("ClusterQueue", None, name, spec)["spec"]

    def workload(self, full, n, held):
        ns, name = full.split("/")
        time = lambda key: self.time(int(n.get(key, 0)))
        spec = {"queueName": n.get("local", ""), "podSets": []}
        if "priority" in n:
            spec["priority"] = int(n["priority"])
        self.at = self.add("Workload", ns, name, spec, meta={"uid": n["uid"], "creationTimestamp": time("queued")})
        if "replaces" in n:
            self.at["metadata"]["annotations"] = {"replaces": n["replaces"]}
        if held:
            conditions = [{"type": t, "status": "True", "reason": "ByTest", "message": "", "lastTransitionTime": time("reserved")}
                          for t in ["QuotaReserved", "Admitted"] + (["Evicted"] if "evicted" in n else [])]
            self.at["status"] = {"conditions": conditions, "admission": {"clusterQueue": n["queue"], "podSetAssignments": []}}

    @staticmethod
    def time(seconds):
        months, rest = divmod(seconds, 31 * 24 * 3600)
        days, rest = divmod(rest, 24 * 3600)
        at = datetime.datetime(2025 + months // 12, months % 12 + 1, 1) + datetime.timedelta(days=days - 1, seconds=rest)
        return at.strftime("%Y-%m-%dT%H:%M:%SZ")

    def role(self, plain, n):
        pod_set = {"name": plain[0], "count": int(plain[1])}
        if "min" in n:
            pod_set["minCount"] = int(n.pop("min"))
        container = {"name": "c", "image": "i", "resources": {"requests": {r: amount(r, v) for r, v in n.items()}}}
        pod_set["template"] = {"spec": {"containers": [container], "restartPolicy": "Never"}}
        self.at["spec"]["podSets"].append(pod_set)
        self.stands = None

    def request(self, what, plain):
        pod_set = self.at["spec"]["podSets"][-1]
        if what == "selects":
            term = {"matchExpressions": [{"key": plain[0], "operator": "In", "values": plain[1].split(",")}]}
            pod_set["template"]["spec"]["affinity"] = {
                "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
            return
        request = pod_set.setdefault("topologyRequest", {})
        if what == "slices":
            request["podSetSliceRequiredTopology"], request["podSetSliceSize"] = plain[0], int(plain[1])
        elif what == "layer":
            request.setdefault("podsetSliceRequiredTopologyConstraints", []).append({"topology": plain[0], "size": int(plain[1])})
        else:
            request[what] = plain[0] if plain else True

    def place(self, domain, count):
        if self.stands is not None:
            self.stands[domain] = count
            return
        given = self.at["status"]["admission"]["podSetAssignments"][-1]
        assignment = given.setdefault("topologyAssignment", {"levels": ["kubernetes.io/hostname"], "slices": []})
        assignment["slices"].append({"domainCount": 1, "valuesPerLevel": [{"universal": domain}], "podCounts": {"universal": count}})

    def has(self, plain, n):
        count = int(plain[1])
        given = {"name": plain[0], "count": count, "flavors": {}, "resourceUsage": {}}
        each = {}
        for resource, value in n.items():
            flavor, of_all = value.split(":")
            given["flavors"][resource] = flavor
            given["resourceUsage"][resource] = amount(resource, of_all)
            each[resource] = int(of_all) // count
        self.role(plain, each)
        self.at["status"]["admission"]["podSetAssignments"].append(given)

    def read(self, line):
        what, _, rest = line.partition(" ")
        plain, named = words(rest)
        if what == "fair":
            self.config = {"fairSharing": {"enable": True, "preemptionStrategies": plain}}
        elif what == "node":
            self.node(plain[0], named)
        elif what == "label":
            self.labelled[plain[0]] = plain[1]
        elif what == "topology":
            self.add("Topology", None, plain[0], {"levels": [{"nodeLabel": level} for level in plain[1:]]})
        elif what == "check":
            self.add("ProvisioningRequestConfig", None, "config", {"provisioningClassName": "queued-provisioning.gke.io"})
            parameters = {"apiGroup": "kueue.x-k8s.io", "kind": "ProvisioningRequestConfig", "name": "config"}
            self.add("AdmissionCheck", None, plain[0], {"controllerName": plain[1], "parameters": parameters})["status"] = {
                "conditions": [{"type": "Active", "status": "True", "reason": "Active", "message": "",
                                "lastTransitionTime": "2025-12-01T00:00:00Z"}]}
        elif what == "flavor":
            self.flavor(plain[0], named)
        elif what in ("required", "preferred", "unconstrained", "slices", "layer", "selects"):
            self.request(what, plain)
        elif what == "stands":
            self.place(plain[0], int(plain[1]))
        elif what == "unhealthy":
            self.at["status"].setdefault("unhealthyNodes", []).append({"name": plain[0]})
        elif what == "cohort":
            spec = {"parentName": named["parent"]} if "parent" in named else {}
            if "weight" in named:
                spec["fairSharing"] = {"weight": named["weight"]}
            self.cohorts[plain[0]] = self.add("Cohort", None, plain[0], spec)["spec"]
        elif what == "queue":
            self.queue(plain[0], named)
        elif what == "quota":
            self.quota(plain, named)
        elif what == "local":
            ns, name = plain[0].split("/")
            self.add("LocalQueue", ns, name, {"clusterQueue": plain[1]})
            if "refuses" in named and plain[1] in self.queues:
                self.queues[plain[1]]["namespaceSelector"] = {"matchLabels": {"admits": "others"}}
            elif plain[1] in self.queues:
                self.queues[plain[1]]["namespaceSelector"] = {}
        elif what in ("ask", "held"):
            self.workload(plain[0], named, what == "held")
        elif what == "role":
            self.role(plain, named)
        elif what == "has":
            self.has(plain, named)
        elif what == "problem":
            self.problems.append(self.at)
        elif what == "only":
            self.expect["by"] = plain[0]
        elif what == "evicts":
            self.expect["evicted"].add((*plain, "")[:3])
        elif what == "ends":
            self.end = self.expect["workloads"][plain[0]] = {"state": plain[1], "sets": []}
        elif what == "with":
            self.stands = {}
            self.end["sets"].append((plain[0], int(plain[1]), named, self.stands))
        else:
            raise ValueError(f"no such line: {line}")

    def manifests(self):
        by_uid = {o["metadata"]["uid"]: o for o in self.objects if o["kind"] == "Workload"}
        for o in by_uid.values():
            if old := o["metadata"].get("annotations", {}).pop("replaces", None):
                was = by_uid[old]["metadata"]
                o["metadata"]["annotations"]["kueue.x-k8s.io/workload-slice-replacement-for"] = f"{was['namespace']}/{was['name']}"
        for o in self.problems:  # it asks for more than it may have
            for pod_set in o["spec"]["podSets"]:
                resources = pod_set["template"]["spec"]["containers"][0]["resources"]
                resources["limits"] = {r: "1m" for r in resources["requests"]}
        allocatable = {**LARGE, **{r: "1M" for r in self.resources if r not in LARGE}}
        nodes = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-{f}"}, "spec": {},
                  "status": {"allocatable": allocatable, "capacity": allocatable, "conditions": [{"type": "Ready", "status": "True"}]}}
                 for f in self.flavors if not any(o["kind"] == "Topology" for o in self.objects)]
        spaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": n}} for n in sorted(self.namespaces)]
        return spaces + nodes + self.objects


def read(path):
    cases = []
    for line in path.read_text().splitlines():
        if line.startswith("case "):
            cases.append(Case(line[5:]))
        elif line:
            cases[-1].read(line)
    return cases


def simulate(tutti, case):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "objects.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": case.manifests()}))
        args = [tutti, "simulate", str(folder / "objects.json"), "-o", "json"]
        if case.config:
            config = {"apiVersion": "tutti.dev/v1alpha1", "kind": "TuttiConfiguration", "kueue": case.config}
            (folder / "config.yaml").write_text(json.dumps(config))
            args += ["--config", str(folder / "config.yaml")]
        done = subprocess.run(args, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)


def same_sets(wanted, have):
    """With the places where those are given."""
    by_name = {p["name"]: p for p in have}
    return len(wanted) == len(have) and all(
        name in by_name and (by_name[name]["count"], by_name[name]["flavors"]) == (count, flavors)
        and (not places or by_name[name].get("topology") == places) for name, count, flavors, places in wanted)


def differences(case, out):
    wrong = []
    steps = [e for e in out["timeline"] if e["action"] == "evict" and e.get("workload")]
    evicted = {(e["workload"], e["reason"], e["by"]) for e in steps if case.expect["by"] in (None, e["by"])}
    for victim, reason, by in sorted(case.expect["evicted"] ^ evicted):
        wrong.append(f"{'' if (victim, reason, by) in evicted else 'not '}evicted: {victim} by {by}, {reason}")
    have = {f"{w['namespace']}/{w['name']}": w for w in out["workloads"]}
    went = {e["workload"] for e in steps}
    for name, end in case.expect["workloads"].items():
        is_now = have.get(name)
        if is_now is None:
            wrong.append(f"{name} is not in the result")
        elif is_now["state"] != end["state"] and not (end["state"] == "pending" and is_now["state"] == "evicted" and name in went):
            wrong.append(f"{name} is {is_now['state']}, not {end['state']}: {is_now['message']}")
        elif end["sets"] and not same_sets(end["sets"], is_now["podSets"]):
            wrong.append(f"{name} has {is_now['podSets']}, not {end['sets']}")
    return wrong


def main():
    tutti, *more = sys.argv[1:]
    show = "--show" in more
    pattern = more[more.index("-k") + 1] if "-k" in more else ""
    folders = [pathlib.Path(one) for one in more if pathlib.Path(one).is_dir()]
    agree = total = 0
    for path in sorted(path for folder in folders for path in folder.glob("*.txt")):
        for case in read(path):
            if not re.search(pattern, f"{path.stem}/{case.name}"):
                continue
            if case.name in OTHERWISE or case.name in NOT_YET:
                continue
            if show:
                print(json.dumps({"apiVersion": "v1", "kind": "List", "items": case.manifests()}, indent=1))
            total += 1
            try:
                wrong = differences(case, simulate(tutti, case))
            except RuntimeError as error:
                wrong = [str(error)]
            agree += not wrong
            if wrong:
                print(f"{path.stem}/{case.name}")
                print("".join(f"    {line}\n" for line in wrong), end="")
    print(f"{agree} of {total} cases agree; {len(OTHERWISE)} are decided otherwise on purpose, {len(NOT_YET)} not yet")
    return 0 if agree == total and total else 1


if __name__ == "__main__":
    sys.exit(main())
