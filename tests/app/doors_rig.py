# SPDX-License-Identifier: Apache-2.0
"""What tests of /apis/tutti/v1/ and of `kubectl tutti` ask: an embedded cluster with gangs, and a scheduler that knows
its users.
"""

import json
import pathlib
import subprocess
import sys
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import serving
from ports import free_port
from reviews import Reviews
from serving import SECONDS, eventually, fetch, open_url

TUTTI = None
DOOR = "/apis/tutti/v1/"

CLUSTER = """
apiVersion: v1
kind: Node
metadata: {name: node-1, labels: {topology.kubernetes.io/zone: a, unrelated: x}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Node
metadata: {name: node-2, labels: {topology.kubernetes.io/zone: a}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: research}
spec: {capability: {cpu: "16"}, weight: 1}
---
apiVersion: v1
kind: Namespace
metadata: {name: other}
"""
GANG = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: %(name)s, namespace: %(ns)s}
spec: {minMember: %(pods)d, queue: research}
"""
MEMBER = """---
apiVersion: v1
kind: Pod
metadata: {name: %(name)s-%(i)d, namespace: %(ns)s, annotations: {scheduling.k8s.io/group-name: %(name)s}}
spec:
  schedulerName: tutti
  containers: [{name: main, image: busybox, resources: {requests: {cpu: "%(cpu)s"}}}]
"""


def gang(name, pods, cpu, ns="default"):
    values = {"name": name, "ns": ns, "pods": pods, "cpu": cpu}
    return GANG % values + "".join(MEMBER % {**values, "i": i} for i in range(pods))


class Events:
    """A reader of Server-Sent Events."""

    def __init__(self, url, headers=None):
        self.answer = open_url(urllib.request.Request(url, headers=headers or {}))
        assert self.answer.headers["Content-Type"] == "text/event-stream", self.answer.headers

    def next(self):
        """{"event", "id", "data"}, or None at the end."""
        event = {}
        for line in self.answer:
            line = line.decode().rstrip("\n")
            if not line and event:
                event["data"] = json.loads(event["data"])
                return event
            name, _, value = line.partition(": ")
            event[name] = value
        return None

    def until(self, wanted):
        """The first event for which `wanted` is true."""
        while event := self.next():
            if "id" in event:
                assert event["data"]["sequence"] == event["id"], event
            if wanted(event):
                return event
        raise AssertionError("the stream ended")

    def close(self):
        self.answer.close()


class Base(unittest.TestCase):
    def setUp(self):
        self.root = serving.folder(self.addCleanup)
        self.kubeconfig = str(self.root / "kubeconfig")

    def start(self, *arguments):
        log = open(self.root / "log", "ab")
        self.addCleanup(log.close)
        return serving.start(self.addCleanup, TUTTI, *arguments, log=log)

    def sim(self, manifests, *flags):
        path = self.root / "cluster.yaml"
        path.write_text(manifests)
        port = free_port()
        process = self.start("sim", str(path), "--listen", f"127.0.0.1:{port}", "--kubeconfig-out", self.kubeconfig, *flags)
        self.url = f"http://127.0.0.1:{port}"
        eventually(lambda: fetch(self.url + "/readyz")[0] == 200, "the embedded cluster is ready")
        return process

    def door(self, path, **more):
        status, text = fetch(self.url + DOOR + path, **more)
        return json.loads(text) if status == 200 else (status, text)

    def apply(self, manifests):
        paths = {"Pod": "/api/v1/namespaces/%s/pods", "Job": "/apis/batch/v1/namespaces/%s/jobs", "PodGroup": "/apis/scheduling.volcano.sh/v1beta1/namespaces/%s/podgroups"}
        for document in filter(str.strip, manifests.split("---")):
            kind = next(line.split()[1] for line in document.splitlines() if line.startswith("kind:"))
            ns = document.partition("namespace: ")[2].split(",")[0].split("}")[0]
            status, text = fetch(self.url + paths[kind] % ns, "POST", document, content_type="application/yaml")
            self.assertEqual(status, 201, text)

    def gang(self, name, state, ns="default"):
        """The gang, once it is in that state."""

        def look():
            found = self.door(f"gangs/{ns}/{name}")
            return found if isinstance(found, dict) and found["state"] == state else None

        return eventually(look, f"{ns}/{name} is {state}")

    def ctl(self, *arguments):
        return subprocess.run([TUTTI, "ctl", *arguments], capture_output=True, text=True, timeout=SECONDS)


class OfTheSim(Base):
    """A cluster with a scheduler: one gang runs, and one waits."""

    def setUp(self):
        super().setUp()
        self.sim(CLUSTER + "---" + gang("first", 3, "2"))
        self.gang("first", "whole")
        self.apply(gang("second", 2, "3"))
        self.gang("second", "waiting-for-nodes")


class Users(Reviews):
    """Knows the tokens NAME and secret-of-NAME as the user NAME. `admin` and `admin-...` may do everything, `dev` may list
    pods of namespace other."""

    @staticmethod
    def user_of(token):
        name = token.removeprefix("secret-of-")
        return name if Users.is_admin(name) or name == "dev" else None

    @staticmethod
    def is_admin(user):
        return user.partition("-")[0] == "admin"

    @staticmethod
    def namespaces_of(user):
        return ["other"] if user == "dev" else []


class OfRun(Base):
    """A scheduler that knows users, with a gang in each of two namespaces."""

    def setUp(self):
        super().setUp()
        self.sim(CLUSTER + "---" + gang("first", 1, "1") + "---" + gang("mine", 1, "1", "other"), "--no-scheduler")
        reviews = serving.serve(self.addCleanup, Users)
        self.reviews = str(self.root / "reviews")
        pathlib.Path(self.reviews).write_text(pathlib.Path(self.kubeconfig).read_text().replace(
            self.url, f"http://127.0.0.1:{reviews.server_port}"))
        self.scheduler = self.run_one()
        eventually(self.knows_both, "the gangs are known")

    def knows_both(self):
        status, answer = self.ask("gangs", "admin")  # 503 until it leads
        return status == 200 and len(answer.get("gangs", [])) == 2

    def run_one(self, *flags):
        port = free_port()
        self.start("run", "--kubeconfig", self.kubeconfig, "--bind-address", "127.0.0.1", "--secure-port", str(port),
                   "--authentication-kubeconfig", self.reviews, "--authorization-kubeconfig", self.reviews, *flags)
        url = f"https://127.0.0.1:{port}"
        eventually(lambda: fetch(url + "/readyz")[0] == 200, "the scheduler is ready")
        return url

    def ask(self, path, token, header="Authorization", url=None):
        status, text = fetch((url or self.scheduler) + DOOR + path, headers={header: f"Bearer {token}"} if token else None)
        return status, json.loads(text) if status == 200 else text
