#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What it costs to read /apis/tutti/v1/ of a sim: each list, questions of what-if, watches while nothing happens, and
watches while pods go.

  run.py PATH-TO-TUTTI [NODES [PODS [WATCHES]]]
"""

import http.client
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "support"))

from ports import free_port

NODE = """---
apiVersion: v1
kind: Node
metadata: {name: n-%d, labels: {topology.kubernetes.io/zone: z%d}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
"""
POD = """---
apiVersion: v1
kind: Pod
metadata: {name: p-%d, namespace: default}
spec:
  schedulerName: tutti
  containers: [{name: main, image: busybox, resources: {requests: {cpu: "2"}}}]
"""
GANG = """---
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {name: asked}
spec: {minMember: %d}
"""
MEMBER = """---
apiVersion: v1
kind: Pod
metadata: {name: asked-%d, labels: {scheduling.x-k8s.io/pod-group: asked}}
spec:
  schedulerName: tutti
  containers: [{name: main, image: busybox, resources: {requests: {cpu: "%s"}}}]
"""
QUESTIONS = 200
DELETED = 100
SECONDS = 10


class Sim:
    def __init__(self, binary, folder, nodes, pods):
        manifests = pathlib.Path(folder, "cluster.yaml")
        manifests.write_text("".join(NODE % (i, i % 8) for i in range(nodes)) + "".join(POD % i for i in range(pods)))
        self.url = f"http://127.0.0.1:{free_port()}"
        self.process = subprocess.Popen([binary, "sim", manifests, "--listen", self.url.removeprefix("http://")],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def get(self, path, method="GET", body=None):
        request = urllib.request.Request(self.url + path, method=method, data=body, headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.read()

    def door(self, path):
        return self.get("/apis/tutti/v1/" + path)

    def cpu(self):
        """Seconds of CPU so far."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def ask(self, question):
        """The verdict of the first gang, and the milliseconds that it took."""
        body = json.dumps(question).encode()
        begun = time.monotonic()
        answer = json.loads(self.get("/apis/tutti/v1/whatif", "POST", body))
        return answer["prospects"][0]["verdict"], (time.monotonic() - begun) * 1000

    def until_placed(self, pods):
        while True:
            try:
                if len(json.loads(self.door("gangs?state=whole")).get("gangs", [])) >= pods:
                    return
            except (OSError, http.client.HTTPException):
                pass
            time.sleep(0.5)


def read(stream, counts, i):
    for line in stream:
        counts[i] += line.startswith(b"data:")


def measure_questions(sim):
    def gang(pods, cpu):
        return {"manifests": GANG % pods + "".join(MEMBER % (i, cpu) for i in range(pods))}

    for name, question in (("a gang of 8 that waits", gang(8, "1")), ("a gang of 8 that can never start", gang(8, "100")), ("a gang of 8 that fits", gang(8, "0")),
                           ("a drained node", {"drain": "n-7"})):
        before = sim.cpu()
        answers = [sim.ask(question) for _ in range(QUESTIONS)]
        times = sorted(milliseconds for _, milliseconds in answers)
        print(f"what if: {name:34} {times[len(times) // 2]:8.1f} ms, p99 {times[len(times) * 99 // 100]:8.1f} ms, "
              f"{(sim.cpu() - before) * 1000 / QUESTIONS:8.1f} ms of CPU ({answers[-1][0]})")


def main():
    binary = os.path.abspath(sys.argv[1])
    given = [int(text) for text in sys.argv[2:5]]
    nodes, pods, watches = given + [5000, 20000, 50][len(given):]
    with tempfile.TemporaryDirectory() as folder:
        sim = Sim(binary, folder, nodes, pods)
        try:
            sim.until_placed(min(pods, 2 * nodes))
            print(f"{nodes} nodes, {pods} pods, of which {max(0, pods - 2 * nodes)} wait")
            for path in ("gangs", "gangs?state=whole", "nodes", "queues", f"gangs/default/p-{pods - 1}"):
                begun = time.monotonic()
                size = len(sim.door(path))
                print(f"{path:24} {(time.monotonic() - begun) * 1000:8.1f} ms {size:>12,} bytes")
            measure_questions(sim)
            since = json.loads(sim.door("version"))["sequence"]
            counts = [0] * watches
            for i in range(watches):
                stream = urllib.request.urlopen(f"{sim.url}/apis/tutti/v1/watch?since={since}", timeout=600)
                threading.Thread(target=read, args=(stream, counts, i), daemon=True).start()
            before = sim.cpu()
            time.sleep(SECONDS)
            print(f"{watches} watches, nothing happens: {(sim.cpu() - before) / SECONDS * 100:.2f} % of a core")
            before = sim.cpu()
            for i in range(DELETED):
                sim.get(f"/api/v1/namespaces/default/pods/p-{i}", "DELETE")
            time.sleep(SECONDS / 2)
            print(f"{watches} watches, {DELETED} pods go: {(sim.cpu() - before) * 1000:.0f} ms of CPU, "
                  f"{min(counts)} to {max(counts)} events each")
        finally:
            sim.process.kill()
            sim.process.wait()


if __name__ == "__main__":
    main()
