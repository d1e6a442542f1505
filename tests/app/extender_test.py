#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tutti run` with scheduler extenders that are real HTTP services, on an embedded cluster.

  extender_test.py PATH-TO-TUTTI
"""

import http.server
import json
import pathlib
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from ports import free_port

TUTTI = None
SECONDS = 60
GPU = "example.com/gpu"


def node(name):
    room = {"cpu": "8", "memory": "16Gi", "pods": "110"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
            "status": {"capacity": room, "allocatable": room}}


def pod(name, gang=None, gpu=True, cpu="1", priority_class=None):
    amounts = {"cpu": cpu, **({GPU: "1"} if gpu else {})}
    made = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
            "spec": {"schedulerName": "tutti", "containers": [
                {"name": "main", "image": "busybox", "resources": {"requests": amounts, "limits": amounts}}]}}
    if priority_class:
        made["spec"]["priorityClassName"] = priority_class
    if gang:
        made["metadata"]["labels"] = {"scheduling.x-k8s.io/pod-group": gang}
    return made


class Extender(http.server.ThreadingHTTPServer):
    """Takes the nodes in `takes`, prefers `likes`, and binds through `api`; keeps what it was sent."""

    def __init__(self, certificate=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.scheme = "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True)
            self.scheme = "https"
        self.takes, self.likes, self.api, self.calls, self.error = ["n1", "n2", "n3"], None, None, [], ""
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"{self.scheme}://127.0.0.1:{self.server_address[1]}/scheduler"

    def names(self, args):
        if args["NodeNames"] is not None:
            return args["NodeNames"]
        return [item["metadata"]["name"] for item in args["Nodes"]["items"]]

    def filter(self, args):
        good = [name for name in self.names(args) if name in self.takes]
        bad = {name: "no free device" for name in self.names(args) if name not in self.takes}
        answer = {"FailedNodes": bad, "Error": self.error}
        if args["NodeNames"] is not None:
            return {**answer, "NodeNames": good}
        return {**answer, "Nodes": {"items": [n for n in args["Nodes"]["items"] if n["metadata"]["name"] in good]}}

    def prioritize(self, args):
        return [{"Host": name, "Score": 10 if name == self.likes else 0} for name in self.names(args)]

    def preempt(self, args):
        whole = args["NodeNameToVictims"]
        offered = whole if whole is not None else args["NodeNameToMetaVictims"]
        uid = (lambda pod: pod["metadata"]["uid"]) if whole is not None else (lambda pod: pod["UID"])
        return {"nodeNameToMetaVictims": {
            node: {"pods": [{"uid": uid(pod)} for pod in victims["Pods"]], "numPDBViolations": 0}
            for node, victims in offered.items() if node in self.takes}}

    def bind(self, args):
        binding = {"apiVersion": "v1", "kind": "Binding",
                   "metadata": {"name": args["PodName"], "namespace": args["PodNamespace"], "uid": args["PodUID"]},
                   "target": {"kind": "Node", "name": args["Node"]}}
        self.api.send("POST", f"/api/v1/namespaces/{args['PodNamespace']}/pods/{args['PodName']}/binding", binding)
        return {"Error": ""}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        args = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        verb = self.path.rsplit("/", 1)[-1]
        self.server.calls.append((verb, args))
        body = json.dumps(getattr(self.server, verb)(args)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Cluster:
    """An embedded cluster with a scheduler of its own process; use it in a `with`."""

    def __init__(self, extenders):
        self.extenders = extenders

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self.folder.name)
        (folder / "nodes.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List",
                                                       "items": [node(n) for n in ("n1", "n2", "n3")]}))
        config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
                  "extenders": self.extenders}
        (folder / "config.yaml").write_text(json.dumps(config))
        port, kubeconfig = free_port(), folder / "kubeconfig"
        self.url = f"http://127.0.0.1:{port}"
        self.log = open(folder / "run.log", "w+")
        self.processes = [subprocess.Popen(
            [TUTTI, "sim", "--no-scheduler", "--listen", f"127.0.0.1:{port}", "--kubeconfig-out", str(kubeconfig),
             str(folder / "nodes.json")], stdout=subprocess.DEVNULL)]
        self.eventually(lambda: self.send("GET", "/readyz", raw=True) == "ok", "the cluster is ready")
        self.processes.append(subprocess.Popen(
            [TUTTI, "run", "--leader-elect=false", "--secure-port", "0", "--kubeconfig", str(kubeconfig), "--config",
             str(folder / "config.yaml")], stderr=self.log))
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.terminate()
            process.wait(SECONDS)
        self.log.close()
        self.folder.cleanup()

    def send(self, method, path, body=None, raw=False):
        request = urllib.request.Request(self.url + path, method=method, headers={"Content-Type": "application/json"},
                                         data=json.dumps(body).encode() if body else None)
        with urllib.request.urlopen(request, timeout=10) as answer:
            text = answer.read().decode()
        return text if raw else json.loads(text)

    def add(self, made):
        self.send("POST", "/api/v1/namespaces/default/pods", made)

    def node_of(self, name):
        return self.send("GET", f"/api/v1/namespaces/default/pods/{name}")["spec"].get("nodeName")

    def message_of(self, name):
        status = self.send("GET", f"/api/v1/namespaces/default/pods/{name}").get("status", {})
        return " ".join(c.get("message", "") for c in status.get("conditions", []) if c["type"] == "PodScheduled")

    def eventually(self, ask, what):
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            try:
                if ask():
                    return
            except (OSError, urllib.error.URLError):
                pass
            time.sleep(0.05)
        self.log.flush()
        self.log.seek(0)
        raise AssertionError(f"not within {SECONDS} s: {what}\n{self.log.read()}")


MANAGED = [{"name": GPU, "ignoredByScheduler": True}]


class Extenders(unittest.TestCase):
    def test_a_node_cache_capable_extender_filters_and_ranks(self):
        extender = Extender()
        extender.takes, extender.likes = ["n2", "n3"], "n3"
        with Cluster([{"urlPrefix": extender.url, "filterVerb": "filter", "prioritizeVerb": "prioritize", "weight": 5,
                       "nodeCacheCapable": True, "managedResources": MANAGED}]) as cluster:
            cluster.add(pod("wants"))
            cluster.add(pod("other", gpu=False))
            cluster.eventually(lambda: cluster.node_of("wants") == "n3", "the pod is on the node that is preferred")
            cluster.eventually(lambda: cluster.node_of("other"), "the other pod is bound")
        self.assertEqual({args["Pod"]["metadata"]["name"] for _, args in extender.calls}, {"wants"})
        self.assertEqual(extender.calls[0][1]["NodeNames"], ["n1", "n2", "n3"])
        self.assertIsNone(extender.calls[0][1]["Nodes"])

    def test_an_extender_without_a_cache_gets_whole_nodes_by_tls(self):
        with tempfile.TemporaryDirectory() as folder:
            pem = pathlib.Path(folder) / "server.pem"
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                            "/CN=extender.test", "-addext", "subjectAltName=DNS:extender.test", "-keyout",
                            f"{folder}/key", "-out", f"{folder}/crt"], check=True, capture_output=True)
            pem.write_text(pathlib.Path(f"{folder}/key").read_text() + pathlib.Path(f"{folder}/crt").read_text())
            extender = Extender(pem)
            extender.takes = ["n2"]
            with Cluster([{"urlPrefix": extender.url, "filterVerb": "filter", "enableHTTPS": True,
                           "managedResources": MANAGED,
                           "tlsConfig": {"caFile": f"{folder}/crt", "serverName": "extender.test"}}]) as cluster:
                cluster.add(pod("wants"))
                cluster.eventually(lambda: cluster.node_of("wants") == "n2", "the pod is where the extender has it")
        self.assertEqual(extender.calls[0][1]["Nodes"]["items"][0]["status"]["allocatable"]["cpu"], "8")

    def test_a_server_that_is_not_who_it_should_be_is_not_asked(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                            "/CN=other.test", "-addext", "subjectAltName=DNS:other.test", "-keyout", f"{folder}/key",
                            "-out", f"{folder}/crt"], check=True, capture_output=True)
            pem = pathlib.Path(folder) / "server.pem"
            pem.write_text(pathlib.Path(f"{folder}/key").read_text() + pathlib.Path(f"{folder}/crt").read_text())
            extender = Extender(pem)
            with Cluster([{"urlPrefix": extender.url, "filterVerb": "filter", "enableHTTPS": True,
                           "managedResources": MANAGED, "tlsConfig": {"caFile": f"{folder}/crt"}}]) as cluster:
                cluster.add(pod("wants"))
                cluster.eventually(lambda: "SSL" in cluster.message_of("wants"), "the pod says what is wrong")
                self.assertIsNone(cluster.node_of("wants"))
        self.assertEqual(extender.calls, [])

    def test_a_gang_starts_whole_where_an_extender_takes_it(self):
        extender = Extender()
        extender.takes = []
        with Cluster([{"urlPrefix": extender.url, "filterVerb": "filter", "nodeCacheCapable": True,
                       "managedResources": MANAGED}]) as cluster:
            group = {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup",
                     "metadata": {"name": "g", "namespace": "default"}, "spec": {"minMember": 2}}
            cluster.send("POST", "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups", group)
            for name in ("g-0", "g-1"):
                cluster.add(pod(name, gang="g"))
            cluster.eventually(lambda: "no free device" in cluster.message_of("g-0"), "it says the extender's words")
            self.assertIsNone(cluster.node_of("g-1"))
            extender.takes = ["n1"]
            cluster.eventually(lambda: cluster.node_of("g-0") == cluster.node_of("g-1") == "n1", "the gang is whole")

    def test_an_extender_that_binds(self):
        extender = Extender()
        with Cluster([{"urlPrefix": extender.url, "bindVerb": "bind", "managedResources": MANAGED}]) as cluster:
            extender.api = cluster
            cluster.add(pod("wants"))
            cluster.eventually(lambda: cluster.node_of("wants"), "the extender has bound the pod")
        self.assertEqual([verb for verb, _ in extender.calls], ["bind"])

    def fill(self, cluster):
        cluster.send("POST", "/apis/scheduling.k8s.io/v1/priorityclasses",
                     {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"},
                      "value": 10})
        for index in range(6):
            cluster.add(pod(f"low-{index}", gpu=False, cpu="4"))
        cluster.eventually(lambda: all(cluster.node_of(f"low-{index}") for index in range(6)), "the nodes are full")
        return {index: cluster.node_of(f"low-{index}") for index in range(6)}

    def test_an_extender_has_a_say_in_which_pods_go(self):
        for cached in (True, False):
            extender = Extender()
            extender.takes = ["n2"]
            with Cluster([{"urlPrefix": extender.url, "preemptVerb": "preempt", "nodeCacheCapable": cached,
                           "managedResources": MANAGED}]) as cluster:
                self.fill(cluster)
                cluster.add(pod("wants", cpu="3", priority_class="high"))
                cluster.eventually(lambda: cluster.node_of("wants") == "n2", "the pod is where pods had to go")
            verb, args = extender.calls[0]
            self.assertEqual((verb, args["Pod"]["metadata"]["name"]), ("preempt", "wants"))
            self.assertEqual(args["NodeNameToVictims"] is None, cached)
            self.assertEqual(args["NodeNameToMetaVictims"] is None, not cached)
            offered = args["NodeNameToMetaVictims" if cached else "NodeNameToVictims"]
            self.assertEqual(sorted(offered), ["n1", "n2", "n3"])
            self.assertEqual({len(victims["Pods"]) for victims in offered.values()}, {1})
            self.assertEqual({victims["NumPDBViolations"] for victims in offered.values()}, {0})
            if not cached:
                self.assertEqual(offered["n1"]["Pods"][0]["spec"]["nodeName"], "n1")

    def test_an_extender_that_cannot_say_which_pods_go(self):
        nowhere = {"urlPrefix": f"http://127.0.0.1:{free_port()}", "preemptVerb": "preempt",
                   "managedResources": MANAGED}
        with Cluster([{**nowhere, "ignorable": True}]) as cluster:
            self.fill(cluster)
            cluster.add(pod("wants", priority_class="high"))
            cluster.eventually(lambda: cluster.node_of("wants"), "an extender that may be ignored is ignored")
        with Cluster([nowhere]) as cluster:
            places = self.fill(cluster)
            cluster.add(pod("wants", priority_class="high"))
            cluster.eventually(lambda: "it cannot be reached" in cluster.message_of("wants"), "the pod says so")
            self.assertEqual({index: cluster.node_of(f"low-{index}") for index in places}, places)

    def test_an_extender_that_names_a_pod_that_may_not_go(self):
        extender = Extender()
        extender.preempt = lambda args: {"NodeNameToMetaVictims": {"n1": {"Pods": [{"UID": "another"}]}}}
        with Cluster([{"urlPrefix": extender.url, "preemptVerb": "preempt", "nodeCacheCapable": True,
                       "managedResources": MANAGED}]) as cluster:
            self.fill(cluster)
            cluster.add(pod("wants", priority_class="high"))
            cluster.eventually(lambda: "no such pod may go from there" in cluster.message_of("wants"), "it says so")
            self.assertIsNone(cluster.node_of("wants"))

    def test_who_is_not_there(self):
        nowhere = {"urlPrefix": f"http://127.0.0.1:{free_port()}", "filterVerb": "filter", "managedResources": MANAGED}
        with Cluster([{**nowhere, "ignorable": True}]) as cluster:
            cluster.add(pod("wants"))
            cluster.eventually(lambda: cluster.node_of("wants"), "an extender that may be ignored is ignored")
        with Cluster([nowhere]) as cluster:
            cluster.add(pod("wants"))
            cluster.eventually(lambda: "it cannot be reached" in cluster.message_of("wants"), "the pod says so")
            self.assertIsNone(cluster.node_of("wants"))

    def test_an_extender_that_reports_an_error(self):
        extender = Extender()
        extender.error = "out of order"
        with Cluster([{"urlPrefix": extender.url, "filterVerb": "filter", "managedResources": MANAGED}]) as cluster:
            cluster.add(pod("wants"))
            cluster.eventually(lambda: "out of order" in cluster.message_of("wants"), "the pod says so")


if __name__ == "__main__":
    TUTTI = sys.argv.pop(1)
    unittest.main(verbosity=2)
