#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kubectl tutti queue`: opens, closes and holds the queues of an embedded cluster, with the rights of the user.

  ctl_queue_test.py PATH-TO-TUTTI
"""

import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import doors_rig as rig
import serving
from serving import eventually, fetch

QUEUES = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: research}
spec: {weight: 1}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: %(cluster_queue)s}
spec: {namespaceSelector: {}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: team, namespace: other}
spec: {clusterQueue: %(cluster_queue)s}
---
apiVersion: v1
kind: Namespace
metadata: {name: other}
"""
KUEUE = "/apis/kueue.x-k8s.io/v1beta2/"
LOCAL = KUEUE + "namespaces/other/localqueues/team"


class Queues(rig.Base):
    def start_with(self, cluster_queue):
        self.sim(QUEUES % {"cluster_queue": cluster_queue})

    def queue(self, *arguments):
        done = self.ctl("queue", *arguments, "--server", self.url)
        return done.returncode, (done.stdout + done.stderr).strip()

    def value(self, path, *keys):
        found = json.loads(fetch(self.url + path)[1])
        for key in keys:
            found = found.get(key, {})
        return found

    def policy(self, path):
        return self.value(path, "spec", "stopPolicy")

    def state(self):
        return self.value("/apis/scheduling.volcano.sh/v1beta1/queues/research", "status", "state")

    def test_a_queue_of_volcano_is_closed_and_opened_by_commands(self):
        self.start_with("shared")
        eventually(lambda: self.state() == "Open", "the queue is open")
        status, text = self.queue("close", "research")
        self.assertEqual(status, 0, text)
        self.assertRegex(text, r"^queue\.scheduling\.volcano\.sh/research was Open; Command default/research-closequeue-\w+ asks to close it$")
        eventually(lambda: self.state() == "Closed", "the queue is closed")
        self.assertEqual(self.queue("close", "queue/research"), (0, "queue.scheduling.volcano.sh/research is Closed already"))
        self.assertEqual(self.queue("open", "queues.scheduling.volcano.sh/research")[0], 0)
        eventually(lambda: self.state() == "Open", "the queue is open again")
        eventually(lambda: not self.value("/apis/bus.volcano.sh/v1alpha1/commands", "items"), "no Command is left")
        status, text = self.queue("hold", "research")
        self.assertEqual(status, 1)
        self.assertIn("cannot be held", text)
        self.assertEqual(self.state(), "Open")

    def test_queues_of_kueue_get_a_stop_policy(self):
        self.start_with("shared")
        shared = KUEUE + "clusterqueues/shared"
        name = "clusterqueue.kueue.x-k8s.io/shared"
        self.assertEqual(self.queue("hold", "shared"), (0, f"{name}: its stopPolicy was None, and is Hold"))
        self.assertEqual(self.policy(shared), "Hold")
        self.assertEqual(self.queue("close", "cq/shared"), (0, f"{name}: its stopPolicy was Hold, and is HoldAndDrain"))
        self.assertEqual(self.policy(shared), "HoldAndDrain")
        self.assertEqual(self.queue("open", "ClusterQueue/shared"), (0, f"{name}: its stopPolicy was HoldAndDrain, and is None"))
        self.assertEqual(self.queue("open", "shared"), (0, f"{name}: its stopPolicy is None already"))
        self.assertEqual(self.queue("hold", "team"), (1, "error: there is no Queue and no ClusterQueue and no LocalQueue team"))
        self.assertEqual(self.queue("hold", "team", "-n", "other")[0], 0)
        self.assertEqual(self.policy(LOCAL), "Hold")

    def test_a_name_of_several_queues_is_refused(self):
        self.start_with("research")
        status, text = self.queue("close", "research")
        self.assertEqual((status, text), (1, "error: research may be queue.scheduling.volcano.sh/research or "
                                             "clusterqueue.kueue.x-k8s.io/research; write the kind before its name"))
        self.assertEqual(self.policy(KUEUE + "clusterqueues/research"), "None")
        self.assertEqual(self.queue("hold", "clusterqueue/research")[0], 0)
        for wrong in ("cow/research", "queue.scheduling.run.ai/research"):
            self.assertIn("is no kind of queue", self.queue("close", wrong)[1])
        self.assertEqual(self.queue("close", "queue/")[0], 1)

    def test_it_has_the_rights_of_the_user_and_says_what_they_lack(self):
        class Server(serving.Quiet):
            def do_GET(self):
                if self.headers["Authorization"] != "Bearer of-dev":
                    return self.send(401, b"{}")
                if self.path == "/apis/kueue.x-k8s.io":
                    return self.send(200, b'{"preferredVersion": {"version": "v1beta2"}}')
                if self.path == LOCAL:
                    return self.send(200, b'{"metadata": {"name": "team"}}')
                if "clusterqueues" in self.path:
                    return self.send(403, b'{"message": "clusterqueues is forbidden"}')
                return self.send(404, b"{}")

            def do_PATCH(self):
                self.send(403, json.dumps({"message": f"{self.path} {self.body().decode()} is forbidden"}).encode())

        pair = serving.key_pair(self.root)
        port = serving.serve(self.addCleanup, Server, pair).server_port
        config = self.root / "dev"
        config.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": f"https://127.0.0.1:{port}", "insecure-skip-tls-verify": True}}],
            "users": [{"name": "u", "user": {"token": "of-dev"}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u", "namespace": "other"}}]}))
        ask = lambda name: self.ctl("queue", "hold", name, "--kubeconfig", str(config)).stderr
        self.assertEqual(ask("team"), "error: clusterqueues is forbidden; write the kind, as localqueue/team\n")
        self.assertEqual(ask("lq/team"), f'error: {LOCAL} {{"spec":{{"stopPolicy":"Hold"}}}} is forbidden\n')


if __name__ == "__main__":
    rig.TUTTI = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
