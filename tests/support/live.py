# SPDX-License-Identifier: Apache-2.0
"""`tutti run` on `tutti sim`, with gangs that start and gangs that wait: for tests of its pages."""

import pathlib
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from ports import free_port

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "manifests" / "examples"
SECONDS = 90
# Two gangs that start, and a pod that never can.
OBJECTS = [EXAMPLES / name for name in ("offline/nodes.yaml", "scheduler-plugins-gang.yaml", "ray-cluster.yaml")]
NEVER = """
apiVersion: v1
kind: Pod
metadata: {name: too-large, namespace: default}
spec:
  schedulerName: tutti
  containers: [{name: main, image: busybox, resources: {requests: {cpu: "4000"}}}]
"""


class Live:
    """A scheduler that leads and has decided. Used as a context."""

    def __init__(self, tutti):
        self._tutti = str(tutti)
        self._processes = []

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory()
        self.dir = pathlib.Path(self._folder.name)
        never = self.dir / "never.yaml"
        never.write_text(NEVER)
        listen, self.port = free_port(), free_port()
        self._start("sim", "--no-scheduler", "--listen", f"127.0.0.1:{listen}", "--kubeconfig-out", self.dir / "kubeconfig",
                    *OBJECTS, never)
        self._await(lambda: self._read(f"http://127.0.0.1:{listen}/readyz") == "ok")
        self._start("run", "--kubeconfig", self.dir / "kubeconfig", "--secure-port", self.port,
                    "--authorization-always-allow-loopback")
        self._await(lambda: self._decided())
        return self

    def __exit__(self, *_):
        for process in reversed(self._processes):
            process.kill()
            process.wait()
        self._folder.cleanup()

    def page(self, path):
        return self._read(f"https://127.0.0.1:{self.port}{path}")

    def _decided(self):
        """A gang has started, a pod waits, and the answers to the writes about them are counted."""
        text = self.page("/metrics") or ""
        wanted = ('tutti_gangs{state="waiting"} ', 'scheduler_unschedulable_pods{plugin=', "tutti_gang_start_duration_seconds_count ",
                  'rest_client_requests_total{code="201"', 'result="scheduled"', 'result="unschedulable"')
        zero = ('tutti_gangs{state="waiting"} 0', "tutti_gang_start_duration_seconds_count 0")
        return all(each in text for each in wanted) and not any(each + "\n" in text for each in zero)

    def _start(self, *arguments):
        self._processes.append(subprocess.Popen([self._tutti, *map(str, arguments)], stdout=subprocess.DEVNULL,
                                                stderr=subprocess.DEVNULL))

    def _read(self, url):
        unchecked = ssl._create_unverified_context()  # the certificate is made anew at each start
        try:
            with urllib.request.urlopen(url, timeout=SECONDS, context=unchecked if url.startswith("https") else None) as answer:
                return answer.read().decode()
        except urllib.error.URLError:
            return None

    def _await(self, condition):
        deadline = time.monotonic() + SECONDS
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError("it did not come true")
            time.sleep(0.05)
