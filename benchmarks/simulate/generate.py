#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes manifests for `tutti simulate`: nodes with GPUs, and gangs of pods that come, run and end.

    generate.py --nodes 200 --gangs 100 > load.yaml

Nodes have 8 GPUs each. A gang is a Volcano PodGroup with minMember and that many bare pods of one GPU. With --over,
the gangs come one after another within that time. The same arguments give the same bytes.
"""
import argparse
import random
import sys

NODE = """\
apiVersion: v1
kind: Node
metadata:
  name: node-{i:05}
status:
  allocatable: {{cpu: "96", memory: 1024Gi, nvidia.com/gpu: "{gpus}", pods: "110"}}
---
"""

GANG = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata:
  name: gang-{i:05}
  annotations: {{sim.tutti.dev/arrive-at: {at}s}}
spec:
  minMember: {size}
---
"""

POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: gang-{i:05}-{member}
  annotations:
    scheduling.k8s.io/group-name: gang-{i:05}
    sim.tutti.dev/arrive-at: {at}s
    sim.tutti.dev/run-for: {run}s
spec:
  schedulerName: tutti
  restartPolicy: Never
  containers:
  - name: worker
    image: worker
    resources:
      requests: {{cpu: "4", memory: 16Gi}}
      limits: {{nvidia.com/gpu: "{gpus}"}}
---
"""


def generate(args, out):
    rng = random.Random(args.seed)
    for i in range(args.nodes):
        out.write(NODE.format(i=i, gpus=args.node_gpus))
    for i in range(args.gangs):
        at = i * args.over // args.gangs
        out.write(GANG.format(i=i, at=at, size=args.size))
        for member in range(args.size):
            run = args.run + rng.randrange(args.spread + 1)
            out.write(POD.format(i=i, member=member, at=at, run=run, gpus=args.pod_gpus))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=200)
    parser.add_argument("--gangs", type=int, default=100)
    parser.add_argument("--size", type=int, default=8, help="members of a gang")
    parser.add_argument("--over", type=int, default=0, help="seconds within which the gangs come")
    parser.add_argument("--run", type=int, default=600, help="seconds that a pod runs, at least")
    parser.add_argument("--spread", type=int, default=0, help="seconds that it may run longer, each pod for itself")
    parser.add_argument("--node-gpus", type=int, default=8)
    parser.add_argument("--pod-gpus", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    generate(parser.parse_args(), sys.stdout)


if __name__ == "__main__":
    main()
