#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The gRPC port of `run` and of `sim`, asked by a client that knows of it what reflection says: lists, watches, and what each user sees.

  grpc_test.py PATH-TO-TUTTI PATH-TO-GRPC_CALL
"""

import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "app"))

import doors_rig as rig
from doors_rig import eventually, gang
from ports import free_port
from serving import SECONDS

CALL = None
OK, CANCELLED, PERMISSION_DENIED, UNAVAILABLE, UNAUTHENTICATED = 0, 1, 7, 14, 16


class OfGrpc(rig.OfRun):
    def run_one(self, *flags):
        self.address = f"127.0.0.1:{free_port()}"
        return super().run_one("--grpc-port", self.address.rpartition(":")[2], *flags)

    def call(self, method, token="", **request):
        """The status, the answers, and the message of a failure."""
        done = subprocess.run([CALL, self.address, token, method, json.dumps(request)], capture_output=True, text=True,
                              timeout=SECONDS, check=False)
        lines = done.stdout.splitlines()
        return done.returncode, lines if method == "list" else [json.loads(line) for line in lines], done.stderr.strip()

    def names(self, token, **request):
        status, answers, message = self.call("tutti.v1.Decisions/List", token, **request)
        self.assertEqual(status, OK, message)
        return [one["name"] for one in answers[0].get("gangs", [])]

    def test_a_client_learns_the_services_and_lists_and_watches(self):
        self.assertEqual(sorted(self.call("list")[1]), ["grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection",
                                                "tutti.v1.Cluster", "tutti.v1.Decisions", "tutti.v1.Queues",
                                                "tutti.v1.Versions", "tutti.v1.WhatIf"])
        self.assertEqual(self.names("admin"), ["first", "mine"])
        self.assertTrue(self.call("tutti.v1.Versions/Get", "admin")[1][0]["leading"])
        nodes = self.call("tutti.v1.Cluster/ListNodes", "admin")[1][0]["nodes"]
        self.assertEqual([node["name"] for node in nodes], ["node-1", "node-2"])
        self.assertIn("research", [queue["name"] for queue in self.call("tutti.v1.Queues/List", "admin")[1][0]["queues"]])
        one = self.call("tutti.v1.Decisions/Get", "admin", namespace="default", name="first")[1][0]
        self.assertEqual(one["memberList"][0]["name"], "first-0")
        self.watch_from(self.call("tutti.v1.Decisions/List", "admin")[1][0]["sequence"])

    def watch_from(self, sequence):
        """What changes after a list is told to a watch that goes on from it, also if it changed before the watch began."""
        self.apply(gang("later", 1, "1"))
        eventually(lambda: "later" in self.names("admin"), "the gang is known")
        watch = subprocess.Popen([CALL, self.address, "admin", "tutti.v1.Decisions/Watch", json.dumps({"since": sequence})],
                                 stdout=subprocess.PIPE, text=True)
        self.addCleanup(watch.stdout.close)
        self.addCleanup(watch.wait)
        self.addCleanup(watch.kill)
        self.assertEqual(json.loads(watch.stdout.readline()), {"sequence": sequence})
        while (change := json.loads(watch.stdout.readline())).get("gang", {}).get("name") != "later":
            pass

    def test_each_user_sees_the_namespaces_whose_pods_it_may_list(self):
        self.assertEqual(self.names("dev"), ["mine"])
        self.assertEqual(self.names("dev", namespace="other"), ["mine"])
        status, _, message = self.call("tutti.v1.Decisions/List", "dev", namespace="default")
        self.assertEqual((status, message), (PERMISSION_DENIED, 'user "dev" may not list the pods of namespace default'))
        for method, request in {"Decisions/Get": {"namespace": "default", "name": "first"},
                                "Decisions/History": {"namespace": "default", "name": "first"},
                                "Decisions/Watch": {"namespace": "default"}, "Cluster/ListNodes": {},
                                "Queues/List": {}, "Versions/Get": {}, "WhatIf/Ask": {"drain": "node-1"}}.items():
            self.assertEqual(self.call(f"tutti.v1.{method}", "dev", **request)[0], PERMISSION_DENIED, method)
            self.assertEqual(self.call(f"tutti.v1.{method}", "stranger", **request)[0], UNAUTHENTICATED, method)
            self.assertEqual(self.call(f"tutti.v1.{method}", "", **request)[0], UNAUTHENTICATED, method)

    def test_a_standby_names_the_leader_and_shows_nothing(self):
        self.run_one()
        status, _, message = self.call("tutti.v1.Decisions/List", "admin")
        self.assertEqual(status, UNAVAILABLE)
        self.assertIn("not the leader; ask ", message)


class OfTheSim(rig.Base):
    def call(self, port, token, method, request="{}"):
        done = subprocess.run([CALL, f"127.0.0.1:{port}", token, method, request], capture_output=True, text=True,
                              timeout=SECONDS, check=False)
        return done.returncode, done.stdout

    def test_a_sim_answers_anyone(self):
        port = free_port()
        self.sim(rig.CLUSTER + "---" + gang("first", 1, "1"), "--grpc-port", str(port))
        self.gang("first", "whole")
        for token in ("", "any"):
            status, text = self.call(port, token, "tutti.v1.Decisions/List")
            self.assertEqual((status, json.loads(text)["gangs"][0]["name"]), (OK, "first"))
        status, text = self.call(port, "", "tutti.v1.WhatIf/Ask", json.dumps({"drain": "node-1"}))
        self.assertEqual(status, OK)

    def test_a_port_that_cannot_be_is_refused(self):
        refused = subprocess.run([rig.TUTTI, "sim", "--grpc-port", "65536"], capture_output=True, text=True, timeout=SECONDS,
                                 check=False)
        self.assertEqual((refused.returncode, refused.stderr),
                         (2, "tutti sim: error: --grpc-port: write a port from 0 to 65535\n"))


if __name__ == "__main__":
    rig.TUTTI, CALL = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
