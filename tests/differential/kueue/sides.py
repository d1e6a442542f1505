# SPDX-License-Identifier: Apache-2.0
"""The two that are compared: each has a control plane, and does what a step says."""

import http.client
import json
import pathlib
import re
import ssl
import subprocess
import threading
import urllib.parse

import yaml
from held import await_hold
from ports import free_port

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent.parent
CONTROL_PLANE = REPOSITORY / "tests" / "controlplane"
HOLD = REPOSITORY / "manifests" / "kueue" / "hold" / "v1"
# In the order in which they are taken away.
KINDS = ["jobs.batch", "pods", "workloads.kueue.x-k8s.io", "localqueues.kueue.x-k8s.io", "clusterqueues.kueue.x-k8s.io",
         "cohorts.kueue.x-k8s.io", "admissionchecks.kueue.x-k8s.io", "resourceflavors.kueue.x-k8s.io",
         "workloadpriorityclasses.kueue.x-k8s.io", "events", "nodes"]
READ = "jobs.batch,pods,events,workloads.kueue.x-k8s.io,localqueues.kueue.x-k8s.io,clusterqueues.kueue.x-k8s.io,admissionchecks.kueue.x-k8s.io"


def built(*what):
    """The folder of what the control plane's modules were built to."""
    return pathlib.Path(subprocess.check_output([CONTROL_PLANE / "build", "--dir", *what], text=True).strip())


class Side:
    def __init__(self, directory):
        self.dir = directory
        self.dir.mkdir()
        self.kubeconfig = directory / "cluster" / "admin.kubeconfig"
        self._kubectl = built() / "kubectl"
        self._kueuectl = built("kueue") / "kueuectl"
        self._own = threading.local()

    def cluster_up(self, *arguments):
        log = open(self.dir / "cluster.log", "w")
        subprocess.run([CONTROL_PLANE / "cluster", "up", "--dir", self.dir / "cluster", "--slow-pods", "--load", *arguments],
                       check=True, stdout=log, stderr=log)

    def hold(self):
        """New jobs are held from now on."""
        self.kubectl("apply", "-k", str(HOLD))
        await_hold(lambda *arguments, stdin: self.kubectl(*arguments, stdin=stdin, must=False))

    def kubectl(self, *arguments, stdin=None, must=True):
        return self._run(self._kubectl, arguments, stdin, must)

    def _run(self, program, arguments, stdin=None, must=True):
        done = subprocess.run([program, "--kubeconfig", self.kubeconfig, *arguments], input=stdin, text=True,
                              capture_output=True)
        if must and done.returncode != 0:
            raise RuntimeError(f"{program.name} {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def ask(self, method, path, body=None, media="application/json"):
        """The answer to a request of the administrator's, on a connection of this thread's own."""
        if not hasattr(self._own, "connection"):
            server = urllib.parse.urlparse(json.loads((self.dir / "cluster" / "cluster.json").read_text())["server"])
            trust = ssl.create_default_context(cafile=str(self.dir / "cluster" / "pki" / "ca.crt"))
            self._own.connection = http.client.HTTPSConnection(server.hostname, server.port, context=trust, timeout=60)
            self._own.bearer = re.search(r"^\s*token: (\S+)$", self.kubeconfig.read_text(), re.MULTILINE).group(1)
        headers = {"Authorization": f"Bearer {self._own.bearer}", "Content-Type": media}
        self._own.connection.request(method, path, body=json.dumps(body) if body else None, headers=headers)
        answer = self._own.connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:300]}")
        return json.loads(text)

    def read(self):
        return json.loads(self.kubectl("get", READ, "-A", "-o", "json"))["items"]

    def do(self, step):
        """What kueuectl says to it, where the step is one of its commands; else ""."""
        if step["apply"]:
            self.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": step["apply"]}))
            for each in step["apply"]:
                if each["kind"] == "Node":
                    self.kubectl("patch", "node", each["metadata"]["name"], "--subresource=status", "--type=merge", "-p",
                                 json.dumps({"status": each["status"]}))
        if "patch" in step:
            part = ["--subresource=status"] if step.get("status") else []
            for name in self._names(step["patch"]):
                self.kubectl("patch", *name, *part, "--type=merge", "-p", json.dumps(step["merge"]))
        if "delete" in step:
            self.kubectl("delete", *step["delete"].split(), "--wait=false")
        if "finish" in step:
            self.kubectl("annotate", "pods", "-l", f"batch.kubernetes.io/job-name={step['finish']}", "sim.tutti.dev/run-for=0s")
        if "kueuectl" not in step:
            return ""
        verb, *words = step["kueuectl"].split()
        commands = [[verb, *name] for name in self._names(" ".join(words))] if "of" in words else [[verb, *words]]
        return "".join(self._run(self._kueuectl, command) for command in commands)

    def _names(self, words):
        """"workload of j": the Workload of that job, whose name ends in a hash."""
        kind, *rest = words.split()
        if rest[0] != "of":
            return [[kind, *rest]]
        items = json.loads(self.kubectl("get", kind, "-o", "json"))["items"]
        return [[kind, item["metadata"]["name"]] for item in items
                if any(owner["name"] == rest[1] for owner in item["metadata"].get("ownerReferences", []))]

    def clear(self):
        for kind in KINDS:
            space = [] if kind.startswith(("clusterqueues", "cohorts", "admissionchecks", "resourceflavors", "workloadpriority", "nodes")) \
                else ["-n", "default"]
            self.kubectl("delete", kind, "--all", "--timeout=60s", *space)

    def down(self):
        subprocess.run([CONTROL_PLANE / "cluster", "down", "--dir", self.dir / "cluster"], stderr=subprocess.DEVNULL)


class KueueSide(Side):
    name = "Kueue"

    def up(self):
        self.cluster_up("--kube-scheduler", "--kueue")
        self.hold()
        # Here kube-scheduler places pods.
        self.kubectl("delete", "mutatingadmissionpolicybinding", "tutti-place-queued-pods")


class Scheduler:
    """`tutti run` on a cluster, as a process that is started and stopped."""

    def __init__(self, directory, kubeconfig, binary):
        self._dir = directory
        self._kubeconfig = kubeconfig
        self._binary = binary
        self._process = None

    def runs(self):
        return self._process is not None

    def pid(self):
        return self._process.pid

    def start(self):
        config = self._dir / "config.yaml"
        config.write_text(yaml.safe_dump({
            "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
            "profiles": [{"schedulerName": "default-scheduler"}, {"schedulerName": "tutti"}]}))
        log = open(self._dir / "tutti.log", "a")
        self._process = subprocess.Popen(
            [self._binary, "run", "--kubeconfig", self._kubeconfig, "--config", config, "--leader-elect=false",
             "--bind-address=127.0.0.1", f"--secure-port={free_port()}"], stdout=log, stderr=log)

    def stop(self):
        if self._process:
            self._process.terminate()
            self._process.wait()
        self._process = None


class TuttiSide(Side):
    name = "Tutti"

    def __init__(self, directory, binary):
        super().__init__(directory)
        self.scheduler = Scheduler(directory, self.kubeconfig, binary)

    def up(self):
        self.cluster_up()
        self.kubectl("apply", "--server-side", "-k", str(REPOSITORY / "manifests" / "kueue" / "crds"))
        self.hold()
        self.scheduler.start()

    def down(self):
        self.scheduler.stop()
        super().down()
