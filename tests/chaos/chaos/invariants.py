# SPDX-License-Identifier: Apache-2.0
"""What must hold of a cluster at rest, judged from objects as `kubectl get -o json` prints them, and from nothing else."""

import collections
import dataclasses
import json

from runner.quantity import milli

VOLCANO, PLUGINS = "scheduling.volcano.sh", "scheduling.x-k8s.io"
KINDS = ["nodes", "pods", f"queues.{VOLCANO}", f"podgroups.{VOLCANO}", f"podgroups.{PLUGINS}", "rayclusters.ray.io"]
BIND = "tutti.dev/bind"
DONE = ("Succeeded", "Failed")


def requests(pod):
    """What the pod takes of a node, in thousandths: its containers together, or the largest of those that run before."""
    def asked(container):
        return {name: milli(amount) for name, amount in container.get("resources", {}).get("requests", {}).items()}

    total = collections.Counter(pods=1000)
    for container in pod["spec"]["containers"]:
        total.update(asked(container))
    for container in pod["spec"].get("initContainers", []):
        total |= collections.Counter(asked(container))
    return total


def node_of(pod):
    return pod["spec"].get("nodeName", "")


def label(pod, name):
    return pod["metadata"].get("labels", {}).get(name, "")


def annotation(pod, name):
    return pod["metadata"].get("annotations", {}).get(name, "")


def deleting(pod):
    return "deletionTimestamp" in pod["metadata"]


def condition(pod, kind):
    return next((c for c in pod.get("status", {}).get("conditions", []) if c["type"] == kind), {})


def name_of(pod):
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


@dataclasses.dataclass
class Gang:
    """Members that start together. `minimum` and the members' roles: {role: count}; one role "" where roles do not matter."""
    name: str
    minimum: dict
    queue: str = ""
    members: list = dataclasses.field(default_factory=list)

    def count(self, chosen):
        return collections.Counter(self.role(pod) for pod in self.members if chosen(pod))

    def role(self, pod):
        if "" in self.minimum:
            return ""
        return "headgroup" if label(pod, "ray.io/node-type") == "head" else label(pod, "ray.io/group")

    def covers(self, count):
        return all(count[role] >= least for role, least in self.minimum.items())


class World:
    """One look at the cluster: {resource: [objects]}."""

    def __init__(self, lists):
        self.nodes = {node["metadata"]["name"]: node for node in lists["nodes"]}
        self.pods = [pod for pod in lists["pods"] if pod["spec"].get("schedulerName") == "tutti"]
        self.others = [pod for pod in lists["pods"] if pod["spec"].get("schedulerName") != "tutti"]
        self.queues = {queue["metadata"]["name"]: queue["spec"] for queue in lists[f"queues.{VOLCANO}"]}
        self.gangs = {}
        for group in (VOLCANO, PLUGINS):
            for item in lists[f"podgroups.{group}"]:
                self._declare(group, item, {"": item["spec"].get("minMember", 1)})
        for item in lists["rayclusters.ray.io"]:
            least = {"headgroup": 1}
            for workers in item["spec"].get("workerGroupSpecs", []):
                least[workers["groupName"]] = workers.get("replicas", 0)
            self._declare("ray.io", item, least)
        for pod in self.pods:
            self._join(pod)

    def _declare(self, group, item, minimum):
        key = group, item["metadata"]["namespace"], item["metadata"]["name"]
        self.gangs[key] = Gang("/".join(key), minimum, item["spec"].get("queue", ""))

    def _join(self, pod):
        names = {VOLCANO: annotation(pod, "scheduling.k8s.io/group-name"),
                 PLUGINS: label(pod, "scheduling.x-k8s.io/pod-group"), "ray.io": label(pod, "ray.io/cluster")}
        group = next((group for group, name in names.items() if name), None)
        if group is None:
            key, gang = ("pod", name_of(pod)), Gang(name_of(pod), {"": 1})
        else:
            key = group, pod["metadata"]["namespace"], names[group]
            # Its declaration is gone, or was never there: such members may wait, and are no gang.
            gang = Gang("/".join(key), {"": 0})
        self.gangs.setdefault(key, gang).members.append(pod)

    # A member counts as started on a node that exists, or when it has done its work.
    def started(self, pod):
        phase = pod.get("status", {}).get("phase")
        return phase == "Succeeded" or (node_of(pod) in self.nodes and phase != "Failed" and not deleting(pod))

    def whole(self, gang):
        return gang.covers(gang.count(self.started))

    def waiting(self, gang):
        return [pod for pod in gang.members
                if not node_of(pod) and not deleting(pod) and pod.get("status", {}).get("phase") not in DONE]

    def free(self):
        """{node: room} of the nodes that take new pods."""
        room = {name: collections.Counter({r: milli(q) for r, q in node["status"].get("allocatable", {}).items()})
                for name, node in self.nodes.items()}
        for pod in self.pods + self.others:
            if node_of(pod) in room and pod.get("status", {}).get("phase") not in DONE:
                room[node_of(pod)].subtract(requests(pod))
        return room

    def above(self, queue):
        """The queue itself, and those that it is a part of."""
        while queue in self.queues:
            yield queue
            queue = self.queues[queue].get("parent", "")

    def quota(self):
        """{queue: what is left of its capability}, of what it limits. Who is being deleted needs none."""
        left = {name: collections.Counter({r: milli(q) for r, q in spec.get("capability", {}).items()})
                for name, spec in self.queues.items()}
        for gang in self.gangs.values():
            held = [pod for pod in gang.members if node_of(pod) and not deleting(pod) and pod["status"].get("phase") not in DONE]
            for queue in self.above(gang.queue):
                for pod in held:
                    left[queue].subtract({r: amount for r, amount in requests(pod).items() if r in left[queue]})
        return left

    def fullest(self):
        """The largest share of a capability that is held."""
        left = self.quota()
        return max((1 - left[name][r] / milli(q) for name, spec in self.queues.items()
                    for r, q in spec.get("capability", {}).items()), default=0.0)

    def open(self, node):
        spec = self.nodes[node]["spec"]
        return not spec.get("unschedulable") and not [t for t in spec.get("taints", []) if t["effect"] != "PreferNoSchedule"]


def overcommitted(world):
    """No node over its allocatable."""
    for name, room in world.free().items():
        short = {resource: -left for resource, left in room.items() if left < 0}
        if short:
            yield f"node {name} holds more than it has: over by {short} (thousandths)"


def over_capability(world):
    """No queue that holds more than its capability."""
    for name, left in world.quota().items():
        short = {resource: -amount for resource, amount in left.items() if amount < 0}
        if short:
            yield f"queue {name} holds more than its capability: over by {short} (thousandths)"


def _half_done(world):
    """((gang, plan), what is wrong) of those whose members are bound by a plan of which the last bind is missing."""
    for gang in world.gangs.values():
        unbound = {pod["metadata"]["uid"] for pod in world.waiting(gang)}
        for pod in gang.members:
            evidence = json.loads(annotation(pod, BIND) or "{}")
            own = evidence.get("uid") == pod["metadata"]["uid"] and evidence.get("node") == node_of(pod)
            if own and not deleting(pod) and evidence["commit"] in unbound:
                yield ((gang.name, evidence["plan"]),
                       f"gang {gang.name} is half bound: {name_of(pod)} is on {node_of(pod)}, the last of its plan is not")
                break


def half_done(world):
    """No gang in between."""
    return (text for _, text in _half_done(world))


def _half_undone(world):
    """(its UID, what is wrong) of each member that was marked for eviction and is still there."""
    for pod in world.pods:
        mark = condition(pod, "DisruptionTarget")
        if mark.get("status") == "True" and mark.get("reason") == "GangNotWhole" and not deleting(pod):
            yield pod["metadata"]["uid"], f"pod {name_of(pod)} is marked for eviction, and not evicted"


def half_undone(world):
    return (text for _, text in _half_undone(world))


class Patience:
    """What is in between may be so for a while, and no longer."""

    def __init__(self, seconds):
        self._seconds, self._since, self._told = seconds, {}, set()

    def overdue(self, world, now):
        """What is wrong with those that have been in between for longer; of each it is said once."""
        between = {**dict(_half_done(world)), **dict(_half_undone(world))}
        self._since = {key: self._since.get(key, now) for key in between}
        late = [key for key, since in self._since.items() if now - since > self._seconds and key not in self._told]
        self._told.update(late)
        return [f"for more than {self._seconds} s: {between[key]}" for key in late]


def silent(world):
    """No pod that waits without a reason."""
    for gang in world.gangs.values():
        for pod in world.waiting(gang):
            said = condition(pod, "PodScheduled")
            if said.get("status") != "False" or not said.get("reason") or not said.get("message"):
                yield f"pod {name_of(pod)} waits and does not say why"


def _times(room, ask):
    """How often `ask` goes into `room`."""
    return min(max(room[resource], 0) // amount for resource, amount in ask.items() if amount > 0)


def fits(rooms, asks):
    """Whether all asks go into the rooms. Exact for asks of one size, and for one that differs from the rest."""
    if not asks:
        return True
    sizes = collections.Counter(tuple(sorted(ask.items())) for ask in asks)
    most = dict(max(sizes, key=sizes.get))
    rest = [ask for ask in asks if dict(ask) != most]
    assert len(rest) <= 1, "a gang of more sizes than this can judge"
    count = len(asks) - len(rest)
    if not rest:
        return sum(_times(room, most) for room in rooms) >= count
    for chosen, room in enumerate(rooms):
        if _times(room, rest[0]) > 0:
            left = collections.Counter(room)
            left.subtract(rest[0])
            if sum(_times(left if i == chosen else other, most) for i, other in enumerate(rooms)) >= count:
                return True
    return False


def waits_though_it_fits(world):
    """Nothing waits that would fit, nodes and queues: neither a gang that has not started, nor a member of one that has."""
    rooms = [room for name, room in world.free().items() if world.open(name)]
    quota = world.quota()

    def room_for(gang, asks):
        together = sum(asks, collections.Counter())
        left = [quota[queue] for queue in world.above(gang.queue)]
        return all(together[r] <= amount for limits in left for r, amount in limits.items()) and fits(rooms, asks)

    for gang in world.gangs.values():
        pending = world.waiting(gang)
        if not pending:
            continue
        if world.whole(gang) or gang.count(world.started):
            alone = next((pod for pod in pending if room_for(gang, [requests(pod)])), None)
            if alone:
                yield f"pod {name_of(alone)} of gang {gang.name}, which has started, waits though there is room for it"
            continue
        chosen = []
        for role, least in gang.minimum.items():
            chosen += [pod for pod in pending if gang.role(pod) == role][:least]
        if len(chosen) == sum(gang.minimum.values()) and room_for(gang, [requests(pod) for pod in chosen]):
            yield f"gang {gang.name} waits though there is room for its {len(chosen)} members"


def not_whole(world):
    """With room for all: every gang is whole, and no pod waits."""
    for gang in world.gangs.values():
        if not world.whole(gang):
            yield f"gang {gang.name} is not whole: {dict(gang.count(world.started))} of {gang.minimum}"
        for pod in world.waiting(gang):
            yield f"pod {name_of(pod)} waits though there is room for all"


ALWAYS = [overcommitted, over_capability]
AT_REST = [*ALWAYS, half_done, half_undone, silent, waits_though_it_fits]
WITH_ROOM = [*AT_REST, not_whole]


def violations(world, invariants):
    return [text for invariant in invariants for text in invariant(world)]
