# SPDX-License-Identifier: Apache-2.0
"""What the pending pods ask for, and whether they got it."""

import collections
import dataclasses
import re

ALL = ["raw", "client-go", "lone", "gangs", "kube-scheduler"]
LONE = ["raw", "client-go", "lone", "kube-scheduler"]
GANGS = ["raw", "client-go", "gangs", "kube-scheduler"]

ZONES, RACKS, POOLS, APPS = 10, 50, 1000, 80


@dataclasses.dataclass
class Case:
    what: str
    rows: list
    load: dict = dataclasses.field(default_factory=dict)  # flags of the loader
    pods: int | None = None  # of a row on a control plane, if not as many as elsewhere
    gang: int | None = None  # a wave is one of that many, in upstream's PodGroups; kube-scheduler has gangs of its own


CASES = {
    "plain": Case("pods of 100m, 128Mi", ALL),
    "doors": Case("pods of 100m, 128Mi", ["lone", "doors"], pods=32_000),  # a wave lasts long enough to ask several times
    "anti-affinity": Case(f"{APPS} apps, no two pods of one on a node", LONE, {"apps": APPS, "apart": True}),
    "zone-spread": Case(f"{APPS} apps, each spread over {ZONES} zones, maxSkew 1", LONE,
                        {"apps": APPS, "spread": True, "zones": ZONES}),
    "node-affinity": Case(f"{POOLS:,} classes, each with affinity to the nodes of its pool", LONE, {"pooled": True, "pools": POOLS}),
    "gang-512": Case("one gang of 512 one-GPU pods", GANGS, {"pod_gpus": 1}, gang=512),
    "gang-512-rack": Case(f"one gang of 512 one-GPU pods in one of {RACKS} racks", GANGS,
                          {"pod_gpus": 1, "racks": RACKS, "in_rack": True}, gang=512),
}


def check(case, api):
    """What is not where the case lets it be; empty: all is. Nodes and pods tell their domains by their numbers, as the loader made them."""
    number = lambda name: int(re.search(r"\d+$", name)[0])
    pods = [(pod["metadata"]["labels"]["app"], number(pod["metadata"]["name"]), number(pod["spec"]["nodeName"]))
            for pod in api.items("/api/v1/pods")]
    if case.load.get("apart"):
        crowded = [at for at, count in collections.Counter((app, node) for app, _, node in pods).items() if count > 1]
        if crowded:
            return f"two pods of {crowded[0][0]} are on node {crowded[0][1]}"
    if case.load.get("pooled"):
        strayed = [pod for _, pod, node in pods if pod % POOLS != node % POOLS]
        if strayed:
            return f"pod {strayed[0]} is not in its pool"
    if case.load.get("spread"):
        for app in {app for app, _, _ in pods}:
            zones = collections.Counter(node % ZONES for one, _, node in pods if one == app)
            if max(zones.values()) - min(zones[zone] for zone in range(ZONES)) > 1:
                return f"{app} is not spread evenly: {dict(zones)}"
    if case.load.get("in_rack"):
        racks = {node % RACKS for _, _, node in pods}
        if len(racks) > 1:
            return f"the gang is in {len(racks)} racks"
    return ""
