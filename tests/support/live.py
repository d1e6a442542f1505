# SPDX-License-Identifier: Apache-2.0
"""`tutti run` on `tutti sim`, with gangs that start and gangs that wait: for tests of its pages."""

import contextlib
import pathlib

import serving
from ports import free_port
from serving import eventually, fetch

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "manifests" / "examples"
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
        self._tutti = tutti
        self._end = contextlib.ExitStack()

    def __enter__(self):
        self.dir = serving.folder(self._end.callback)
        never = self.dir / "never.yaml"
        never.write_text(NEVER)
        listen, self.port = free_port(), free_port()
        self._start("sim", "--no-scheduler", "--listen", f"127.0.0.1:{listen}", "--kubeconfig-out", self.dir / "kubeconfig",
                    *OBJECTS, never)
        eventually(lambda: fetch(f"http://127.0.0.1:{listen}/readyz")[1] == "ok", "the embedded cluster is ready")
        self._start("run", "--kubeconfig", self.dir / "kubeconfig", "--secure-port", self.port,
                    "--authorization-always-allow-loopback")
        eventually(self._decided, "the scheduler has decided")
        return self

    def __exit__(self, *_):
        self._end.close()

    def page(self, path):
        status, text = fetch(f"https://127.0.0.1:{self.port}{path}")
        return text if status == 200 else None

    def _decided(self):
        """A gang has started, a pod waits, and the answers to the writes about them are counted."""
        text = self.page("/metrics") or ""
        wanted = ('tutti_gangs{state="waiting"} ', 'scheduler_unschedulable_pods{plugin=', "tutti_gang_start_duration_seconds_count ",
                  'rest_client_requests_total{code="201"', 'result="scheduled"', 'result="unschedulable"')
        zero = ('tutti_gangs{state="waiting"} 0', "tutti_gang_start_duration_seconds_count 0")
        return all(each in text for each in wanted) and not any(each + "\n" in text for each in zero)

    def _start(self, *arguments):
        serving.start(self._end.callback, self._tutti, *arguments)
