# SPDX-License-Identifier: Apache-2.0
"""The two clusters that a walkthrough runs on. Both are: up(), down(), kubeconfig, scheduler_kubeconfig, used(), logs()."""

import os
import pathlib
import shutil
import subprocess
import time

import yaml

from definitions import await_established
from held import await_hold
from ports import free_port
from runner import rights
from runner.rights import REPOSITORY
from runner.scheduler import SPAWN

CONTROL_PLANE = REPOSITORY / "tests" / "controlplane"


# What a walkthrough's feature adds to a cluster: manifests, in the order in which they are applied.
MANIFESTS = {
    "kueue": ["kueue/crds", "kueue/hold/v1"],
    "kueue-kinds": ["kueue/crds"],
    "appwrapper": ["appwrapper/crds"],
}
# And options of the real control plane; of `tutti sim`.
REAL_OPTIONS = {"ray-dashboard": ["--ray-dashboard"], "slow-pods": ["--slow-pods"]}
SIM_OPTIONS = {"slow-pods": ["--stop-after", "2s"]}


class ClusterError(Exception):
    """The cluster did not come up."""


def find_kubectl():
    """$KUBECTL, the one built for the control plane, the one in PATH, or one built now: in that order."""
    if os.environ.get("KUBECTL"):
        return os.environ["KUBECTL"]
    built = pathlib.Path(subprocess.check_output([CONTROL_PLANE / "build", "--dir"], text=True).strip()) / "kubectl"
    if built.exists():
        return str(built)
    if shutil.which("kubectl"):
        return shutil.which("kubectl")
    if subprocess.run([CONTROL_PLANE / "build", "kubectl"]).returncode != 0:
        raise ClusterError("there is no kubectl, and it could not be built")
    return str(built)


class RealCluster:
    """tests/controlplane/cluster; the scheduler speaks as the ServiceAccount that manifests/ ships."""

    name = "real"

    def __init__(self, directory, wanted, say):
        self._dir = pathlib.Path(directory) / "cluster"
        self._wanted = wanted
        self._say = say
        self.kubeconfig = self._dir / "admin.kubeconfig"
        self.scheduler_kubeconfig = self.kubeconfig
        self._rights = rights.shipped()
        self._account = rights.account_of(self._rights)
        self._audit = pathlib.Path(directory) / "audit.log"

    def up(self):
        command = ["up", "--until-exit-of", str(os.getpid())]
        if self._account:
            policy = self._audit.with_name("audit-policy.yaml")
            policy.write_text(rights.audit_policy(self._account))
            command += [f"--apiserver-arg=--audit-policy-file={policy}", f"--apiserver-arg=--audit-log-path={self._audit}"]
        for feature in self._wanted.get("features", []):
            if feature not in MANIFESTS:
                command += REAL_OPTIONS.get(feature, ["--features", feature])
        if "kuberay" in self._wanted:
            command += ["--kuberay", self._wanted["kuberay"]]
        for directory in self._wanted.get("crds", []):
            command += ["--crds", str(REPOSITORY / "tests" / "walkthroughs" / directory)]
        self._run(*command)
        self._grant()
        for feature in self._wanted.get("features", []):
            for manifests in MANIFESTS.get(feature, []):
                self._apply(manifests)
        if "kueue" in self._wanted.get("features", []):
            self._await_hold()

    def _apply(self, manifests):
        folder = REPOSITORY / "manifests" / manifests
        done = self._kubectl("apply", "--server-side", "--force-conflicts", "-k", str(folder))
        problem = done.stderr.strip() if done.returncode != 0 else ""
        if not problem and folder.name == "crds":
            files = [word for file in folder.glob("*.*_*.yaml") for word in ("-f", str(file))]
            problem = await_established(self._kubectl, *files)
        if problem:
            raise ClusterError(f"manifests/{manifests} could not be applied: {problem}")

    def _await_hold(self):
        def said(*arguments, stdin):
            done = self._kubectl(*arguments, stdin=stdin)
            return done.stdout + done.stderr

        try:
            await_hold(said)
        except TimeoutError as error:
            raise ClusterError(str(error)) from None

    def _kubectl(self, *arguments, stdin=None):
        return subprocess.run([find_kubectl(), "--kubeconfig", str(self.kubeconfig), *arguments], input=stdin, text=True,
                              capture_output=True, env={**os.environ, "KUBECACHEDIR": str(self._dir / "kubectl-cache")})

    def _grant(self):
        if not self._account:
            self._say("manifests/ ships no ServiceAccount: the scheduler runs as the administrator")
            return
        subprocess.run([find_kubectl(), "--kubeconfig", str(self.kubeconfig), "apply", "-f", "-"], check=True,
                       input=yaml.safe_dump_all(self._rights), text=True, stdout=subprocess.DEVNULL)
        account = "/".join(self._account)
        self.scheduler_kubeconfig = self._dir / "scheduler.kubeconfig"
        self._run("kubeconfig", "--serviceaccount", account, "--output", str(self.scheduler_kubeconfig))
        self._say(f"the scheduler speaks as ServiceAccount {account}, with the rights that manifests/ grants")

    def certificate(self, name):
        """(certificate, key): files of the cluster's PKI."""
        return self._dir / "pki" / f"{name}.crt", self._dir / "pki" / f"{name}.key"

    def used(self):
        """(uses, forbidden) of the scheduler's account, as in rights.read_audit. The cluster is down."""
        return rights.read_audit(self._audit) if self._account else (set(), set())

    def _run(self, verb, *arguments):
        done = subprocess.run([CONTROL_PLANE / "cluster", verb, "--dir", self._dir, *arguments],
                              stdout=subprocess.DEVNULL)
        if done.returncode != 0:
            raise ClusterError(f"cluster {verb} failed")

    def down(self):
        self._run("down")

    def logs(self):
        return sorted((self._dir / "logs").glob("*.log"))


class SimCluster:
    """`tutti sim`: plain HTTP on loopback, no authentication."""

    name = "sim"

    def __init__(self, directory, wanted, say, binary=None):
        self._dir = pathlib.Path(directory) / "cluster"
        self._wanted = wanted
        self._say = say
        self._binary = binary or REPOSITORY / "bin" / "tutti"
        self._process = None
        self.kubeconfig = self._dir / "admin.kubeconfig"
        self.scheduler_kubeconfig = self.kubeconfig

    def up(self):
        if not pathlib.Path(self._binary).exists():
            raise ClusterError(f"{self._binary} is missing: make build")
        self._dir.mkdir(parents=True, exist_ok=True)
        port = free_port()
        command = [str(self._binary), "sim", "--listen", f"127.0.0.1:{port}", "--no-scheduler"]
        if self._wanted.get("kuberay", "none") != "none":
            command += ["--batch-scheduler", self._wanted["kuberay"]]
        features = self._wanted.get("features", [])
        for feature in features:
            command += SIM_OPTIONS.get(feature, [])
        upstream = "upstream-podgroup" in features
        command += ["--runtime-config", f"scheduling.k8s.io/v1alpha2={str(upstream).lower()}"]
        command += [str(REPOSITORY / "tests" / "walkthroughs" / directory) for directory in self._wanted.get("crds", [])]
        with open(self._dir / "sim.log", "wb") as log:
            self._process = subprocess.Popen([*SPAWN, *command], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.kubeconfig.write_text(f"""apiVersion: v1
kind: Config
clusters:
- name: sim
  cluster:
    server: http://127.0.0.1:{port}
users:
- name: sim
  user: {{}}
contexts:
- name: sim
  context: {{cluster: sim, user: sim, namespace: default}}
current-context: sim
""")
        self._await_ready()

    def _await_ready(self):
        deadline = time.monotonic() + 20
        while True:
            done = subprocess.run([find_kubectl(), "--kubeconfig", str(self.kubeconfig), "get", "--raw", "/readyz"],
                                  capture_output=True, text=True)
            if done.returncode == 0:
                return
            if self._process.poll() is not None or time.monotonic() > deadline:
                tail = (self._dir / "sim.log").read_text(errors="replace")[-2000:]
                self.down()
                raise ClusterError(f"`tutti sim` is not ready: {done.stderr.strip()}\n{tail}")
            time.sleep(0.05)

    def down(self):
        if self._process and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def used(self):
        return set(), set()

    def logs(self):
        return [self._dir / "sim.log"]
