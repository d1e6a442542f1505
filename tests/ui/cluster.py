# SPDX-License-Identifier: Apache-2.0
"""A made-up cluster as the messages of tutti.v1: nodes in racks, queues, gangs that run and gangs that wait.

It is for tests of the console alone. The same numbers give the same cluster.
"""

import datetime
import random

GPU = "nvidia.com/gpu"
GIB = 1 << 30
QUEUES = {"research": 0.35, "production": 0.3, "batch": 0.2, "vision": 0.15}
JOBS = ("llama-sft", "llama-pretrain", "rlhf-ppo", "resnet-ddp", "vit-large", "eval-suite", "embed-index", "asr-train", "diffusion", "moe-8x")
NAMESPACES = ("team-nlp", "team-vision", "team-speech", "platform", "default")


def stamp(now, seconds_ago=0):
    return (now - datetime.timedelta(seconds=seconds_ago)).strftime("%Y-%m-%dT%H:%M:%SZ")


def key(gang):
    return gang["dialect"], gang["namespace"], gang["name"]


def name_of(gang):
    return {"dialect": gang["dialect"], "namespace": gang["namespace"], "name": gang["name"]}


def amounts(pods, gpus):
    """The sum of what so many pods ask for, each with so many GPUs."""
    return {GPU: str(pods * gpus), "cpu": str(pods * gpus * 8000), "memory": str(pods * gpus * 64 * GIB)}


class Cluster:
    def __init__(self, nodes=96, gangs=120, seed=1, queues=QUEUES, busy=0.86):
        self.random = random.Random(seed)
        self.now = datetime.datetime.now(datetime.timezone.utc)
        self.shares = dict(queues)
        self.nodes = {}
        self.gangs = {}
        self.members = {}
        self.used = {}  # GPUs, by queue
        for i in range(nodes):
            self.add_node(i)
        self.free = list(self.nodes)
        self.random.shuffle(self.free)
        keep = int(len(self.free) * (1 - busy))
        number = 0
        while len(self.gangs) < gangs:
            number += 1
            if len(self.free) > keep:
                self.add_running(number)
            else:
                self.add_waiting(number)
        self.number_lines()

    def add_node(self, i):
        rack = i // 16
        all_of = {GPU: "8", "cpu": "96000", "memory": str(768 * GIB), "pods": "110"}
        name = f"gpu-{i + 1:03}"
        self.nodes[name] = {
            "name": name, "allocatable": all_of, "requested": {}, "free": dict(all_of), "ready": i != 37, "unschedulable": i in (5, 70),
            "taints": [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}] if i in (5, 70) else [],
            "labels": {"topology.kubernetes.io/zone": f"zone-{'ab'[rack % 2]}", "topology.kubernetes.io/rack": f"rack-{rack + 1:02}",
                       "kubernetes.io/hostname": name, "node.kubernetes.io/instance-type": "hgx-h100"},
            "holders": [], "others": {"cpu": "2000", "memory": str(4 * GIB)}}
        self.take(self.nodes[name], self.nodes[name]["others"])

    @staticmethod
    def take(node, what):
        for resource, value in what.items():
            node["requested"][resource] = str(int(node["requested"].get(resource, 0)) + int(value))
            node["free"][resource] = str(int(node["free"][resource]) - int(value))

    def gang(self, number, pods, gpus, state, queue=None):
        pick = self.random
        job, namespace = pick.choice(JOBS), pick.choice(NAMESPACES)
        queue = queue or pick.choices(list(self.shares), self.shares.values())[0]
        ago = pick.randint(40, 6 * 3600)
        return {
            "dialect": pick.choice(("kuberay", "volcano", "kubeflow")), "namespace": namespace, "name": f"{job}-{number:03}", "schedulerName": "tutti",
            "queue": queue, "priority": pick.choice((0, 0, 0, 10, 100)), "minMember": pods, "state": state, "since": stamp(self.now, ago),
            "created": stamp(self.now, ago + pick.randint(1, 90)), "members": pods, "requests": amounts(pods, gpus)}

    def add(self, gang, pods, gpus, nodes):
        message = gang.get("message", "")
        self.gangs[key(gang)] = gang
        self.members[key(gang)] = [
            {"namespace": gang["namespace"], "name": f"{gang['name']}-{i}", "uid": f"u-{gang['name']}-{i}", "role": "head" if i == 0 and pods > 1 else "worker",
             "requests": amounts(1, gpus), **({"node": nodes[i], "bound": True} if nodes else {"reason": "Unschedulable", "message": message})}
            for i in range(pods)]
        gang["roles"] = [{"name": role, "members": count, "bound": count if nodes else 0}
                         for role, count in (("head", 1), ("worker", pods - 1)) if count > 0 and pods > 1]

    def add_running(self, number, fresh=False):
        gpus = self.random.choice((8, 8, 8, 4, 2))
        pods = min(len(self.free), self.random.choice((1, 2, 4, 4, 8, 12)))
        nodes = [self.free.pop() for _ in range(pods)]
        gang = self.gang(number, pods, gpus, "whole", self.roomiest(pods * gpus))
        gang.update(bound=pods, reason="Whole")
        if fresh:
            gang.update(since=stamp(self.now), created=stamp(self.now))
        self.add(gang, pods, gpus, nodes)
        for node in nodes:
            what = {**amounts(1, gpus)}
            self.nodes[node]["holders"].append({"gang": name_of(gang), "queue": gang["queue"], "priority": gang["priority"], "pods": 1, "amounts": what})
            self.take(self.nodes[node], what)

    def add_waiting(self, number):
        pods, gpus = self.random.choice((2, 4, 8, 16, 32)), 8
        why = self.random.choices(("nodes", "queue", "members", "problem"), (10, 6, 2, 1))[0]
        state = {"nodes": "waiting-for-nodes", "queue": "waiting-for-queue", "members": "waiting-for-members", "problem": "invalid"}[why]
        gang = self.gang(number, pods, gpus, state)
        name, fit = f"{gang['namespace']}/{gang['name']}", self.random.randint(0, pods - 1)
        if why == "nodes":
            gang["message"] = (f"gang {name} waits: {fit} of its {pods} pods fit now (head 1/1, worker {max(0, fit - 1)}/{pods - 1}). Missing: {8 * (pods - fit)} {GPU}."
                               f"\n0/{len(self.nodes)} nodes are available: {len(self.nodes)} Insufficient {GPU}.")
            gang["why"] = {"kind": "nodes", "minimum": {"members": pods, "exist": pods}, "nodes": {
                "needed": pods, "fit": fit, "count": "exact", "nodes": len(self.nodes), "refused": {f"Insufficient {GPU}": len(self.nodes)},
                "short": [{"resource": GPU, "missing": str(8 * (pods - fit)), "asked": str(8 * pods), "cluster": str(8 * len(self.nodes)), "largestNode": "8",
                           **({"needsMoreNodes": True} if pods > len(self.nodes) else {})}]}}
            gang["reason"] = "NoPlacement"
        elif why == "queue":
            limit = self.limit(gang["queue"])
            gang["message"] = f"gang {name} cannot start: queue {gang['queue']} would have {limit + 8 * pods} {GPU} of {limit}."
            gang["why"] = {"kind": "queue", "minimum": {"members": pods, "exist": pods}, "queue": {"limitedBy": "capability", "cells": [
                {"queue": gang["queue"], "resource": GPU, "limit": str(limit), "used": str(limit), "asked": str(8 * pods), "short": str(8 * pods)}]}}
            gang["reason"] = "QueueFull"
        elif why == "members":
            gang["message"] = f"gang {name} needs {pods} members, and {fit} exist."
            gang["why"] = {"kind": "members", "minimum": {"members": pods, "exist": fit}, "members": {}}
            gang["reason"] = "NotEnoughMembers"
        else:
            gang["message"] = f"gang {name}: spec.minMember is above the number of its pods"
            gang["why"] = {"kind": "problem", "problem": gang["message"]}
            gang["reason"] = "Invalid"
        if why in ("nodes", "queue"):
            gang["position"] = 1
        self.add(gang, pods, gpus, None)

    def turn(self, pick, number):
        """A gang that ran ends, its nodes go to a new one, and another begins to wait: (changed gangs, gone gangs)."""
        self.now = datetime.datetime.now(datetime.timezone.utc)
        before = set(self.gangs)
        gone = []
        running = [gang for gang in self.gangs.values() if gang["state"] == "whole"]
        if running and pick.random() < 0.8:
            gang = pick.choice(running)
            self.end(gang)
            gone.append(gang)
        while len(self.free) > len(self.nodes) // 6:
            number += 10_000
            self.add_running(number, fresh=True)
        if pick.random() < 0.4:
            self.add_waiting(number)
        self.number_lines()
        return [gang for name, gang in self.gangs.items() if name not in before], gone

    def end(self, gang):
        del self.gangs[key(gang)]
        for member in self.members.pop(key(gang)):
            node = self.nodes[member["node"]]
            node["holders"] = [holder for holder in node["holders"] if holder["gang"] != name_of(gang)]
            self.take(node, {resource: -int(value) for resource, value in member["requests"].items()})
            self.free.append(member["node"])
        self.used[gang["queue"]] -= int(gang["requests"][GPU])

    def roomiest(self, gpus):
        """The queue that has most of its limit left, and takes the GPUs from it."""
        best = max(self.shares, key=lambda queue: self.limit(queue) - self.used.get(queue, 0))
        self.used[best] = self.used.get(best, 0) + gpus
        return best

    def limit(self, queue):
        return round(len(self.nodes) * self.shares[queue]) * 8

    def line(self, queue):
        waiting = [gang for gang in self.gangs.values() if gang["queue"] == queue and gang.get("position")]
        return sorted(waiting, key=lambda gang: (-gang["priority"], gang["created"], gang["namespace"], gang["name"]))

    def number_lines(self):
        for queue in self.shares:
            line = self.line(queue)
            for position, gang in enumerate(line, start=1):
                gang.update(position=position, line=len(line))

    def whole(self, name):
        """The answer about one gang."""
        gang = self.gangs[name]
        lacks = GPU if gang.get("why", {}).get("nodes") else None
        holders = {}
        for node in self.nodes.values() if lacks else ():
            for holder in node["holders"]:
                one = holders.setdefault(key(holder["gang"]), {**holder, "pods": 0, "amounts": {GPU: "0"}})
                one["pods"] += 1
                one["amounts"] = {GPU: str(int(one["amounts"][GPU]) + int(holder["amounts"][GPU]))}
        most = sorted(holders.values(), key=lambda one: -int(one["amounts"][GPU]))[:5]
        whole = {**gang, "memberList": self.members[name], "holders": most}
        if gang["state"].startswith("waiting"):
            whole["start"] = {"basis": "declared", "at": "2100-01-01T00:00:00Z", "message": "At the latest then."}
        return whole

    def history(self, name):
        gang = self.gangs[name]
        events = [{"at": gang["created"], "step": "waits", "reason": "NotEnoughMembers", "message": f"{gang['members']} members are needed", "times": 2,
                   "last": gang["since"]}]
        if gang.get("bound"):
            events += [{"at": gang["since"], "step": "bound", "pod": member["name"], "node": member["node"]} for member in self.members[name]]
            events.append({"at": gang["since"], "step": "started", "members": gang["members"], "seconds": 0.4})
        elif gang.get("message"):
            events.append({"at": gang["since"], "step": "waits", "reason": gang["reason"], "message": gang["message"], "queue": gang["queue"]})
        return {"gang": name_of(gang), "wholeFrom": stamp(self.now, 8 * 3600), "events": events}

    def queues(self):
        whole = 8 * len(self.nodes)
        answer = [{"dialect": "volcano", "name": "root", "kind": "queue", "state": "open", "gangs": {},
                   "cells": [{"resource": GPU, "limit": str(whole), "used": "0"}, {"resource": "cpu", "limit": str(whole * 12000), "used": "0"}]}]
        totals = {GPU: 0, "cpu": 0}
        for queue in self.shares:
            used = {GPU: 0, "cpu": 0, "memory": 0}
            pending = dict(used)
            counts = {"pending": 0, "running": 0, "incomplete": 0}
            for gang in self.gangs.values():
                if gang["queue"] != queue:
                    continue
                running = gang["state"] == "whole"
                for resource in used:
                    (used if running else pending)[resource] += int(gang["requests"][resource])
                counts["running" if running else "incomplete" if gang["state"] == "waiting-for-members" else "pending"] += 1
            limit = self.limit(queue)
            for resource in totals:
                totals[resource] += used[resource]
            answer.append({
                "dialect": "volcano", "name": queue, "kind": "queue", "parent": "root", "state": "closed" if queue == "vision" else "open", "weight": 1,
                "reclaimable": True, "share": used[GPU] / max(1, limit), "gangs": counts,
                "cells": [{"resource": GPU, "limit": str(limit), "deserved": str(limit * 3 // 4), "used": str(used[GPU]), "pending": str(pending[GPU])},
                          {"resource": "cpu", "limit": str(limit * 12000), "used": str(used["cpu"]), "pending": str(pending["cpu"])},
                          {"resource": "memory", "used": str(used["memory"]), "pending": str(pending["memory"])}],
                "line": [{"position": gang["position"], "gang": name_of(gang), "priority": gang["priority"], "reason": gang["reason"]} for gang in self.line(queue)[:10]]})
        for cell in answer[0]["cells"]:
            cell["used"] = str(totals[cell["resource"]])
        return {"queues": answer}

    def list_nodes(self):
        return {"nodes": list(self.nodes.values()), "levels": ["topology.kubernetes.io/zone", "topology.kubernetes.io/rack", "kubernetes.io/hostname"]}
