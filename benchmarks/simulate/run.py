#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `tutti simulate` takes on clusters of several sizes: a table. Arguments: the binary, and perhaps a row's number.

The input is made by the script that a row names, or by make_trace.py and scripts/trace-to-manifests. Seconds are those of the processor,
in user mode: so other work on the machine counts little. Ends with 1 if a simulation fails or takes too long.
"""
import os
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TRACE_TO_MANIFESTS = os.path.join(HERE, "..", "..", "scripts", "trace-to-manifests")
TIMEOUT = 500

# What, the generator and its arguments, seconds before, seconds to reach. Before: each pod of a template was read,
# defaulted, validated and decoded by itself; on the same busy machine as the figures of ../README.md.
ROWS = [
    ("200 nodes, 100 gangs of 8", "generate.py --nodes=200 --gangs=100 --over=600 --spread=600", 0.17, 0.1),
    ("400 nodes, 400 gangs of 8", "generate.py --nodes=400 --gangs=400 --over=600 --spread=600", 0.75, 0.3),
    ("800 nodes, 800 gangs of 8", "generate.py --nodes=800 --gangs=800 --over=600 --spread=600", 1.57, 0.6),
    ("5,000 nodes, 2,500 gangs of 8 within an hour", "generate.py --nodes=5000 --gangs=2500 --over=3600", 3.84, 5),
    ("a trace: 1,500 nodes, 8,000 pods", "make_trace.py", 2.56, 5),
    ("10,000 AppWrappers of a RayCluster each", "generate_appwrappers.py --room=10000", 22, 5),
    ("... with room for 500 at a time, 10 minutes each", "generate_appwrappers.py --room=500 --run=600", None, 5),
    ("Kueue's own load: 15,000 Jobs of three sizes", "generate_workloads.py --cohorts=5 --queues=6", None, 20),
]


def make(generator, folder):
    path = os.path.join(folder, "input")
    script, *arguments = generator.split()
    command = [sys.executable, os.path.join(HERE, script), *arguments]
    with open(path, "w", encoding="utf-8") as out:
        if script != "make_trace.py":
            subprocess.run(command, stdout=out, check=True)
        else:
            subprocess.run([*command, folder], check=True)
            files = [os.path.join(folder, name) for name in ("nodes.csv", "pods.csv")]
            subprocess.run([sys.executable, TRACE_TO_MANIFESTS, *files], stdout=out, check=True)
    return path


def measure(binary, path):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([binary, "simulate", path, "--until", "1000h", "-o", "json"], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True, timeout=TIMEOUT)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def main():
    binary = sys.argv[1]
    rows = [ROWS[int(sys.argv[2]) - 1]] if len(sys.argv) > 2 else ROWS
    failed = False
    print("| case | before | now | to reach | |\n| --- | --- | --- | --- | --- |")
    for what, generator, before, goal in rows:
        with tempfile.TemporaryDirectory() as folder:
            try:
                seconds = measure(binary, make(generator, folder))
                now, verdict = f"{seconds:.2f}", "reached" if seconds <= goal else "not reached"
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
                now, verdict, failed = "-", type(error).__name__, True
        was = "-" if before is None else f"{before} s"
        print(f"| {what} | {was} | {now} s | {goal} s | {verdict} |", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
