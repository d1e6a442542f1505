#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""/apis/tutti/v1/ of `sim` and `run`, and `kubectl tutti`, against the binary.

  doors_api_test.py PATH-TO-TUTTI
"""

import http.client
import http.server
import json
import os
import pathlib
import signal
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
SECONDS = 90
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


def fetch(url, method="GET", body=None, headers=None):
    """(status, text)"""
    request = urllib.request.Request(url, method=method, headers={"Content-Type": "application/yaml", **(headers or {})},
                                     data=body.encode() if body else None)
    context = ssl._create_unverified_context() if url.startswith("https") else None
    try:
        with urllib.request.urlopen(request, timeout=30, context=context) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def eventually(ask, what):
    """The first true answer of `ask`."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        try:
            answer = ask()
        except (OSError, http.client.HTTPException):
            answer = None
        if answer:
            return answer
        time.sleep(0.05)
    raise AssertionError(f"not within {SECONDS} s: {what}")


class Events:
    """A reader of Server-Sent Events."""

    def __init__(self, url, last=None):
        headers = {"Last-Event-ID": last} if last else {}
        context = ssl._create_unverified_context() if url.startswith("https") else None
        self.answer = urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=SECONDS,
                                             context=context)
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
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.root = pathlib.Path(self.directory.name)
        self.kubeconfig = str(self.root / "kubeconfig")

    def start(self, *arguments):
        log = open(self.root / "log", "ab")
        self.addCleanup(log.close)
        process = subprocess.Popen([TUTTI, *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

        def end():
            if process.poll() is None:
                process.kill()
            process.wait()

        self.addCleanup(end)
        return process

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
        paths = {"Pod": "/api/v1/namespaces/%s/pods", "PodGroup": "/apis/scheduling.volcano.sh/v1beta1/namespaces/%s/podgroups"}
        for document in manifests.split("---"):
            kind = next(line.split()[1] for line in document.splitlines() if line.startswith("kind:"))
            ns = document.partition("namespace: ")[2].split(",")[0].split("}")[0]
            status, text = fetch(self.url + paths[kind] % ns, "POST", document)
            self.assertEqual(status, 201, text)

    def gang(self, name, state, ns="default"):
        """The gang, once it is in that state."""

        def look():
            found = self.door(f"gangs/{ns}/{name}")
            return found if isinstance(found, dict) and found["state"] == state else None

        return eventually(look, f"{ns}/{name} is {state}")

    def ctl(self, *arguments, env=None):
        return subprocess.run([TUTTI, "ctl", *arguments], capture_output=True, text=True, timeout=SECONDS,
                              env={**os.environ, **(env or {})})


class OfTheSim(Base):
    def setUp(self):
        super().setUp()
        self.sim(CLUSTER + "---" + gang("first", 3, "2"))
        self.gang("first", "whole")
        self.apply(gang("second", 2, "3"))
        self.gang("second", "waiting-for-nodes")

    def test_gangs_are_listed_and_chosen(self):
        gangs = self.door("gangs")["gangs"]
        self.assertEqual([(one["name"], one["state"]) for one in gangs],
                         [("first", "whole"), ("second", "waiting-for-nodes")])
        self.assertGreater(int(self.door("gangs")["sequence"]), 0)
        self.assertEqual(gangs[0]["members"], 3)
        self.assertEqual(gangs[0]["requests"], {"cpu": "6000", "pods": "3"})
        self.assertNotIn("memberList", gangs[0])
        for query, names in (("state=whole", ["first"]), ("queue=research", ["first", "second"]), ("queue=no", []),
                             ("name=second-1", ["second"]), ("namespace=other", [])):
            found = self.door(f"gangs?{query}").get("gangs", [])
            self.assertEqual([one["name"] for one in found], names, query)
        self.assertEqual(len(self.door("gangs?members=true")["gangs"][0]["memberList"]), 3)

    def test_a_gang_that_waits_says_why_where_and_for_what_others_hold(self):
        second = self.door("gangs/default/second")
        self.assertEqual((second["position"], second["line"]), (1, 1))
        self.assertEqual(second["why"]["kind"], "nodes")
        self.assertEqual(second["why"]["nodes"]["short"][0]["resource"], "cpu")
        self.assertEqual([one["gang"]["name"] for one in second["holders"]], ["first"])
        self.assertEqual(second["holders"][0]["amounts"], {"cpu": "6000"})
        self.assertEqual(self.door("gangs/default/second-0")["name"], "second")
        self.assertEqual(self.door("gangs/default/third")[0], 404)

    def test_history_has_what_happened_in_order(self):
        history = self.door("gangs/default/first/history")
        steps = [event["step"] for event in history["events"]]
        self.assertLess(steps.index("bound"), steps.index("started"))
        self.assertIn("wholeFrom", history)
        waits = self.door("gangs/default/second/history")["events"][-1]
        self.assertEqual((waits["step"], waits["reason"]), ("waits", "NoPlacement"))
        self.assertEqual(self.door("gangs/default/third/history")[0], 404)

    def test_nodes_say_what_is_free_and_which_gangs_hold_the_rest(self):
        answer = self.door("nodes")
        self.assertEqual([one["name"] for one in answer["nodes"]], ["node-1", "node-2"])
        self.assertEqual(answer["levels"], ["topology.kubernetes.io/zone"])
        held = {}
        for node in answer["nodes"]:
            self.assertEqual(node["labels"], {"topology.kubernetes.io/zone": "a"})
            self.assertEqual(int(node["free"].get("cpu", 0)) + int(node["requested"]["cpu"]), 4000)
            for holder in node["holders"]:
                held[holder["gang"]["name"]] = held.get(holder["gang"]["name"], 0) + holder["pods"]
        self.assertEqual(held, {"first": 3})
        self.assertEqual(self.door("nodes?labels=unrelated")["nodes"][0]["labels"], {"unrelated": "x"})
        self.assertNotIn("holders", self.door("nodes?holders=false")["nodes"][0])
        self.assertEqual(self.door("nodes?name=node-9")[0], 404)

    def test_queues_say_what_they_have_and_which_gangs_wait(self):
        queue = next(one for one in self.door("queues")["queues"] if one["name"] == "research")
        self.assertEqual((queue["kind"], queue["state"], queue["dialect"]), ("queue", "open", "volcano"))
        cell = next(one for one in queue["cells"] if one["resource"] == "cpu")
        self.assertEqual((cell["limit"], cell["used"], cell["pending"]), ("16000", "6000", "6000"))
        self.assertEqual([(one["position"], one["gang"]["name"]) for one in queue["line"]], [(1, "second")])

    def test_what_is_asked_wrongly_is_refused_with_what_is_known(self):
        self.assertEqual(self.door("gangs?foo=1"), (400, 'unknown parameter "foo"; known are namespace, queue, state, '
                                                         'name, members\n'))
        status, text = self.door("nothing")
        self.assertEqual(status, 404)
        self.assertIn(DOOR + "gangs/*/*/history", text)
        self.assertEqual(self.door("watch?since=soon")[0], 400)
        self.assertEqual(self.door("gangs?state=waiting")[0], 400)
        self.assertEqual(self.door("gangs", method="POST", body="a: b")[0], 405)

    def test_what_is_no_text_or_no_number_is_answered_and_harms_nothing(self):
        for path, status in (("gangs/%FF%FE/x", 404), ("gangs/default/%C0%80/history", 404), ("gangs/default//", 404),
                             ("gangs?namespace=%FF", 200), ("gangs?members=%00", 200), ("nodes?labels=,,%FF,", 200),
                             ("nodes?name=%FF", 404), ("queues?name=" + "x" * 4000, 200), ("watch?since=-1", 400),
                             ("watch?since=99999999999999999999", 400), ("%2e%2e/%2e%2e/etc/passwd", 404), ("", 404)):
            self.assertEqual(fetch(self.url + DOOR + path)[0], status, path)
        self.assertTrue(self.door("version")["leading"])

    def test_the_version_says_that_it_leads(self):
        version = self.door("version")
        self.assertTrue(version["leading"])
        self.assertIn("tutti", version["schedulerNames"])

    def test_a_watch_tells_changes_and_goes_on_where_it_ended(self):
        sequence = self.door("gangs")["sequence"]
        events = Events(f"{self.url}{DOOR}watch?since={sequence}")
        self.assertEqual(events.next(), {"event": "current", "id": sequence, "data": {"sequence": sequence}})
        self.apply(gang("third", 1, "1"))
        whole = events.until(lambda one: one["event"] == "gang" and one["data"]["gang"].get("state") == "whole")
        self.assertEqual(whole["data"]["gang"]["name"], "third")
        last = whole.get("id") or events.until(lambda one: "id" in one)["id"]
        events.close()
        fetch(self.url + "/api/v1/namespaces/default/pods/third-0", "DELETE")
        fetch(self.url + "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups/third", "DELETE")
        events = Events(f"{self.url}{DOOR}watch?since={sequence}", last)  # the header wins, as readers send both
        self.assertEqual(events.next()["id"], last)
        gone = events.until(lambda one: one["event"] == "gone")
        self.assertEqual(gone["data"]["gone"]["name"], "third")
        events.close()

    def test_a_watch_from_a_number_that_is_not_kept_says_that_one_has_to_list_again(self):
        events = Events(f"{self.url}{DOOR}watch?since=1")
        self.assertEqual(events.next()["event"], "current")
        again = events.next()
        self.assertEqual(again["event"], "relist")
        self.assertIn("not kept", again["data"]["relist"])
        self.assertIsNone(events.next())

    def test_kubectl_tutti_says_why_and_lists(self):
        plugin = self.root / "kubectl-tutti"
        plugin.symlink_to(TUTTI)
        why = subprocess.run([plugin, "why", "pod/second-0", "--server", self.url], capture_output=True, text=True,
                             timeout=SECONDS)
        self.assertEqual(why.returncode, 0, why.stderr)
        self.assertIn("default/second is waiting-for-nodes for ", why.stdout)
        self.assertIn("It is number 1 of 1 that wait in this queue", why.stdout)
        self.assertRegex(why.stdout, r"default/first +research +0 +3 +6 cpu")
        gangs = self.ctl("get", "gangs", "-A", "--server", self.url).stdout
        self.assertRegex(gangs, r"NAMESPACE +NAME +KIND +QUEUE +PRIORITY +STATE +BOUND +POSITION +AGE\n"
                                r"default +first +volcano +research +0 +whole +3/3 +- ")
        self.assertEqual(self.ctl("get", "gangs", "-o", "name", "--server", self.url).stdout, "gang/first\ngang/second\n")
        self.assertRegex(self.ctl("get", "queues", "--server", self.url).stdout, r"research +queue +root +open +cpu=6/16 +1 +1\n")
        self.assertRegex(self.ctl("get", "nodes", "--server", self.url).stdout, r"node-1 +Ready +[02]/4 ")
        self.assertIn("started", self.ctl("history", "first", "--server", self.url).stdout)
        answer = json.loads(self.ctl("get", "gangs", "-o", "json", "--server", self.url).stdout)
        self.assertEqual(len(answer["gangs"]), 2)
        self.assertTrue(json.loads(self.ctl("version", "-o", "json", "--server", self.url).stdout)["scheduler"]["leading"])
        missing = self.ctl("why", "third", "--server", self.url)
        self.assertEqual((missing.returncode, missing.stdout), (1, ""))
        self.assertIn("there is no gang or pod default/third", missing.stderr)
        self.assertEqual(self.ctl("get", "cows").returncode, 2)
        for name in ("PodGroups/first", "podgroup.scheduling.volcano.sh/first", "default/first", "rayclusters/first"):
            self.assertIn("default/first is whole", self.ctl("why", name, "--server", self.url).stdout, name)
        self.assertIn("complete -F _kubectl_tutti kubectl-tutti", self.ctl("completion", "bash").stdout)


KUEUE = """---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: on-demand}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: Cohort
metadata: {name: all}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: team-a}
spec:
  namespaceSelector: {}
  cohort: all
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: on-demand, resources: [{name: cpu, nominalQuota: 4, borrowingLimit: 1}]}]
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: team-b}
spec:
  namespaceSelector: {}
  cohort: all
  stopPolicy: Hold
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: on-demand, resources: [{name: cpu, nominalQuota: 2}]}]
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {name: mine, namespace: default}
spec: {clusterQueue: team-a}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {name: lost, namespace: default}
spec: {clusterQueue: nowhere}
"""
JOB = """---
apiVersion: batch/v1
kind: Job
metadata: {name: %(name)s, namespace: default, labels: {kueue.x-k8s.io/queue-name: mine}}
spec:
  suspend: true
  parallelism: %(pods)d
  completions: %(pods)d
  template:
    spec:
      schedulerName: tutti
      restartPolicy: Never
      containers: [{name: main, image: busybox, resources: {requests: {cpu: "1"}}}]
"""


class OfQuota(Base):
    def setUp(self):
        super().setUp()
        self.sim(CLUSTER + KUEUE + JOB % {"name": "runs", "pods": 5} + JOB % {"name": "waits", "pods": 3})

    def queues(self):
        return {(one["kind"], one["name"]): one for one in self.door("queues")["queues"]}

    def test_cohorts_and_their_queues_have_what_gangs_reserve_and_borrow(self):
        eventually(lambda: "reserving" in self.queues()[("cluster-queue", "team-a")]["gangs"], "a job has quota")
        queues = self.queues()
        leaf, cohort = queues[("cluster-queue", "team-a")], queues[("cohort", "all")]
        cell = leaf["cells"][0]
        self.assertEqual((cell["flavor"], cell["resource"]), ("on-demand", "cpu"))
        self.assertEqual((cell["nominal"], cell["limit"], cell["reserved"], cell["borrowed"]),
                         ("4000", "5000", "5000", "1000"))
        self.assertEqual((leaf["parent"], leaf["state"], leaf["gangs"]["pending"]), ("all", "open", 1))
        self.assertEqual(queues[("cluster-queue", "team-b")]["state"], "hold")
        self.assertEqual((cohort["cells"][0]["nominal"], cohort["cells"][0]["used"]), ("6000", "5000"))
        self.assertEqual(queues[("local", "mine")]["parent"], "team-a")
        self.assertIn("does not exist", queues[("local", "lost")]["problem"])
        self.assertEqual([one["position"] for one in leaf["line"]], [1])

    def test_a_gang_in_such_a_queue_says_how_far_it_has_come(self):
        by_quota = lambda: {one["name"]: one.get("quota", {}).get("state") for one in self.door("gangs").get("gangs", [])}
        eventually(lambda: sorted(filter(None, by_quota().values())) == ["admitted", "pending"], "one job is admitted")
        waits = next(one for one in self.door("gangs")["gangs"] if one.get("quota", {}).get("state") == "pending")
        self.assertEqual((waits["quota"]["queue"], waits["why"]["kind"]), ("team-a", "quota"))
        why = self.ctl("why", waits["name"], "--server", self.url)
        self.assertIn("Its quota is pending", why.stdout)
        self.assertIn("cluster-queue", self.ctl("get", "queues", "--server", self.url).stdout)


class WithoutAScheduler(Base):
    def test_a_cluster_that_has_none_says_so(self):
        self.sim(CLUSTER, "--no-scheduler")
        status, text = self.door("gangs")
        self.assertEqual(status, 503)
        self.assertIn("--no-scheduler", text)
        self.assertNotIn("leading", self.door("version"))


class Reviews(http.server.BaseHTTPRequestHandler):
    """Knows the tokens NAME and secret-of-NAME as the user NAME. `admin` and `admin-...` may do everything, `dev` may list
    pods of namespace other."""

    @staticmethod
    def is_admin(user):
        return user.partition("-")[0] == "admin"

    def do_POST(self):
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        spec = review["spec"]
        if review["kind"] == "TokenReview":
            user = spec["token"].removeprefix("secret-of-")
            review["status"] = {"authenticated": True, "user": {"username": user}} if self.is_admin(user) or user == "dev" else {}
        else:
            pods = spec.get("resourceAttributes", {})
            dev = spec["user"] == "dev" and (pods.get("resource"), pods.get("verb"), pods.get("namespace")) == \
                ("pods", "list", "other")
            review["status"] = {"allowed": self.is_admin(spec["user"]) or dev}
        body = json.dumps(review).encode()
        self.send_response(201)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Proxy(http.server.BaseHTTPRequestHandler):
    """An API server that knows one Service, and keeps the header Authorization to itself."""

    prefix = "/api/v1/namespaces/tutti-system/services/https:tutti:https/proxy"
    to = None

    def do_GET(self):
        if not self.path.startswith(self.prefix) or self.headers["Authorization"] != "Bearer secret-of-dev":
            status, text = 403, json.dumps({"kind": "Status", "message": "services is forbidden"})
        else:
            headers = {name: value for name, value in self.headers.items() if name.lower().startswith("x-tutti")}
            status, text = fetch(self.to + self.path.removeprefix(self.prefix), headers=headers)
        self.send_response(status)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


class OfRun(Base):
    def setUp(self):
        super().setUp()
        self.sim(CLUSTER + "---" + gang("first", 1, "1") + "---" + gang("mine", 1, "1", "other"), "--no-scheduler")
        reviews = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Reviews)
        threading.Thread(target=reviews.serve_forever, daemon=True).start()
        self.addCleanup(reviews.server_close)
        self.addCleanup(reviews.shutdown)
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
        status, text = fetch((url or self.scheduler) + DOOR + path, headers={header: f"Bearer {token}"} if token else {})
        return status, json.loads(text) if status == 200 else text

    def test_each_user_sees_the_namespaces_whose_pods_it_may_list(self):
        names = lambda answer: [one["name"] for one in answer[1].get("gangs", [])]
        self.assertEqual(names(self.ask("gangs", "admin")), ["first", "mine"])
        self.assertEqual(names(self.ask("gangs", "dev")), ["mine"])
        self.assertEqual(names(self.ask("gangs?namespace=other", "dev")), ["mine"])
        status, text = self.ask("gangs?namespace=default", "dev")
        self.assertEqual((status, text), (403, 'user "dev" may not list the pods of namespace default\n'))
        for path in ("gangs/default/first", "gangs/default/first/history", "gangs/default/unknown", "nodes", "queues",
                     "watch?namespace=default"):
            self.assertEqual(self.ask(path, "dev")[0], 403, path)
        self.assertEqual(self.ask("gangs/other/mine", "dev")[0], 200)
        self.assertEqual(self.ask("nodes", "admin")[0], 200)
        self.assertEqual(self.ask("gangs", "nobody")[0], 401)
        for path in ("gangs", "gangs?namespace=default", "queues", "version", "watch"):
            self.assertEqual(self.ask(path, None)[0], 401, path)
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(self.scheduler + DOOR + "gangs", timeout=SECONDS, context=ssl._create_unverified_context())
        self.assertEqual(refused.exception.headers["WWW-Authenticate"], "Bearer")

    def test_the_token_may_come_through_a_proxy(self):
        self.assertEqual(len(self.ask("gangs", "admin", "X-Tutti-Authorization")[1]["gangs"]), 2)
        self.assertEqual(self.ask("gangs", "nobody", "X-Tutti-Authorization")[0], 401)

    def test_kubectl_tutti_asks_through_the_api_server_with_the_token_of_the_kubeconfig(self):
        with_it = ("--kubeconfig", self.config_of(self.proxy(type("To", (Proxy,), {"to": self.scheduler})), {"token": "secret-of-dev"}))
        self.assertEqual(self.ctl("get", "gangs", "-A", "-o", "name", *with_it).stdout, "gang/mine\n")
        self.assertIn("other/mine is ", self.ctl("why", "mine", *with_it).stdout)
        refused = self.ctl("why", "default/first", *with_it)
        self.assertEqual((refused.returncode, refused.stderr),
                         (1, 'error: user "dev" may not list the pods of namespace default\n'))
        self.assertIn("services is forbidden", self.ctl("get", "nodes", "--service", "x", *with_it).stderr)

    def proxy(self, handler, tls=True):
        """The URL of a server."""
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        if tls:
            pair = [self.root / "tls.crt", self.root / "tls.key"]
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "1",
                            "-out", pair[0], "-keyout", pair[1]], check=True, capture_output=True)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*pair)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}"

    def config_of(self, server, user):
        """A kubeconfig."""
        config = self.root / "dev"
        config.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": server, "insecure-skip-tls-verify": server.startswith("https")}}],
            "users": [{"name": "u", "user": user}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u", "namespace": "other"}}]}))
        return str(config)

    def test_kubectl_tutti_sends_no_token_in_the_clear(self):
        seen = []

        class Ear(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                seen.append(self.headers)
                self.send_response(403)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        url = self.proxy(Ear, tls=False)
        ran = self.root / "ran"
        plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": "touch", "args": [str(ran)], "interactiveMode": "Never"}
        for user in ({"token": "secret-of-dev"}, {"username": "dev", "password": "secret"}, {"exec": plugin}):
            config = self.config_of(url, user)
            self.assertEqual(self.ctl("get", "gangs", "--kubeconfig", config).returncode, 1)
            self.assertEqual(self.ctl("get", "gangs", "--kubeconfig", config, "--server", url).returncode, 1)
        self.assertEqual(len(seen), 6)
        for headers in seen:
            self.assertEqual([name for name in headers if "authorization" in name.lower()], [])
        self.assertFalse(ran.exists())

    def test_kubectl_tutti_does_not_act_as_another_user(self):
        config = self.config_of(self.scheduler, {"token": "secret-of-admin", "as": "dev"})
        refused = self.ctl("get", "gangs", "--kubeconfig", config)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("its user has `as`", refused.stderr)

    def test_a_watch_shows_only_what_the_user_may_see(self):
        request = urllib.request.Request(self.scheduler + DOOR + "watch", headers={"Authorization": "Bearer dev"})
        answer = urllib.request.urlopen(request, timeout=SECONDS, context=ssl._create_unverified_context())
        events = Events.__new__(Events)
        events.answer = answer
        self.assertEqual(events.next()["event"], "current")
        self.apply(gang("hidden", 1, "1"))
        self.apply(gang("shown", 1, "1", "other"))
        seen = set()
        while "shown" not in seen:
            event = events.next()
            if event["event"] == "gang":
                seen.add(event["data"]["gang"]["name"])
        self.assertNotIn("hidden", seen)
        events.close()

    def test_streams_beyond_the_most_are_refused_and_closed_ones_make_room(self):
        context = ssl._create_unverified_context()

        def open_as(user):
            """The stream, or the error that refused it."""
            request = urllib.request.Request(self.scheduler + DOOR + "watch", headers={"Authorization": f"Bearer {user}"})
            try:
                return urllib.request.urlopen(request, timeout=SECONDS, context=context)
            except urllib.error.HTTPError as error:
                return error

        of_one = [open_as("admin") for _ in range(9)]
        self.assertEqual([one.status for one in of_one], 8 * [200] + [429])
        self.assertIn('user "admin" has 8 streams open', of_one[-1].read().decode())
        others = [open_as(f"admin-{i // 8}") for i in range(121)]
        self.assertEqual([one.status for one in others], 120 * [200] + [503])
        self.assertEqual(others[-1].headers["Retry-After"], "5")
        self.assertEqual(fetch(self.scheduler + "/livez")[0], 200)
        for one in of_one:
            one.close()

        def opens_again():
            one = open_as("admin")
            self.addCleanup(one.close)
            return one.status == 200

        eventually(opens_again, "a closed stream makes room")
        for one in others:
            one.close()

    def test_a_standby_names_the_leader_and_shows_nothing(self):
        standby = self.run_one()
        status, text = self.ask("gangs", "admin", url=standby)
        self.assertEqual(status, 503)
        self.assertIn("not the leader; ask ", text)
        self.assertNotIn("leading", self.ask("version", "admin", url=standby)[1])


if __name__ == "__main__":
    TUTTI = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
