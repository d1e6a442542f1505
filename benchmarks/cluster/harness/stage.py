# SPDX-License-Identifier: Apache-2.0
"""The stage: a fresh control plane, the accounts and rules of whoever acts on it, nodes and pending pods."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import ssl
import subprocess
import time
import urllib.parse

from .processes import cpu_seconds

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
CONTROL_PLANE = REPOSITORY / "tests" / "controlplane"
DEPLOY = REPOSITORY / "manifests" / "deploy"
CONTROL_PLANE_BINARIES = ["etcd", "kube-apiserver", "kubectl", "kube-scheduler"]
KUBELETS = "kwok"  # one more of them

TUTTI_ACCOUNT = ("tutti-system", "tutti")
PEER_ACCOUNT = ("kube-system", "kube-scheduler")

IDLE_SHARE = 0.10
IDLE_SECONDS = 20


class Failure(Exception):
    """What a measurement cannot go on without; the text is for the user."""


def checked(command, **keywords):
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True, **keywords)
    if done.returncode != 0:
        raise Failure(f"{' '.join(str(word) for word in command)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def binaries(*others):
    """Builds what of the control plane is missing; the directory it is in."""
    if subprocess.run([str(CONTROL_PLANE / "build"), *CONTROL_PLANE_BINARIES, *others]).returncode != 0:
        raise Failure("the control plane could not be built, see above")
    return pathlib.Path(checked([CONTROL_PLANE / "build", "--dir"]).strip())


class Api:
    """A few plain requests to the API server as its administrator, who is exempt from its queues."""

    def __init__(self, directory):
        server = urllib.parse.urlparse(json.loads((directory / "cluster.json").read_text())["server"])
        self._address = (server.hostname, server.port)
        self._tls = ssl.create_default_context(cafile=str(directory / "pki" / "ca.crt"))
        token = re.search(r"^\s*token: (\S+)$", (directory / "admin.kubeconfig").read_text(), re.MULTILINE)
        self.token = token.group(1)
        self._bearer = f"Bearer {self.token}"

    def open(self, path, accept="application/json", **query):
        """The open answer and its connection; the caller closes the latter."""
        connection = http.client.HTTPSConnection(*self._address, context=self._tls, timeout=60)
        connection.request("GET", path + ("?" + urllib.parse.urlencode(query) if query else ""),
                           headers={"Authorization": self._bearer, "Accept": accept})
        answer = connection.getresponse()
        if answer.status != 200:
            raise Failure(f"GET {path}: {answer.status} {answer.read(500).decode(errors='replace')}")
        return answer, connection

    def text(self, path, **query):
        answer, connection = self.open(path, **query)
        with contextlib.closing(connection):
            return answer.read().decode()

    def page(self, path, **query):
        return json.loads(self.text(path, **query))

    def items(self, path):
        query = {"limit": 2000}
        while True:
            page = self.page(path, **query)
            yield from page["items"]
            query["continue"] = page["metadata"].get("continue", "")
            if not query["continue"]:
                return


class Stage:
    """One control plane: etcd and kube-apiserver, and nothing that works behind the measured one's back."""

    def __init__(self, directory, bin_dir, features=(), kubelets=False):
        self.dir = directory
        self._kubelets = [] if kubelets else ["--no-kwok"]
        self._features = features  # of tests/controlplane/cluster
        self.kubectl_path = bin_dir / "kubectl"
        self._cluster = [CONTROL_PLANE / "cluster"]

    def __enter__(self):
        shutil.rmtree(self.dir, ignore_errors=True)
        self.dir.mkdir(parents=True)
        try:
            checked([*self._cluster, "up", "--dir", self.dir, *self._kubelets, "--no-controller-manager", "--load",
                     "--until-exit-of", os.getpid(), *[f"--features={name}" for name in self._features]],
                    stdin=subprocess.DEVNULL)
            self.api = Api(self.dir)
            state = json.loads((self.dir / "cluster.json").read_text())
            self.feature_flags = [word for word in state["processes"]["kube-apiserver"]["command"]
                                  if word.startswith("--feature-gates=")]
            self.pids = [process["pid"] for process in state["processes"].values()]
            self._install()
            self._open_storage()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        checked([*self._cluster, "down", "--dir", self.dir, "--purge"])

    def kubectl(self, *arguments, **keywords):
        return checked([self.kubectl_path, "--kubeconfig", self.dir / "admin.kubeconfig", *arguments], **keywords)

    def _install(self):
        """What a cluster's administrator applies: namespace, account, rights, flow control."""
        for name in ("00-namespace", "10-service-account", "20-rbac", "30-flow-control"):
            self.kubectl("apply", "-f", DEPLOY / f"{name}.yaml")

    def shipped_config(self):
        """The configuration of the shipped ConfigMap, as a file."""
        config_map = json.loads(self.kubectl("create", "--dry-run=client", "-o", "json", "-f", DEPLOY / "40-config.yaml"))
        path = self.dir / "tutti-config.yaml"
        path.write_text(config_map["data"]["config.yaml"])
        return path

    def kubeconfig_of(self, account):
        return pathlib.Path(checked([*self._cluster, "kubeconfig", "--dir", self.dir, "--serviceaccount",
                                     "/".join(account)]).strip())

    def peer_config(self, qps):
        """kube-scheduler's configuration; all but the client's limits is its default."""
        path = self.dir / "kube-scheduler-config.yaml"
        path.write_text(f"""apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection:
  kubeconfig: {self.peer_kubeconfig()}
  qps: {qps}
  burst: {qps}
""")
        return path

    def peer_kubeconfig(self):
        """kube-scheduler's account: its own roles, and the priority levels that Tutti's manifests give to Tutti."""
        namespace, name = PEER_ACCOUNT
        kubeconfig = self.kubeconfig_of(PEER_ACCOUNT)
        account = f"--serviceaccount={namespace}:{name}"
        for role in ("system:kube-scheduler", "system:volume-scheduler"):
            self.kubectl("create", "clusterrolebinding", f"bench:{role}", f"--clusterrole={role}", account)
        for role in ("extension-apiserver-authentication-reader", "system::leader-locking-kube-scheduler"):
            self.kubectl("create", "rolebinding", "-n", namespace, f"bench:{role}", f"--role={role}", account)
        schemas = json.loads(self.kubectl("get", "flowschemas", "tutti", "tutti-lease", "-o", "json"))
        for schema in schemas["items"]:
            schema["metadata"] = {"name": schema["metadata"]["name"].replace("tutti", "bench-kube-scheduler")}
            schema.pop("status", None)
            for rule in schema["spec"]["rules"]:
                for subject in rule["subjects"]:
                    subject["serviceAccount"] = {"namespace": namespace, "name": name}
                for resources in rule.get("resourceRules", []):
                    if resources.get("namespaces") == [TUTTI_ACCOUNT[0]]:
                        resources["namespaces"] = [namespace]
        self.kubectl("create", "-f", "-", input=json.dumps(schemas))
        return kubeconfig

    def load(self, loader, **flags):
        return checked(self._load_command(loader, flags)).strip()

    def load_and_time(self, loader, **flags):
        """Loads the last pod when all others are there; the instant before it was created."""
        loading = subprocess.Popen([*self._load_command(loader, flags), "-hold-last"], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        loading.stdout.readline()
        before = time.monotonic()
        _, complaint = loading.communicate("\n")
        if loading.returncode != 0:
            raise Failure(complaint.strip())
        return before

    def _load_command(self, loader, flags):
        words = [f"-{name.replace('_', '-')}={value}" for name, value in flags.items()]
        return [str(loader), "-kubeconfig", str(self.dir / "admin.kubeconfig"), *words]

    def _open_storage(self):
        """Has the custom resources served.

        The API server opens the storage of a custom resource at the first request only, and until then answers "storage is
        (re)initializing", which no cluster that has been up for a minute does.
        """
        for definition in json.loads(self.kubectl("get", "crd", "-o", "json"))["items"]:
            spec = definition["spec"]
            for version in (version["name"] for version in spec["versions"] if version["served"]):
                self.kubectl("get", "--raw", f"/apis/{spec['group']}/{version}/{spec['names']['plural']}?limit=1")

    def settle(self, *others):
        """Waits until the control plane and these processes are done with what loading left them to do, the API server's garbage among it.

        Left to itself it would collect every few thousand pods, for a second of both cores, and whom that meets is luck.
        """
        self.api.text("/debug/pprof/heap", gc=1, debug=1)
        deadline = time.monotonic() + IDLE_SECONDS
        while time.monotonic() < deadline:
            before = sum(map(cpu_seconds, [*self.pids, *others]))
            time.sleep(0.5)
            if sum(map(cpu_seconds, [*self.pids, *others])) - before < IDLE_SHARE * 0.5:
                return

    def dispatched(self, level):
        """How many requests the API server has served at a priority level."""
        pattern = rf'^apiserver_flowcontrol_dispatched_requests_total{{.*priority_level="{level}".*}} (\S+)$'
        return sum(float(found) for found in re.findall(pattern, self.api.text("/metrics"), re.MULTILINE))
