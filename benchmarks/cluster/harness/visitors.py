# SPDX-License-Identifier: Apache-2.0
"""Visitors of Tutti's doors: each is used by one of them, and all at once.

  console   lists the gangs and follows the stream of their changes; asks for the queues and the nodes
  grpc      follows the same changes over gRPC
  why       asks about one gang, with an estimate, each second
  what-if   asks about a gang of 8 pods, each second
  metrics   reads /metrics and /metrics/queues, each second

They run in a process of their own, which takes little of the machine that they share with what is measured.
"""

import http.client
import json
import os
import signal
import ssl
import subprocess
import sys
import threading
import time

if __name__ != "__main__":
    from .stage import Failure

DOORS = ("console", "grpc", "why", "what-if", "metrics")
EACH_SECONDS = 1.0
RETRY_SECONDS = 0.02
ASKED = "".join("""---
apiVersion: v1
kind: Pod
metadata: {name: asked-%d, namespace: default, labels: {scheduling.x-k8s.io/pod-group: asked}}
spec: {schedulerName: tutti, containers: [{name: main, image: busybox, resources: {requests: {cpu: "1"}}}]}
""" % i for i in range(8)) + """---
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {name: asked, namespace: default}
spec: {minMember: 8}
"""


class Visitors:
    """Wait for the doors at these ports of this machine, and use them until leave()."""

    def __init__(self, port, grpc_port, token, grpc_call):
        self._process = subprocess.Popen([sys.executable, "-B", __file__, str(port), str(grpc_port), str(grpc_call)], text=True,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._process.stdin.write(token + "\n")
        self._process.stdin.flush()
        self._process.stdout.readline()  # they stand at the doors

    def leave(self):
        """Fails unless each door has answered."""
        self._process.terminate()
        answered = json.loads(self._process.communicate()[0])
        unused = [door for door in DOORS if not answered.get(door)]
        if unused:
            raise Failure(f"{', '.join(unused)}: no answer, so not all doors were in use ({answered})")
        print(f"    doors answered: {', '.join(f'{door} {answered[door]}' for door in DOORS)}", file=sys.stderr)

    def close(self):
        self._process.kill()
        self._process.wait()


class Guest:
    """One connection to the door of HTTPS."""

    def __init__(self, port, token):
        self._port, self._tls = port, ssl._create_unverified_context()
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._connection = None

    def open(self, path, body=None):
        """The open answer; waits for a server that is not there yet, or does not lead yet."""
        while True:
            try:
                if not self._connection:
                    self._connection = http.client.HTTPSConnection("127.0.0.1", self._port, context=self._tls, timeout=60)
                self._connection.request("POST" if body else "GET", path, body=body, headers=self._headers)
                answer = self._connection.getresponse()
                if answer.status == 200:
                    return answer
                answer.read()
            except (OSError, http.client.HTTPException):
                self._connection = None
            time.sleep(RETRY_SECONDS)

    def read(self, path, body=None):
        return self.open(path, body).read()


def console(guest, count):
    listed = json.loads(guest.read("/apis/tutti/v1/gangs"))
    for path in ("queues", "nodes"):
        guest.read("/apis/tutti/v1/" + path)
    stream = guest.open(f"/apis/tutti/v1/watch?since={listed['sequence']}")
    while piece := stream.read1(1 << 16):
        count(piece.count(b"\ndata:") + piece.startswith(b"data:"))


def why(guest, count):
    name = json.loads(guest.read("/apis/tutti/v1/gangs"))["gangs"][0]["name"]
    every_second(lambda: guest.read(f"/apis/tutti/v1/gangs/default/{name}?estimate=true"), count)


def what_if(guest, count):
    question = json.dumps({"manifests": ASKED}).encode()
    every_second(lambda: guest.read("/apis/tutti/v1/whatif", question), count)


def metrics(guest, count):
    every_second(lambda: [guest.read(path) for path in ("/metrics", "/metrics/queues")], count)


def every_second(ask, count):
    while True:
        ask()
        count(1)
        time.sleep(EACH_SECONDS)


def over_grpc(guest, port, token, grpc_call, count):
    while True:
        guest.read("/apis/tutti/v1/gangs?state=invalid")  # it answers once it leads
        call = subprocess.Popen([grpc_call, f"127.0.0.1:{port}", token, "tutti.v1.Decisions/Watch", "{}", "sizes"],
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        calls.append(call)
        for _ in call.stdout:
            count(1)
        time.sleep(RETRY_SECONDS)


calls = []


def main():
    port, grpc_port, grpc_call = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    token = sys.stdin.readline().strip()
    answered = dict.fromkeys(DOORS, 0)

    def leave(*_):
        print(json.dumps(answered), flush=True)
        for call in calls:
            call.kill()
        os._exit(0)

    signal.signal(signal.SIGTERM, leave)

    def counter(door):
        def count(number):
            answered[door] += number
        return count

    for door, visit in (("console", console), ("why", why), ("what-if", what_if), ("metrics", metrics)):
        threading.Thread(target=visit, args=(Guest(port, token), counter(door)), daemon=True).start()
    threading.Thread(target=over_grpc, args=(Guest(port, token), grpc_port, token, grpc_call, counter("grpc")), daemon=True).start()
    print("ready", flush=True)
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
