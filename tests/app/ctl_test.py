#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kubectl tutti`: of `sim` at its address, and of `run` through the API server with the token of a kubeconfig.

  ctl_test.py PATH-TO-TUTTI
"""

import json
import os
import pathlib
import subprocess
import sys
import unittest

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import doors_rig as rig
import serving
from serving import SECONDS, fetch


class Proxy(serving.Quiet):
    """An API server that knows one Service, and keeps the header Authorization to itself."""

    prefix = "/api/v1/namespaces/tutti-system/services/https:tutti:https/proxy"
    to = None

    def do_GET(self):
        if not self.path.startswith(self.prefix) or self.headers["Authorization"] != "Bearer secret-of-dev":
            status, text = 403, json.dumps({"kind": "Status", "message": "services is forbidden"})
        else:
            headers = {name: value for name, value in self.headers.items() if name.lower().startswith("x-tutti")}
            status, text = fetch(self.to + self.path.removeprefix(self.prefix), headers=headers)
        self.send(status, text.encode())


class OfTheSim(rig.OfTheSim):
    def test_kubectl_tutti_says_why_and_lists(self):
        plugin = self.root / "kubectl-tutti"
        plugin.symlink_to(rig.TUTTI)
        why = subprocess.run([plugin, "why", "pod/second-0", "--server", self.url], capture_output=True, text=True,
                             timeout=SECONDS)
        self.assertEqual(why.returncode, 0, why.stderr)
        self.assertIn("default/second is waiting-for-nodes for ", why.stdout)
        self.assertIn("It is number 1 of 1 that wait in this queue", why.stdout)
        self.assertRegex(why.stdout, r"default/first +research +0 +3 +6 cpu")
        gangs = self.ctl("get", "gangs", "-A", "--server", self.url).stdout
        self.assertRegex(gangs, r"NAMESPACE +NAME +KIND +QUEUE +PRIORITY +STATE +BOUND +POSITION +AGE\n"
                                r"default +first +volcano +research +0 +whole +3/3 +- ")
        self.assertEqual(self.ctl("get", "gangs", "-o", "name", "--server", self.url).stdout, "gang/first\ngang/second\n")
        self.assertRegex(self.ctl("get", "queues", "--server", self.url).stdout, r"research +queue +root +open +cpu=6/16 +1 +1\n")
        self.assertRegex(self.ctl("get", "nodes", "--server", self.url).stdout, r"node-1 +Ready +[02]/4 ")
        self.assertIn("started", self.ctl("history", "first", "--server", self.url).stdout)
        answer = json.loads(self.ctl("get", "gangs", "-o", "json", "--server", self.url).stdout)
        self.assertEqual(len(answer["gangs"]), 2)
        self.assertTrue(json.loads(self.ctl("version", "-o", "json", "--server", self.url).stdout)["scheduler"]["leading"])
        config = yaml.safe_load(self.ctl("config", "view", "--server", self.url).stdout)
        self.assertEqual(config, json.loads(fetch(self.url + "/configz")[1]))
        self.assertEqual(json.loads(self.ctl("config", "view", "-o", "json", "--server", self.url).stdout), config)
        self.assertEqual(self.ctl("config", "edit", "--server", self.url).returncode, 2)
        missing = self.ctl("why", "third", "--server", self.url)
        self.assertEqual((missing.returncode, missing.stdout), (1, ""))
        self.assertIn("there is no gang or pod default/third", missing.stderr)
        self.assertEqual(self.ctl("get", "cows").returncode, 2)
        for name in ("PodGroups/first", "podgroup.scheduling.volcano.sh/first", "default/first", "rayclusters/first"):
            self.assertIn("default/first is whole", self.ctl("why", name, "--server", self.url).stdout, name)
        self.assertIn("complete -F _kubectl_tutti kubectl-tutti", self.ctl("completion", "bash").stdout)


class OfRun(rig.OfRun):
    def test_kubectl_tutti_asks_through_the_api_server_with_the_token_of_the_kubeconfig(self):
        proxy = serving.serve(self.addCleanup, type("To", (Proxy,), {"to": self.scheduler}), serving.key_pair(self.root))
        url = f"https://127.0.0.1:{proxy.server_port}"
        with_it = ("--kubeconfig", self.config_of(url, {"token": "secret-of-dev"}))
        self.assertEqual(self.ctl("get", "gangs", "-A", "-o", "name", *with_it).stdout, "gang/mine\n")
        self.assertIn("other/mine is ", self.ctl("why", "mine", *with_it).stdout)
        refused = self.ctl("why", "default/first", *with_it)
        self.assertEqual((refused.returncode, refused.stderr),
                         (1, 'error: user "dev" may not list the pods of namespace default\n'))
        refused = self.ctl("config", "view", *with_it)
        self.assertEqual((refused.returncode, refused.stderr),
                         (1, 'error: Forbidden: user "dev" may not get this path\n'))
        self.assertIn("services is forbidden", self.ctl("get", "nodes", "--service", "x", *with_it).stderr)

    def config_of(self, server, user):
        """A kubeconfig."""
        config = self.root / "dev"
        config.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": server, "insecure-skip-tls-verify": server.startswith("https")}}],
            "users": [{"name": "u", "user": user}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u", "namespace": "other"}}]}))
        return str(config)

    def test_kubectl_tutti_sends_no_token_in_the_clear(self):
        seen = []

        class Ear(serving.Quiet):
            def do_GET(self):
                seen.append(self.headers)
                self.send(403, b"")

        url = f"http://127.0.0.1:{serving.serve(self.addCleanup, Ear).server_port}"
        ran = self.root / "ran"
        plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": "touch", "args": [str(ran)], "interactiveMode": "Never"}
        for user in ({"token": "secret-of-dev"}, {"username": "dev", "password": "secret"}, {"exec": plugin}):
            config = self.config_of(url, user)
            self.assertEqual(self.ctl("get", "gangs", "--kubeconfig", config).returncode, 1)
            self.assertEqual(self.ctl("get", "gangs", "--kubeconfig", config, "--server", url).returncode, 1)
        self.assertEqual(len(seen), 6)
        for headers in seen:
            self.assertEqual([name for name in headers if "authorization" in name.lower()], [])
        self.assertFalse(ran.exists())

    def test_kubectl_tutti_does_not_act_as_another_user(self):
        config = self.config_of(self.scheduler, {"token": "secret-of-admin", "as": "dev"})
        refused = self.ctl("get", "gangs", "--kubeconfig", config)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("its user has `as`", refused.stderr)


if __name__ == "__main__":
    rig.TUTTI = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
