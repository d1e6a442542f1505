# SPDX-License-Identifier: Apache-2.0
"""Users, who know nothing of the faults: gangs in several dialects come and go. About as many stay as fit."""

import dataclasses

from runner.clusters import ClusterError

from chaos.cluster import Down

NAMESPACE = "default"
CPUS = ["500m", "1", "2"]
MILLI = {"500m": 500, "1": 1000, "2": 2000}
QUEUES = {"division": (30, "root"), "left": (20, "division"), "right": (20, "division")}  # CPUs at most, and part of what


@dataclasses.dataclass
class Wish:
    """One gang, and what its user still wants of the API server about it."""
    name: str
    objects: list  # (collection, object), gangs before their members
    cpu_milli: int
    queue: str = ""
    made: int = 0  # so many of the objects
    leaving: bool = False
    gone: int = 0


def _pod(cpu, labels=None, annotations=None, restart="Always"):
    return {"metadata": {"labels": labels or {}, "annotations": annotations or {}},
            "spec": {"schedulerName": "tutti", "terminationGracePeriodSeconds": 0, "restartPolicy": restart,
                     "containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10",
                                     "resources": {"requests": {"cpu": cpu, "memory": "64Mi"}}}]}}


def _object(version, kind, name, spec):
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": NAMESPACE}, "spec": spec}


def _replica_set(name, count, template):
    template["metadata"]["labels"]["set"] = name
    return (f"/apis/apps/v1/namespaces/{NAMESPACE}/replicasets",
            _object("apps/v1", "ReplicaSet", name,
                    {"replicas": count, "selector": {"matchLabels": {"set": name}}, "template": template}))


def _pod_group(group, version, name, least):
    return (f"/apis/{group}/{version}/namespaces/{NAMESPACE}/podgroups",
            _object(f"{group}/{version}", "PodGroup", name, {"minMember": least}))


def volcano(name, size, cpu, random):
    """A ReplicaSet in a PodGroup of Volcano; some are elastic, some in a queue."""
    least = max(1, size - random.choice([0, 0, 0, 1]))
    path, group = _pod_group("scheduling.volcano.sh", "v1beta1", name, least)
    if queue := random.choice(["", "left", "right"]):
        group["spec"]["queue"] = queue
    return [(path, group),
            _replica_set(name, size, _pod(cpu, annotations={"scheduling.k8s.io/group-name": name}))]


def plugins_set(name, size, cpu, random):
    return [_pod_group("scheduling.x-k8s.io", "v1alpha1", name, size),
            _replica_set(name, size, _pod(cpu, labels={"scheduling.x-k8s.io/pod-group": name}))]


def plugins_job(name, size, cpu, random):
    """A Job in a PodGroup of scheduler-plugins: its members end when they have run."""
    template = _pod(cpu, labels={"scheduling.x-k8s.io/pod-group": name}, restart="Never")
    return [_pod_group("scheduling.x-k8s.io", "v1alpha1", name, size),
            (f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs",
             _object("batch/v1", "Job", name, {"parallelism": size, "completions": size, "backoffLimit": 1000,
                                               "template": template}))]


def plain(name, size, cpu, random):
    """Pods that start alone."""
    return [_replica_set(name, size, _pod(cpu))]


def ray(name, size, cpu, random):
    """A RayCluster for the operator: the head and the workers are the gang."""
    return [(f"/apis/ray.io/v1/namespaces/{NAMESPACE}/rayclusters",
             _object("ray.io/v1", "RayCluster", name, {
                 "rayVersion": "2.46.0",
                 "headGroupSpec": {"rayStartParams": {"num-cpus": "0"}, "template": _pod("1")},
                 "workerGroupSpecs": [{"groupName": "workers", "replicas": size - 1, "minReplicas": size - 1,
                                       "maxReplicas": size - 1, "rayStartParams": {}, "template": _pod(cpu)}]}))]


KINDS = [volcano, volcano, plugins_set, plugins_job, plain, ray]


def _cpu_milli(wishes):
    return sum(wish.cpu_milli for wish in wishes)


class Users:
    def __init__(self, cluster, random, capacity_milli):
        self._cluster, self._random, self._capacity = cluster, random, capacity_milli
        self.wishes = []
        self.made = 0

    def make_queues(self):
        for name, (cpus, parent) in QUEUES.items():
            queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": name},
                     "spec": {"capability": {"cpu": str(cpus)}, "parent": parent}}
            status, answer = self._cluster.request("POST", "/apis/scheduling.volcano.sh/v1beta1/queues", queue)
            if status != 201:
                raise ClusterError(f"queue {name}: {answer}")

    def crowd(self):
        """One more, or one less: a little more is asked for than there is room."""
        staying = self._staying()
        if _cpu_milli(staying) < self._capacity * 1.3 or self._random.random() < 0.25:
            self._come()
        else:
            self._random.choice(staying).leaving = True

    def thin(self):
        """Until all that is left fits with room to spare, and into its queues."""
        while _cpu_milli(staying := self._staying()) > self._capacity * 0.6:
            self._random.choice(staying).leaving = True
        for name, (cpus, _) in QUEUES.items():
            while _cpu_milli(staying := self._staying(name)) > cpus * 1000:
                self._random.choice(staying).leaving = True

    def _staying(self, queue=None):
        """Who does not leave; of a queue and of those below it, if one is named."""
        return [wish for wish in self.wishes if not wish.leaving and
                (queue is None or wish.queue and queue in (wish.queue, QUEUES[wish.queue][1]))]

    def _come(self):
        kind, size, cpu = self._random.choice(KINDS), self._random.randint(2, 10), self._random.choice(CPUS)
        self.made += 1
        name = f"{kind.__name__.replace('_', '-')}-{self.made}"
        objects = kind(name, size, cpu, self._random)
        self.wishes.append(Wish(name, objects, size * MILLI[cpu], objects[0][1]["spec"].get("queue", "")))

    def tend(self):
        """Asks for what is not there yet. Asks again later if no answer comes. False: something is left to ask for."""
        for wish in self.wishes:
            try:
                self._go(wish) if wish.leaving else self._make(wish)
            except Down:
                return False
        self.wishes = [wish for wish in self.wishes if wish.gone < len(wish.objects)]
        return all(wish.made == len(wish.objects) and not wish.leaving for wish in self.wishes)

    def _make(self, wish):
        while wish.made < len(wish.objects):
            path, body = wish.objects[wish.made]
            status, answer = self._cluster.request("POST", path, body)
            if status not in (201, 409):  # 409: it was made, and the answer lost
                if status < 500 and status not in (403, 404, 429):  # 403, 404: a server that has just started
                    raise AssertionError(f"POST {path}: {status} {answer}")
                raise Down(f"POST {path}: {status}")
            wish.made += 1

    # Members before their gang: what is left of a gang without its declaration starts as lone pods would.
    def _go(self, wish):
        while wish.gone < len(wish.objects):
            path, body = wish.objects[-1 - wish.gone]
            status, _ = self._cluster.request("DELETE", f"{path}/{body['metadata']['name']}?propagationPolicy=Foreground")
            if status != 404:
                if status >= 300 and status != 409:
                    raise Down(f"DELETE {path}: {status}")
                return  # until it is gone with all its pods
            wish.gone += 1
