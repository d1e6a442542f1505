# SPDX-License-Identifier: Apache-2.0
"""A real API server without controllers, with the kinds that this repository ships and KubeRay's."""

import json
import os
import pathlib
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

import yaml

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
MANIFESTS = REPOSITORY / "manifests"
CONTROL_PLANE = REPOSITORY / "tests" / "controlplane"
PATIENCE_SECONDS = 60
POLL_SECONDS = 0.2
# Admission policies are served in every version of their API that the API server has.
RUNTIME_CONFIG = "admissionregistration.k8s.io/v1beta1=true,admissionregistration.k8s.io/v1alpha1=true"


class Server:
    def __init__(self):
        self._dir = pathlib.Path(tempfile.mkdtemp(prefix="kueue-manifests-"))
        self._bin = pathlib.Path(subprocess.check_output([CONTROL_PLANE / "build", "--dir"], text=True).strip())
        self._cluster("up", "--no-kwok", "--no-controller-manager", "--until-exit-of", str(os.getpid()),
                      "--crds", MANIFESTS / "crds", f"--apiserver-arg=--runtime-config={RUNTIME_CONFIG}")
        config = yaml.safe_load((self._dir / "admin.kubeconfig").read_text())
        self._url = config["clusters"][0]["cluster"]["server"]
        self._token = config["users"][0]["user"]["token"]
        self._context = ssl.create_default_context(cafile=config["clusters"][0]["cluster"]["certificate-authority"])
        self._install()

    def _cluster(self, verb, *arguments):
        subprocess.run([CONTROL_PLANE / "cluster", verb, "--dir", self._dir, *arguments], check=True,
                       stdout=subprocess.DEVNULL)

    def _install(self):
        for kind in ("rayclusters", "rayjobs", "rayservices"):
            self.kubectl("apply", "--server-side", "-f", self._bin / "kuberay-crds" / f"ray.io_{kind}.yaml")
        self.kubectl("apply", "--server-side", "-f", REPOSITORY / "tests" / "walkthroughs" / "job-kinds" / "crds.yaml")
        self.kubectl("apply", "--server-side", "-k", MANIFESTS / "kueue" / "crds")
        self.kubectl("apply", "--server-side", "-k", MANIFESTS / "appwrapper" / "crds")
        deadline = time.monotonic() + PATIENCE_SECONDS
        while missing := self._not_established():
            if time.monotonic() > deadline:
                raise AssertionError(f"not established: {missing}")
            time.sleep(POLL_SECONDS)

    def _not_established(self):
        crds = self.call("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions")["items"]
        return [crd["metadata"]["name"] for crd in crds
                if not any(c["type"] == "Established" and c["status"] == "True" for c in crd["status"].get("conditions") or [])]

    def down(self):
        self._cluster("down", "--purge")

    def kubectl(self, *arguments):
        """What kubectl prints; an AssertionError with its words if it fails."""
        done = subprocess.run(
            [self._bin / "kubectl", "--kubeconfig", self._dir / "admin.kubeconfig", *arguments], check=False,
            capture_output=True, text=True, env={**os.environ, "KUBECACHEDIR": str(self._dir / "kubectl-cache")})
        if done.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(map(str, arguments))}: {done.stderr}")
        return done.stdout

    def call(self, method, path, body=None, content="application/json", user=None):
        """The answer, decoded: an object, or the Status that refuses. Without a user it is asked by an administrator."""
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": content}
        if user:
            headers["Impersonate-User"] = user
        request = urllib.request.Request(self._url + path, method=method, headers=headers,
                                         data=None if body is None else json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, context=self._context, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            return json.load(error)

    def merge(self, path, patch):
        return self.call("PATCH", path, patch, "application/merge-patch+json")
