#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes cases for kueue_cases_test.cc from manifests of Kueue's objects.

  convert.py CASES.jsonl FOLDER [FOLDER-OF-TOPOLOGY]

Each line of the input is one case: {"test", "name", "config", "objects", "expect"}. Objects are those of
kueue.x-k8s.io/v1beta2 with namespaces and LimitRanges; `expect` says what is evicted for what, and what each workload has
in the end. One file a test is written; README.md says what its lines mean. Cases that ask for a topology go into a folder
of their own: what they expect follows from nodes.
"""
import collections
import decimal
import json
import pathlib
import sys

SUFFIX = {"m": decimal.Decimal("0.001"), "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15,
          "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}
WITHIN = {"default": "2025-12-01T00:00:00Z"}


def number(text):
    for suffix in sorted(SUFFIX, key=len, reverse=True):
        if str(text).endswith(suffix):
            return decimal.Decimal(str(text)[:-len(suffix)]) * SUFFIX[suffix]
    return decimal.Decimal(str(text))


def amount(resource, text):
    """In thousandths for cpu, else in units."""
    return int(number(text) * (1000 if resource == "cpu" else 1))


def seconds(time):
    """Of a day and its neighbours: enough to tell which came first."""
    date, clock = time.rstrip("Z").split("T")
    year, month, day = map(int, date.split("-"))
    hour, minute, second = map(int, clock.split(":"))
    return ((((year - 2025) * 12 + month) * 31 + day) * 24 + hour) * 3600 + minute * 60 + second


def fields(**given):
    return "".join(f" {key}={value}" for key, value in given.items() if value not in (None, ""))


def quotas(kind, name, spec):
    for number_of_group, group in enumerate(spec.get("resourceGroups", [])):
        for flavor in group["flavors"]:
            for r in flavor["resources"]:
                limit = lambda key: amount(r["name"], r[key]) if r.get(key) is not None else None
                yield (f"quota {kind} {name} {number_of_group} {flavor['name']} {r['name']} {limit('nominalQuota')}"
                       + fields(borrow=limit("borrowingLimit"), lend=limit("lendingLimit")))


def weight(spec):
    given = spec.get("fairSharing", {}).get("weight")
    return None if given is None else number(given)


def queue(o):
    s = o["spec"]
    f, p = s.get("flavorFungibility", {}), s.get("preemption", {})
    b = p.get("borrowWithinCohort", {})
    yield f"queue {o['metadata']['name']}" + fields(
        cohort=s.get("cohortName"), weight=weight(s), strategy=s.get("queueingStrategy"),
        borrow=f.get("whenCanBorrow"), preempt=f.get("whenCanPreempt"), preference=f.get("preference"),
        within=p.get("withinClusterQueue"), reclaim=p.get("reclaimWithinCohort"),
        borrowing=b.get("policy"), threshold=b.get("maxPriorityThreshold"), stop=s.get("stopPolicy"),
        checks=",".join(c["name"] for c in s.get("admissionChecksStrategy", {}).get("admissionChecks", [])))
    yield from quotas("queue", o["metadata"]["name"], s)


def selects(selector, labels):
    if selector is None:
        return False
    wrong = [k for k, v in selector.get("matchLabels", {}).items() if labels.get(k) != v]
    for e in selector.get("matchExpressions", []):
        have = labels.get(e["key"])
        ok = {"In": have in e.get("values", []), "NotIn": have not in e.get("values", []),
              "Exists": have is not None, "DoesNotExist": have is None}[e["operator"]]
        wrong += [] if ok else [e["key"]]
    return not wrong


def problem(workload, ranges):
    """What the objects' own rules forbid."""
    for ps in workload["spec"]["podSets"]:
        for c in ps["template"]["spec"]["containers"]:
            r = c.get("resources", {})
            for resource, asked in r.get("requests", {}).items():
                if resource in r.get("limits", {}) and number(asked) > number(r["limits"][resource]):
                    return "requests exceed limits"
                for o in ranges:
                    for limit in o["spec"]["limits"]:
                        if resource in limit.get("max", {}) and number(asked) > number(limit["max"][resource]):
                            return "above the limit of the namespace"
    return None


def requests(ps):
    total = collections.Counter()
    for c in ps["template"]["spec"]["containers"]:
        r = c.get("resources", {})
        for resource, value in {**r.get("limits", {}), **r.get("requests", {})}.items():
            total[resource] += amount(resource, value)
    return "".join(f" {r}={a}" for r, a in sorted(total.items()))


def labels(given):
    for key, value in sorted((given or {}).items()):
        yield f"label {key} {value}"


def domains(assignment):
    """Pods by the value of the lowest level, from slices."""
    for s in assignment["slices"]:
        def value(of, i):
            if "universal" in of:
                return of["universal"]
            return of["individual"].get("prefix", "") + of["individual"]["roots"][i] + of["individual"].get("suffix", "")
        for i in range(s["domainCount"]):
            count = s["podCounts"].get("universal") or s["podCounts"]["individual"][i]
            yield f"stands {'/'.join(value(v, i) for v in s['valuesPerLevel'])} {count}"


def topology(request):
    for key in ("required", "preferred"):
        if key in request:
            yield f"{key} {request[key]}"
    if request.get("unconstrained"):
        yield "unconstrained"
    if "podSetSliceRequiredTopology" in request:
        yield f"slices {request['podSetSliceRequiredTopology']} {request['podSetSliceSize']}"
    for one in request.get("podsetSliceRequiredTopologyConstraints", []):
        yield f"layer {one['topology']} {one['size']}"


def affinity(spec):
    required = spec.get("affinity", {}).get("nodeAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution", {})
    for term in required.get("nodeSelectorTerms", []):
        for e in term["matchExpressions"]:
            yield f"selects {e['key']} {','.join(e['values'])}"


def workload(o, by_uid, ranges):
    m, s, status = o["metadata"], o["spec"], o.get("status", {})
    name = f"{m['namespace']}/{m['name']}"
    true = {c["type"]: c for c in status.get("conditions", []) if c["status"] == "True"}
    common = dict(uid=m["uid"], local=s.get("queueName"), priority=s.get("priority"),
                  queued=seconds(m.get("creationTimestamp", WITHIN["default"])))
    if "QuotaReserved" in true:
        yield f"held {name}" + fields(queue=status["admission"]["clusterQueue"], **common,
                                      reserved=seconds(true["QuotaReserved"]["lastTransitionTime"]),
                                      evicted="yes" if "Evicted" in true else None)
        for a in status["admission"]["podSetAssignments"]:
            usage = "".join(f" {r}={a['flavors'][r]}:{amount(r, v)}" for r, v in a.get("resourceUsage", {}).items())
            yield f"has {a['name']} {a['count']}{usage}"
            yield from topology(next(ps for ps in s["podSets"] if ps["name"] == a["name"]).get("topologyRequest", {}))
            if "topologyAssignment" in a:
                yield from domains(a["topologyAssignment"])
        for node in status.get("unhealthyNodes", []):
            yield f"unhealthy {node['name']}"
        return
    old = m.get("annotations", {}).get("kueue.x-k8s.io/workload-slice-replacement-for")
    yield f"ask {name}" + fields(**common, replaces=by_uid.get(old))
    if problem(o, ranges):
        yield f"problem {problem(o, ranges)}"
    for ps in s["podSets"]:
        spec = ps["template"]["spec"]
        assert not spec.get("nodeSelector") and not spec.get("tolerations"), name
        yield f"role {ps['name']} {ps['count']}" + fields(min=ps.get("minCount")) + requests(ps)
        yield from topology(ps.get("topologyRequest", {}))
        yield from affinity(spec)


def lines(case):
    objects = collections.defaultdict(list)
    for o in case["objects"]:
        objects[o["kind"]].append(o)
    by_uid = {f"{o['metadata']['namespace']}/{o['metadata']['name']}": o["metadata"]["uid"] for o in objects["Workload"]}
    namespaces = {o["metadata"]["name"]: o["metadata"].get("labels", {}) for o in objects["Namespace"]}
    selectors = {o["metadata"]["name"]: o["spec"].get("namespaceSelector") for o in objects["ClusterQueue"]}
    yield f"case {case['name']}"
    if case["config"].get("fairSharing", {}).get("enable"):
        yield "fair " + " ".join(case["config"]["fairSharing"]["preemptionStrategies"])
    for o in objects["Node"] if "TAS" in case["test"] else []:
        yield f"node {o['metadata']['name']}" + "".join(f" {r}={amount(r, v)}" for r, v in o["status"]["allocatable"].items())
        yield from labels(o["metadata"].get("labels"))
    for o in objects["Topology"]:
        yield f"topology {o['metadata']['name']} " + " ".join(level["nodeLabel"] for level in o["spec"]["levels"])
    for o in objects["AdmissionCheck"]:
        yield f"check {o['metadata']['name']} {o['spec']['controllerName']}"
    for o in objects["ResourceFlavor"]:
        yield f"flavor {o['metadata']['name']}" + fields(topology=o["spec"].get("topologyName"))
        yield from labels(o["spec"].get("nodeLabels"))
    for o in objects["Cohort"]:
        yield f"cohort {o['metadata']['name']}" + fields(parent=o["spec"].get("parentName"), weight=weight(o["spec"]))
        yield from quotas("cohort", o["metadata"]["name"], o["spec"])
    for o in objects["ClusterQueue"]:
        yield from queue(o)
    for o in objects["LocalQueue"]:
        m, of = o["metadata"], o["spec"]["clusterQueue"]
        admits = of not in selectors or selects(selectors[of], namespaces.get(m["namespace"], {}))
        yield f"local {m['namespace']}/{m['name']} {of}" + ("" if admits else " refuses=yes")
    for o in objects["Workload"]:
        ranges = [r for r in objects["LimitRange"] if r["metadata"]["namespace"] == o["metadata"]["namespace"]]
        yield from workload(o, by_uid, ranges)
    expect = case["expect"]
    if expect.get("by"):
        yield f"only {expect['by']}"
    for e in expect["evicted"]:
        yield f"evicts {e['workload']} {e['reason']} {e['by']}"
    for name, e in expect["workloads"].items():
        yield f"ends {name} {e['state']}"
        for ps in e.get("podSets", []):
            yield f"with {ps['name']} {ps['count']}" + fields(**ps.get("flavors", {}))
            for domain, count in sorted((ps.get("topology") or {}).items()):
                yield f"stands {domain} {count}"


def main():
    source, folder, *topologies = sys.argv[1:]
    tests = collections.defaultdict(list)
    for case in map(json.loads, open(source)):
        if "TAS" not in case["test"] or topologies:
            tests[case["test"]].append("\n".join(lines(case)) + "\n")
    for test, cases in tests.items():
        (pathlib.Path(topologies[0] if "TAS" in test else folder) / f"{test}.txt").write_text("\n".join(cases))
    print(f"{sum(map(len, tests.values()))} cases")


if __name__ == "__main__":
    main()
