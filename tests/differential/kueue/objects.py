# SPDX-License-Identifier: Apache-2.0
"""The short words of the scripts, as objects.

  - nodes: {a: {cpu: 8}}
  - flavors: {spot: {node: spot}}                       nodes with label flavor=spot
  - queues: {cq: {cohort: c, cpu: 4, ...}}              a ClusterQueue, and LocalQueue of the same name in `default`
  - jobs: {j: {queue: cq, pods: 3, cpu: 1, ...}}
  - classes: {high: 1000}                               WorkloadPriorityClasses
  - apply: [OBJECT...]
  - patch: KIND NAME, merge: {...}, status: true
  - delete: KIND NAME
  - finish: JOB                                         its pods succeed
  - kueuectl: COMMAND                                   what it says is compared, too; "stop workload of JOB"
"""

KUEUE = "kueue.x-k8s.io/v1beta2"


def node(name, has):
    labels = {"flavor": has["flavor"]} if "flavor" in has else {}
    amounts = {"cpu": str(has["cpu"]), "memory": "64Gi", "pods": "110"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
            "spec": {"taints": has.get("taints", [])}, "status": {"allocatable": amounts, "capacity": amounts}}


def flavor(name, has):
    spec = {}
    if "node" in has:
        spec["nodeLabels"] = {"flavor": has["node"]}
    spec.update({key: value for key, value in has.items() if key != "node"})
    return {"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": name}, "spec": spec}


def quota(value):
    """4, or "4 borrow 2 lend 1"."""
    words = str(value).split()
    out = {"name": "cpu", "nominalQuota": words[0]}
    for key, amount in zip(words[1::2], words[2::2]):
        out[{"borrow": "borrowingLimit", "lend": "lendingLimit"}[key]] = amount
    return out


def queue(name, has):
    has = dict(has)
    flavors = has.pop("flavors", None) or {"default": has.pop("cpu")}
    spec = {"namespaceSelector": {}, "resourceGroups": [{
        "coveredResources": ["cpu"],
        "flavors": [{"name": each, "resources": [quota(amount)]} for each, amount in flavors.items()]}]}
    if "cohort" in has:
        spec["cohortName"] = has.pop("cohort")
    spec.update(has)
    return [{"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec},
            {"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": {"name": name, "namespace": "default"},
             "spec": {"clusterQueue": name}}]


def job(name, has):
    labels = {"kueue.x-k8s.io/queue-name": has["queue"]} if "queue" in has else {}
    if "class" in has:
        labels["kueue.x-k8s.io/priority-class"] = has["class"]
    pods = has.get("pods", 1)
    spec = {"parallelism": pods, "completions": has.get("completions", pods), "template": {"spec": {
        "restartPolicy": "Never", "terminationGracePeriodSeconds": 1, **has.get("spec", {}),
        "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": str(has.get("cpu", 1)), **has.get("requests", {})}}}]}}}
    return {"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, "namespace": "default", "labels": {**labels, **has.get("labels", {})},
                         "annotations": has.get("annotations", {})},
            "spec": spec}


def expand(step):
    """The step with its objects written out."""
    objects = [node(name, has) for name, has in step.get("nodes", {}).items()]
    objects += [flavor(name, has or {}) for name, has in step.get("flavors", {}).items()]
    objects += [{"apiVersion": KUEUE, "kind": "WorkloadPriorityClass", "metadata": {"name": name}, "value": value}
                for name, value in step.get("classes", {}).items()]
    for name, has in step.get("queues", {}).items():
        objects += queue(name, has)
    objects += [job(name, has) for name, has in step.get("jobs", {}).items()]
    objects += step.get("apply", [])
    return {**step, "apply": objects}
