#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a trace of the shape of a public GPU cluster's: FOLDER/nodes.csv and FOLDER/pods.csv.

Most nodes have 2 or 8 GPUs of one of some models, some have none. Most pods ask for a share of a GPU, or one; a few
for 8; one in ten for a model. They come at random, and run for minutes or days. The same arguments give the same bytes.
"""
import argparse
import csv
import os
import random

NODES = "sn,cpu_milli,memory_mib,gpu,model".split(",")
PODS = ("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,"
        "scheduled_time").split(",")
MODELS = {"P100": 2, "T4": 2, "V100M32": 8, "G2": 8}


def write(path, fields, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(fields)
        out.writerows(rows)


def make_node(rng, i):
    if rng.random() < 0.2:
        return [f"trace-node-{i:04}", 94000, 262144, 0, ""]
    model = rng.choice(list(MODELS))
    return [f"trace-node-{i:04}", 96000, 786432, MODELS[model], model]


def make_pod(rng, i, seconds):
    kind = rng.random()
    count, milli = (0, 0) if kind < 0.15 else (1, rng.choice([250, 460, 500])) if kind < 0.5 else (
        (1, 1000) if kind < 0.95 else (8, 1000))
    spec = "V100M32|G2" if count == 8 else rng.choice(["P100", "T4|P100"]) if count and rng.random() < 0.1 else ""
    created = rng.randrange(seconds)
    scheduled = created + rng.randrange(3)
    ran = 60 + int(rng.expovariate(1 / (seconds / 20)))
    return [f"trace-pod-{i:04}", 4000 * max(1, count), 16384 * max(1, count), count, milli, spec,
            rng.choice(["LS", "BE", "Burstable"]), "Running", created, scheduled + ran, scheduled]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--nodes", type=int, default=1500)
    parser.add_argument("--pods", type=int, default=8000)
    parser.add_argument("--seconds", type=int, default=86400, help="within which the pods come")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    os.makedirs(args.folder, exist_ok=True)
    write(os.path.join(args.folder, "nodes.csv"), NODES, [make_node(rng, i) for i in range(args.nodes)])
    write(os.path.join(args.folder, "pods.csv"), PODS, [make_pod(rng, i, args.seconds) for i in range(args.pods)])


if __name__ == "__main__":
    main()
