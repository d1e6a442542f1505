#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes manifests for `tutti simulate`: the load by which Kueue measures itself, as Jobs of one pod.

    generate_workloads.py --cohorts 5 --queues 6 > load.yaml      # 15,000 Jobs
    generate_workloads.py --cohorts 10 --queues 10 > load.yaml    # 50,000

Each ClusterQueue has 20 cpu, may borrow 100 from its cohort, and gets 350 small Jobs (1 cpu for 0.2 s, one each 0.1 s),
100 medium ones (5 cpu for 0.5 s, one each 0.5 s) and 50 large ones (20 cpu for 1 s, one each 1.2 s); larger ones have
the higher priority. The work of a queue is 1,320 cpu seconds, so no order of admissions takes less than 66 s. The same
arguments give the same bytes.
"""
import argparse
import json
import sys

QUOTA, BORROWED = 20, 100
# Name, how many in each queue, cpu, how long one runs, time from one to the next, priority; times in milliseconds.
SIZES = [("small", 350, 1, 200, 100, 50), ("medium", 100, 5, 500, 500, 100), ("large", 50, 20, 1000, 1200, 200)]
KUEUE = "kueue.x-k8s.io"


def of_kueue(kind, name, spec, namespace=None):
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": f"{KUEUE}/v1beta1", "kind": kind, "metadata": metadata, "spec": spec}


def cluster_queue(name, cohort):
    quota = {"name": "cpu", "nominalQuota": QUOTA, "borrowingLimit": BORROWED}
    flavors = [{"name": "any", "resources": [quota]}]
    return of_kueue("ClusterQueue", name, {
        "cohort": cohort, "namespaceSelector": {}, "queueingStrategy": "BestEffortFIFO",
        "preemption": {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"},
        "resourceGroups": [{"coveredResources": ["cpu"], "flavors": flavors}]})


def node(i):
    resources = {"cpu": "60", "memory": "256Gi", "pods": "1000"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-{i:04}"},
            "status": {"allocatable": resources}}


def job(queue, name, size, at_ms):
    size_name, _, cpu, runs_ms, _, _ = size
    container = {"name": "main", "image": "main", "resources": {"requests": {"cpu": str(cpu)}}}
    template = {"metadata": {"annotations": {"sim.tutti.dev/run-for": f"{runs_ms}ms"}},
                "spec": {"restartPolicy": "Never", "containers": [container]}}
    metadata = {"name": name, "namespace": "load", "annotations": {"sim.tutti.dev/arrive-at": f"{at_ms}ms"},
                "labels": {f"{KUEUE}/queue-name": queue, f"{KUEUE}/priority-class": size_name}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata,
            "spec": {"suspend": True, "parallelism": 1, "completions": 1, "template": template}}


def objects(cohorts, queues):
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "load"}}
    # Twice the quota: nodes are not what anything waits for.
    for i in range(-(-2 * QUOTA * cohorts * queues // 60)):
        yield node(i)
    yield of_kueue("ResourceFlavor", "any", {})
    for name, _, _, _, _, priority in SIZES:
        yield {"apiVersion": f"{KUEUE}/v1beta1", "kind": "WorkloadPriorityClass", "metadata": {"name": name},
               "value": priority}
    for c in range(cohorts):
        for q in range(queues):
            queue = f"queue-{c}-{q}"
            yield cluster_queue(queue, f"cohort-{c}")
            yield of_kueue("LocalQueue", queue, {"clusterQueue": queue}, "load")
            for size in SIZES:
                for i in range(size[1]):
                    yield job(queue, f"{queue}-{size[0]}-{i}", size, i * size[4])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cohorts", type=int, default=5)
    parser.add_argument("--queues", type=int, default=6, help="ClusterQueues of each cohort")
    args = parser.parse_args()
    for each in objects(args.cohorts, args.queues):
        sys.stdout.write(json.dumps(each) + "\n---\n")


if __name__ == "__main__":
    main()
