#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No token, key or environment value leaves `tutti run`: not in its log, its pages, Events, conditions
or a core file, whatever the API server answers, even when that repeats what it was sent.

  secrets_test.py PATH-TO-TUTTI
"""

import base64
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import threading
import unittest
import unittest.mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import doors_test as doors
import serving
from ports import free_port
from serving import SECONDS, eventually, fetch

# A text in which one of these is found has a secret.
MARK = "hunter2"
TOKEN, FILE_TOKEN, PASSWORD = f"{MARK}-token", f"{MARK}-file-token", f"{MARK}-password"
EXEC_TOKEN, EXEC_ENV, PAGE_TOKEN, POD_ENV = (f"{MARK}-{name}" for name in ("exec-token", "exec-env", "page-token", "pod-env"))
BASIC = base64.b64encode(f"user:{PASSWORD}".encode()).decode()

KUBECONFIG = """apiVersion: v1
kind: Config
clusters: [{{name: c, cluster: {{server: "{server}", {cluster}}}}}]
users: [{{name: u, user: {user}}}]
contexts: [{{name: c, context: {{cluster: c, user: u}}}}]
current-context: c
"""

PODS = f"""
apiVersion: v1
kind: Pod
metadata: {{name: waits}}
spec:
  schedulerName: tutti
  containers: [{{name: main, image: busybox, env: [{{name: A, value: {POD_ENV}}}], resources: {{requests: {{cpu: "900"}}}}}}]
"""


class Parrot(serving.Quiet):
    """Fails every request, and repeats all of it. Of the server: `status` 0: it hangs up in the middle; `seen`: it was asked."""

    protocol_version = "HTTP/1.1"

    def answer(self):
        sent = self.body().decode(errors="replace")
        self.server.seen.set()
        if self.server.status == 0:
            self.wfile.write(b"HTTP/1.1 " + self.headers.get("Authorization", "").encode() + b"\r\n\r\n")
            self.close_connection = True
            return
        words = f"{self.requestline} {dict(self.headers)} {sent}"
        body = json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": words, "reason": words,
                           "code": self.server.status}).encode()
        self.send(self.server.status, body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer


class Secrets(unittest.TestCase):
    def setUp(self):
        self.directory = serving.folder(self.addCleanup)

    def parrot(self, status, pair=None):
        server = serving.serve(self.addCleanup, Parrot, pair)
        server.status, server.seen = status, threading.Event()
        return server

    def kubeconfig(self, server, user, cluster=""):
        path = self.directory / "kubeconfig"
        path.write_text(KUBECONFIG.format(server=server, user=user, cluster=cluster))
        return path

    def plugin(self):
        path = self.directory / "plugin"
        path.write_text(f"""#!/bin/sh
[ "$PLUGIN_SECRET" = {EXEC_ENV} ] || exit 1
echo '{{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{{"token":"{EXEC_TOKEN}"}}}}'
""")
        path.chmod(0o755)
        return f"{{exec: {{apiVersion: client.authentication.k8s.io/v1, command: {path}, env: [{{name: PLUGIN_SECRET, value: {EXEC_ENV}}}]}}}}"

    def start(self, kubeconfig, *more):
        self.port = free_port()
        self.log = self.directory / "log"
        with open(self.log, "wb") as log:
            return serving.start(self.addCleanup, doors.TUTTI, "run", "-v", "10", "--kubeconfig", kubeconfig, "--bind-address",
                                 "127.0.0.1", "--secure-port", self.port, *more, log=log, cwd=self.directory,
                                 env={**os.environ, "SOME_SECRET": f"{MARK}-environment"})

    def page(self, path):
        return fetch(f"https://127.0.0.1:{self.port}{path}", token=PAGE_TOKEN)

    def clean(self, text, *more):
        for secret in (MARK, BASIC, *more):
            self.assertNotIn(secret, text)

    def test_no_answer_of_the_api_server_brings_a_credential_into_the_log(self):
        (self.directory / "token").write_text(FILE_TOKEN)
        users = [f"{{token: {TOKEN}}}", f"{{tokenFile: {self.directory}/token}}",
                 f"{{username: user, password: {PASSWORD}}}", self.plugin()]
        for user in users:
            for status in (0, 401, 403, 500, 503):
                with self.subTest(user=user, status=status):
                    server = self.parrot(status)
                    process = self.start(self.kubeconfig(f"http://127.0.0.1:{server.server_port}", user))
                    self.assertTrue(server.seen.wait(SECONDS), self.log.read_text())
                    answered = eventually(lambda: self.page("/metrics"), "the page is refused")
                    self.assertEqual(answered[0], 500)
                    process.send_signal(signal.SIGTERM)
                    process.wait(SECONDS)
                    text = self.log.read_text()
                    self.assertIn('"error"', text, "it said something")
                    self.clean(text + answered[1])
                    server.shutdown()

    def test_keys_and_proxies_and_broken_files_are_not_repeated(self):
        pair = serving.key_pair(self.directory)
        key = pair[1].read_text().splitlines()[5]  # the middle of it
        server = self.parrot(403, pair)
        user = f"{{client-certificate: {self.directory}/tls.crt, client-key: {self.directory}/tls.key}}"
        ca = f"certificate-authority: {self.directory}/tls.crt, tls-server-name: localhost"
        process = self.start(self.kubeconfig(f"https://127.0.0.1:{server.server_port}", user, ca))
        eventually(lambda: '"error"' in self.log.read_text(), "it complains")
        process.kill()
        process.wait()
        self.clean(self.log.read_text(), key)

        process = self.start(self.kubeconfig("http://127.0.0.1:2", f"{{token: {TOKEN}}}", f'proxy-url: "http://user:{PASSWORD}@127.0.0.1:1"'))
        eventually(lambda: '"error"' in self.log.read_text(), "it complains")
        process.kill()
        process.wait()
        self.clean(self.log.read_text())

        # Where libcurl would stop reading it, so that it quotes all of it.
        for end in ("/s@127.0.0.1:1", "#s@127.0.0.1:1", "@s@127.0.0.1:1", " s@127.0.0.1:1", "@127.0.0.1:99999", "@127.0.0.1:port"):
            with self.subTest(end):
                proxy = f"http://user:{PASSWORD}{end}"
                done = doors.tutti("run", "--kubeconfig", str(self.kubeconfig("https://127.0.0.1:1", "{}", f'proxy-url: "{proxy}"')))
                self.assertEqual(done.returncode, 1)
                self.assertIn("clusters[c].cluster.proxy-url", done.stderr)
                self.clean(done.stderr)
        for proxy in (f"http://user:{PASSWORD}/s@127.0.0.1:1", f"gopher://user:{PASSWORD}@127.0.0.1:1"):
            with self.subTest(proxy), unittest.mock.patch.dict(os.environ, {"HTTPS_PROXY": proxy}):
                process = self.start(self.kubeconfig("https://api.invalid:6443", "{}"))
                eventually(lambda: '"error"' in self.log.read_text(), "it complains")
                process.kill()
                process.wait()
                self.clean(self.log.read_text())

        broken = {"user": f"{{token: [{TOKEN}]}}", "yaml": f"{{token: '{TOKEN}", "data": f"{{client-key-data: '{MARK}!'}}",
                  "twice": f"{{client-key-data: {base64.b64encode(TOKEN.encode()).decode()}}}"}
        for what, user in broken.items():
            with self.subTest(what):
                done = doors.tutti("run", "--kubeconfig", str(self.kubeconfig("https://127.0.0.1:1", user)))
                self.assertEqual(done.returncode, 1)
                self.assertTrue(done.stderr)
                self.clean(done.stderr + done.stdout)
        done = doors.tutti("run", "--kubeconfig", str(self.kubeconfig(f"https://user:{PASSWORD}@127.0.0.1:1", "{}")))
        self.assertIn("users[].user", done.stderr)
        self.clean(done.stderr)

    def test_pages_events_and_conditions_hold_no_secret(self):
        cluster = doors.OnTheEmbeddedCluster("setUp")
        cluster.setUp()
        self.addCleanup(cluster.doCleanups)
        self.start(self.kubeconfig(f"http://127.0.0.1:{cluster.port}", f"{{token: {TOKEN}}}"))
        eventually(lambda: self.page("/readyz")[0] == 200, "it is ready")
        self.assertEqual(cluster.api("/api/v1/namespaces/default/pods", "POST", PODS, content_type="application/yaml")[0], 201)

        def told():
            events = json.loads(cluster.api("/apis/events.k8s.io/v1/namespaces/default/events")[1])["items"]
            return any(event["reason"] == "FailedScheduling" for event in events)

        eventually(told, "the pod is told why it waits")
        pod = json.loads(cluster.api("/api/v1/namespaces/default/pods/waits")[1])
        self.assertIn("cpu", json.dumps(pod["status"]["conditions"]))
        shown = [cluster.api("/apis/events.k8s.io/v1/namespaces/default/events")[1], json.dumps(pod["status"]),
                 self.log.read_text()]
        for path in ("/metrics", "/configz", "/debug/decisions", "/readyz?verbose", "/flagz", "/statusz", "/nothing"):
            shown.append(self.page(path)[1])
        self.assertNotIn("waits", shown[3], "no label of a metric is a tenant's to choose")
        self.clean("".join(shown))
        self.assertIn(POD_ENV, json.dumps(pod["spec"]), "the test would find it")

    def test_a_crash_leaves_no_memory_behind(self):
        def died(process):
            # The status, not the exit code: it has the bit that says a core file was written.
            status = os.waitpid(process.pid, 0)[1]
            process.returncode = -os.WTERMSIG(status)
            return status

        soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
        if hard == 0:
            self.skipTest("no process may leave a core file here")
        resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_CORE, (soft, hard))
        other = subprocess.Popen(["sleep", "60"], cwd=self.directory)
        other.send_signal(signal.SIGSEGV)
        if not os.WCOREDUMP(died(other)):
            self.skipTest("no process leaves a core file here")
        server = self.parrot(500)
        sanitizers = {"ASAN_OPTIONS": "handle_segv=0", "TSAN_OPTIONS": "handle_segv=0"}  # which take the signal else
        with unittest.mock.patch.dict(os.environ, sanitizers):
            process = self.start(self.kubeconfig(f"http://127.0.0.1:{server.server_port}", f"{{token: {TOKEN}}}"))
        self.assertTrue(server.seen.wait(SECONDS))
        process.send_signal(signal.SIGSEGV)
        status = died(process)
        self.assertEqual(os.WTERMSIG(status), signal.SIGSEGV)
        self.assertFalse(os.WCOREDUMP(status))


if __name__ == "__main__":
    doors.TUTTI = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
