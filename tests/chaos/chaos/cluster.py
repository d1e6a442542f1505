# SPDX-License-Identifier: Apache-2.0
"""The control plane, as its users see it, and as the code that makes it fail sees it."""

import base64
import http.client
import json
import re
import ssl
import subprocess
import time
import urllib.parse
import urllib.request

from runner.clusters import CONTROL_PLANE, ClusterError, RealCluster, find_kubectl

from chaos import audit
from chaos.wire import Wire

PATIENCE_SECONDS = 10


class Down(Exception):
    """The API server did not answer."""


class Cluster(RealCluster):
    """All of it real, the KubeRay operator included. Requests of users go straight to the API server; what is judged comes
    from kubectl."""

    def __init__(self, directory, say):
        super().__init__(directory, {"kuberay": "none"}, say)
        self._control = [str(CONTROL_PLANE / "cluster")]
        self._names = {}  # {credential of a token: whose it is}

    def up(self):
        super().up()
        config = self.kubeconfig.read_text()
        server = urllib.parse.urlparse(re.search(r"server: (\S+)", config).group(1))
        self._address = server.hostname, server.port
        self._tls = ssl.create_default_context(cafile=str(self._dir / "pki" / "ca.crt"))
        self._bearer = "Bearer " + re.search(r"token: (\S+)", config).group(1)
        etcd = json.loads((self._dir / "cluster.json").read_text())["processes"]["etcd"]["command"]
        self._etcd = next(word.partition("=")[2] for word in etcd if word.startswith("--listen-client-urls="))

    def door(self, name):
        """(kubeconfig, wire) of a replica: a token of its own, by which the audit log knows it, and a way of its own."""
        if not self._account:
            raise ClusterError("manifests/ ships no ServiceAccount, and the audit log cannot tell the replicas apart")
        path, wire = self._dir / f"{name}.kubeconfig", Wire(self._address)
        self._run("kubeconfig", "--serviceaccount", "/".join(self._account), "--output", str(path))
        text = path.read_text()
        self._names[audit.credential(re.search(r"token: (\S+)", text).group(1))] = name
        path.write_text(text.replace(f":{self._address[1]}\n", f":{wire.port}\n"))
        return path, wire

    def written(self):
        """What the replicas have written so far."""
        found = []
        for log in self._audit.parent.glob("audit*.log"):  # one that is full is put aside under another name
            with open(log, errors="replace") as lines:
                found += audit.writes(lines, self._names)
        return found

    def revive(self):
        """Starts what of the control plane ended for want of the rest, and names it."""
        ended = [line.split()[0] for line in self.control("status").splitlines() if line.endswith(" ended")]
        if ended:
            self._say(f"started again, as it had ended: {', '.join(ended)}")
            self.control("start", *ended)
        return ended

    def control(self, verb, *names):
        """What `cluster kill`, `start` or `status` prints."""
        done = subprocess.run([*self._control, verb, "--dir", str(self._dir), *names], text=True, capture_output=True)
        if done.returncode != 0:
            raise Down(f"cluster {verb} {' '.join(names)}: {done.stderr.strip()}")
        return done.stdout

    def request(self, method, path, body=None):
        """(status, answer); raises Down where there is no answer, which says nothing about what was done."""
        connection = http.client.HTTPSConnection(*self._address, context=self._tls, timeout=PATIENCE_SECONDS)
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None,
                               {"Authorization": self._bearer, "Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise Down(str(error)) from None
        finally:
            connection.close()
        try:
            return answer.status, json.loads(text)
        except ValueError:
            return answer.status, {}

    def get(self, path):
        status, answer = self.request("GET", path)
        if status != 200:
            raise Down(f"GET {path}: {status}")
        return answer

    def lists(self, kinds):
        """{kind: [objects]}, by `kubectl get -o json`."""
        done = subprocess.run([find_kubectl(), "--kubeconfig", str(self.kubeconfig), "get", ",".join(kinds), "-A", "-o", "json",
                               "--request-timeout=30s"], text=True, capture_output=True)
        if done.returncode != 0:
            raise Down(done.stderr.strip())
        found = {kind: [] for kind in kinds}
        for item in json.loads(done.stdout)["items"]:
            group = item["apiVersion"].rpartition("/")[0]
            found[next(kind for kind in kinds if kind.startswith(item["kind"].lower()) and
                       kind.partition(".")[2] == group)].append(item)
        return found

    def compact(self):
        """Forgets all of etcd's history: no watch can be resumed from before."""
        answer = self._ask_etcd("range", {"key": base64.b64encode(b"/registry/").decode()})
        self._ask_etcd("compaction", {"revision": answer["header"]["revision"], "physical": True})

    def _ask_etcd(self, verb, body):
        request = urllib.request.Request(f"{self._etcd}/v3/kv/{verb}", json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
                return json.load(answer)
        except OSError as error:
            raise Down(f"etcd: {error}") from None

    def wait_until_up(self, seconds=120):
        deadline = time.monotonic() + seconds
        while True:
            try:
                return self.get("/readyz")
            except Down:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)
