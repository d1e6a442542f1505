#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The console of the real program in a headless Chromium: of `tutti sim`, and of `tutti run` with users who may see one
namespace, all, or none.

  real_test.py PATH-TO-TUTTI
"""

import json
import pathlib
import sys
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import browser
import serving
from ports import free_port
from reviews import Reviews
from serving import eventually, fetch

TUTTI = None
BROWSER = None
HOSTILE = "<img src=x onerror=window.hacked=1>"

NODES = "---\n".join(f"""
apiVersion: v1
kind: Node
metadata: {{name: gpu-{i}, labels: {{topology.kubernetes.io/rack: rack-{i % 2}}}}}
status: {{allocatable: {{cpu: "32", memory: 128Gi, pods: "10", nvidia.com/gpu: "8"}}}}
""" for i in range(4))
KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:%d"}}]
users: [{name: u, user: {}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
"""


def pod(name, gpus, namespace="default"):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace},
            "spec": {"schedulerName": "tutti", "containers": [{"name": "main", "image": "busybox", "resources": {
                "requests": {"cpu": "1"}, "limits": {"nvidia.com/gpu": str(gpus)}}}]}}


class Users(Reviews):
    """Knows two users by their tokens: the administrator may do all, and jane may list the pods of team-a."""

    @staticmethod
    def user_of(token):
        return {"token-of-admin": "admin", "token-of-jane": "jane"}.get(token)

    @staticmethod
    def is_admin(user):
        return user == "admin"

    @staticmethod
    def namespaces_of(user):
        return ["team-a"] if user == "jane" else []


def setUpModule():
    global BROWSER
    BROWSER = browser.Browser()


def tearDownModule():
    BROWSER.close()


class Real(browser.Looks, unittest.TestCase):
    def setUp(self):
        self.folder = serving.folder(self.addCleanup)

    def tearDown(self):
        self.page.close()
        self.assertEqual(self.page.errors, [])
        self.assertEqual([url for url in self.page.requests if not url.startswith((self.address, "about:"))], [])

    def start(self, *arguments):
        log = open(self.folder / "log", "ab")
        self.addCleanup(log.close)
        return serving.start(self.addCleanup, TUTTI, *arguments, log=log)

    def sim(self, *flags):
        (self.folder / "nodes.yaml").write_text(NODES)
        self.port = free_port()
        process = self.start("sim", "--listen", f"127.0.0.1:{self.port}", *flags, self.folder / "nodes.yaml")
        self.await_ready(f"http://127.0.0.1:{self.port}")
        return process

    def await_ready(self, address):
        eventually(lambda: fetch(f"{address}/readyz")[0] == 200, (self.folder / "log").read_text)

    def ask(self, method, path, body=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", method=method, headers={"Content-Type": "application/json"},
                                         data=json.dumps(body).encode() if body else None)
        with serving.open_url(request) as answer:
            return json.load(answer)

    def add(self, one):
        self.ask("POST", f"/api/v1/namespaces/{one['metadata']['namespace']}/pods", one)

    def open(self, address, view=""):
        self.address = address
        self.page = BROWSER.page()
        self.page.open(address + "/ui" + view)


class Sim(Real):
    def setUp(self):
        super().setUp()
        self.process = self.sim()
        self.open(f"http://127.0.0.1:{self.port}")

    def test_its_console_shows_what_waits_what_runs_and_where(self):
        self.shows("Live", "No gang waits.")
        self.add(pod("small", 4))
        self.add(pod("large", 16))
        self.shows("large", "Insufficient nvidia.com/gpu")
        self.go("#/gangs")
        self.shows("small", "whole", "waits for nodes")
        self.go("#/gangs/default/large")
        self.shows("Why", "Members", "History", "16 gpu")
        self.go("#/gangs/default/small")
        self.shows("bound", "gpu-")
        self.go("#/nodes?as=list")
        self.shows("4 nodes", "gpu-3", "rack-1", "4 of 8")
        self.go("#/queues")
        self.shows("queue")
        self.go("#/time")
        self.shows("Seen since", "Use of nvidia.com/gpu by queue")
        self.page.until("document.querySelectorAll('canvas')[2].getAttribute('aria-label').startsWith('1 nodes with gangs')", "a bar")

    def test_what_if_answers_and_changes_nothing(self):
        self.shows("Live", "No gang waits.")
        self.go("#/what-if")
        self.page.until("document.querySelector('textarea.code') !== null", "the form")
        self.page.run("document.querySelector('textarea.code').focus()")
        self.page.type(json.dumps(pod("asked", 4)))
        self.page.run("document.querySelector('form.question button').click()")
        self.shows("default/asked", "would start now", "gpu-")
        self.go("#/gangs")
        self.shows("0 gangs")

    def test_a_change_shows_and_the_end_too(self):
        self.shows("Live")
        self.add(pod("passing", 16))
        self.shows("passing")
        self.ask("DELETE", "/api/v1/namespaces/default/pods/passing")
        self.hides("passing")
        self.process.kill()
        self.shows("Connection lost", "Another attempt comes in")

    def test_what_users_write_is_text(self):
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "tainted"}, "spec": {"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]}}
        self.ask("POST", "/api/v1/nodes", node)
        one = pod("hostile", 16)
        one["metadata"]["annotations"] = {"scheduling.k8s.io/group-name": HOSTILE, "scheduling.volcano.sh/queue-name": HOSTILE}
        one["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "a"}
        self.add(one)
        self.page.until("document.querySelectorAll('table.list tbody:not(.space) tr').length == 1", "it waits")
        self.page.run("document.querySelector('tbody:not(.space) th a').click()")
        self.shows("Members")
        self.assertIsNone(self.page.run("window.hacked"))
        self.assertEqual(self.page.run("document.querySelectorAll('main img').length"), 0)


class Report(Real):
    def test_the_page_of_a_simulation_stands_alone(self):
        one = pod("large", 64)
        one["metadata"]["annotations"] = {"scheduling.k8s.io/group-name": HOSTILE, "scheduling.volcano.sh/queue-name": HOSTILE}
        (self.folder / "input.yaml").write_text(NODES + "---\n" + json.dumps(pod("small", 4)) + "\n---\n" + json.dumps(one))
        self.address = (self.folder / "report.html").as_uri()
        process = self.start("simulate", self.folder / "input.yaml", "--report", self.folder / "report.html")
        self.assertEqual(process.wait(serving.SECONDS), 0, (self.folder / "log").read_text())
        self.page = BROWSER.page()
        self.page.open(self.address)
        self.shows("A simulation by Tutti", "GPUs in use", "gangs whole: 1 of", "small", HOSTILE)
        self.assertEqual(self.page.run("document.querySelectorAll('main img, script').length"), 0)
        self.assertIn("collapse", self.page.run("getComputedStyle(document.querySelector('table')).borderCollapse"))


class Run(Real):
    def setUp(self):
        super().setUp()
        self.sim("--no-scheduler")
        for namespace in ("team-a", "team-b"):
            self.ask("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
            self.add(pod(f"of-{namespace}", 16, namespace))
        reviews = serving.serve(self.addCleanup, Users)
        (self.folder / "cluster").write_text(KUBECONFIG % self.port)
        (self.folder / "reviews").write_text(KUBECONFIG % reviews.server_port)
        port = free_port()
        self.start("run", "--kubeconfig", self.folder / "cluster", "--bind-address", "127.0.0.1", "--secure-port", port,
                   "--leader-elect=false", "--authentication-skip-lookup=true", "--authentication-kubeconfig", self.folder / "reviews",
                   "--authorization-kubeconfig", self.folder / "reviews")
        self.await_ready(f"https://127.0.0.1:{port}")
        self.open(f"https://127.0.0.1:{port}")

    def sign_in(self, token):
        self.shows("Sign in")
        self.page.run("document.querySelector('#token').focus()")
        self.page.type(token)
        self.page.run("document.querySelector('dialog button').click()")

    def test_the_administrator_sees_all(self):
        self.sign_in("token-of-admin")
        self.shows("Live", "of-team-a", "of-team-b")
        self.go("#/nodes")
        self.shows("4 nodes")

    def test_a_user_of_one_namespace_sees_its_gangs_alone(self):
        self.sign_in("token-of-jane")
        self.shows("Live", "of-team-a")
        self.add(pod("another", 16, "team-b"))
        self.add(pod("mine", 16, "team-a"))
        self.shows("mine")
        self.assertNotIn("another", self.page.text())
        self.assertNotIn("team-b", self.page.text())
        self.go("#/gangs/team-b/of-team-b")
        self.page.until("document.querySelector('.badge.bad')", "it is refused")
        self.assertNotIn("16 gpu", self.page.text())
        self.go("#/nodes")
        self.shows("You may not see the nodes of the cluster.")
        self.go("#/queues")
        self.shows("You may not see the queues of the whole cluster.")

    def test_a_token_of_no_user_is_refused(self):
        self.sign_in("token-of-no-user")
        self.shows("The scheduler does not accept this token.")


if __name__ == "__main__":
    TUTTI = sys.argv.pop(1)
    if browser.find() is None:
        print("skipped: there is no Chromium; scripts/setup --browser installs it")
        sys.exit(77)
    unittest.main()
