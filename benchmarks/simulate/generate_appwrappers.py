#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes manifests for `tutti simulate`: nodes with 8 GPUs, and AppWrappers that wrap a RayCluster each.

    generate_appwrappers.py --wrappers 10000 --room 500 > load.yaml

A RayCluster has a head, and a worker with one GPU. There is room for --room of them at a time, each is taken away --run
seconds after it was dispatched, and then the next one has its turn. Without --run they stay. The same arguments give
the same bytes.
"""
import argparse
import json
import sys

GPUS = 8


def group(container, requests):
    resources = {"requests": requests, "limits": requests}
    return {"rayStartParams": {},
            "template": {"spec": {"containers": [{"name": container, "image": "ray", "resources": resources}]}}}


def node(i):
    resources = {"cpu": "64", "memory": "256Gi", "nvidia.com/gpu": str(GPUS), "pods": "110"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-{i:05}"},
            "status": {"allocatable": resources}}


def ray_cluster(i):
    worker = {"groupName": "workers", "replicas": 1, "minReplicas": 1, "maxReplicas": 1,
              **group("worker", {"cpu": "4", "nvidia.com/gpu": "1"})}
    return {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": f"ray-{i:05}"},
            "spec": {"headGroupSpec": group("head", {"cpu": "2"}), "workerGroupSpecs": [worker]}}


def app_wrapper(i, run):
    spec = {"resources": {"GenericItems": [{"replicas": 1, "generictemplate": ray_cluster(i)}]}}
    if run > 0:
        spec["schedulingSpec"] = {"minAvailable": 0, "dispatchDuration": {"limit": run}}
    return {"apiVersion": "mcad.ibm.com/v1beta1", "kind": "AppWrapper", "metadata": {"name": f"wrapper-{i:05}"},
            "spec": spec}


def generate(args, out):
    for i in range(-(-args.room // GPUS)):
        out.write(json.dumps(node(i)) + "\n---\n")
    for i in range(args.wrappers):
        out.write(json.dumps(app_wrapper(i, args.run)) + "\n---\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wrappers", type=int, default=10000)
    parser.add_argument("--room", type=int, default=500, help="RayClusters for which there is room, rounded up to nodes")
    parser.add_argument("--run", type=int, default=0, help="seconds from the dispatch until it is taken away; 0: it stays")
    generate(parser.parse_args(), sys.stdout)


if __name__ == "__main__":
    main()
