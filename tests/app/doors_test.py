#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The binary's doors as a user meets them: exit codes, messages, and two replicas of `run` on an embedded cluster.

  doors_test.py PATH-TO-TUTTI
"""

import base64
import gzip
import hashlib
import html.parser
import json
import os
import pathlib
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import serving
from ports import free_port
from serving import SECONDS, eventually, fetch

TUTTI = None
SOON = 10  # seconds: less than a review may take

POD = """
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  schedulerName: tutti
  containers: [{name: main, image: busybox, resources: {requests: {cpu: "%s"}}}]
"""
LEASE = "/apis/coordination.k8s.io/v1/namespaces/tutti-system/leases/tutti"
# Nothing listens there.
KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: u, user: {}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
"""
NODE = """
apiVersion: v1
kind: Node
metadata: {name: node-1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
"""


class Page(html.parser.HTMLParser):
    """What a browser would make of a page: its tags, the names of their attributes, its texts, style and policy."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.texts = set(), [], []
        self.style = self.policy = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += [name for name, _ in attrs]
        if dict(attrs).get("http-equiv") == "Content-Security-Policy":
            self.policy = dict(attrs)["content"]

    def handle_data(self, data):
        if self.lasttag == "style" and not self.style:
            self.style = data
        self.texts.append(data)


def tutti(*arguments, stdin=""):
    return subprocess.run([TUTTI, *arguments], input=stdin, capture_output=True, text=True, timeout=SECONDS)


class Offline(unittest.TestCase):
    def test_help_and_version_name_every_verb(self):
        self.assertRegex(tutti("--version").stdout, r"^tutti \d+\.\d+\.\d+\n$")
        text = tutti("--help").stdout
        for verb in ("run", "simulate", "sim", "demo"):
            self.assertIn(f"  {verb} ", text)
            self.assertEqual(tutti(verb, "--help").returncode, 0)

    def test_nonsense_is_refused(self):
        for arguments in ([], ["fly"], ["simulate"], ["simulate", "-", "-o", "xml"], ["sim", "--listen", "here"]):
            done = tutti(*arguments)
            self.assertNotEqual(done.returncode, 0, arguments)
            self.assertTrue(done.stderr, arguments)

    def test_a_wrong_command_line_exits_with_2_and_names_the_verb(self):
        for arguments in (["simulat", "x.yaml"], ["fly"], ["completion", "bash"], ["run", "--leader-elekt"], [],
                          ["simulate"], ["evaluate", "x.yaml"], ["help", "fly"]):
            done = tutti(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertEqual(done.stdout, "", arguments)
            self.assertTrue(done.stderr, arguments)
        self.assertIn('unknown command "simulat"; did you mean simulate?', tutti("simulat", "x.yaml").stderr)
        self.assertIn('unknown command "fly"; known are ', tutti("fly").stderr)
        self.assertIn('unknown command "fly"', tutti("help", "fly").stderr)

    def test_a_value_that_cannot_be_exits_with_2(self):
        for arguments in (["demo", "nosuch"], ["run", "-v=abc"], ["run", "--secure-port=99999"], ["run", "--logging-format=x"],
                          ["run", "--leader-elect-lease-duration=abc"], ["simulate", "-", "--until", "5"],
                          ["sim", "--listen", "here"], ["sim", "--stop-after", "x"], ["ctl", "wy", "x"]):
            done = tutti(*arguments, stdin=NODE)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
        self.assertIn('unknown command "wy"; did you mean why?', tutti("ctl", "wy", "x").stderr)
        self.assertIn("did you mean --until?", tutti("simulate", "--untill", "5m", "x.yaml").stderr)
        self.assertIn("; known are --", tutti("simulate", "--fooo", "x.yaml").stderr)
        self.assertIn("manifests are given without a flag", tutti("simulate", "-f", "x.yaml").stderr)

    def test_help_and_version_are_verbs_too(self):
        self.assertEqual(tutti("version").stdout, tutti("--version").stdout)
        self.assertEqual(tutti("run", "--version").stdout, tutti("--version").stdout)
        self.assertEqual(tutti("run", "--version=true").stdout, tutti("--version").stdout)
        self.assertRegex(json.loads(tutti("version", "-o", "json").stdout)["version"], r"^\d+\.\d+\.\d+$")
        self.assertEqual(tutti("help").stdout, tutti("--help").stdout)
        self.assertEqual(tutti("help", "sim").stdout, tutti("sim", "--help").stdout)
        self.assertEqual(tutti("help", "sim").returncode, 0)

    def test_until_may_be_in_days(self):
        self.assertEqual(tutti("simulate", "-", "--until", "1d", stdin=NODE).returncode, 0)
        refused = tutti("simulate", "-", "--until", "1w", stdin=NODE)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--until", refused.stderr)

    def test_standard_input_is_read_once(self):
        self.assertIn("- is given twice", tutti("simulate", "-", "-", stdin=NODE).stderr)
        done = tutti("simulate", "-", "--config", "-", stdin=NODE)
        self.assertEqual(done.returncode, 2)
        self.assertIn("both a PATH and --config", done.stderr)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "x.yaml")
            path.write_text(NODE + "---" + POD % "1")
            config = "apiVersion: tutti.dev/v1alpha1\nkind: TuttiConfiguration\npolicy: %s\n"
            self.assertEqual(tutti("simulate", str(path), "--config", "-", stdin=config % "keep").returncode, 0)
            self.assertIn("-:3: policy", tutti("simulate", str(path), "--config", "-", stdin=config % "kepe").stderr)

    def test_folders_are_read_as_kubectl_reads_them(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "a" / "b").mkdir(parents=True)
            (root / ".git").mkdir()
            (root / ".git" / "x.yaml").write_text("not: a manifest")
            (root / "nodes.yaml").write_text(NODE)
            (root / "kustomization.yaml").write_text("resources: [nodes.yaml]\n")
            (root / "a" / "b" / "pod.yaml").write_text(POD % "1")
            done = tutti("simulate", folder, "-o", "json")
            self.assertEqual(json.loads(done.stdout)["pods"], [], done.stderr)
            self.assertIn(f"{folder}: subfolders are read with --recursive only: a\n", done.stderr)
            self.assertIn(f"{folder} is a kustomization: kubectl kustomize {folder} | tutti", done.stderr)
            (root / "chart" / "templates").mkdir(parents=True)
            (root / "chart" / "Chart.yaml").write_text("apiVersion: v2\nname: x\n")
            (root / "chart" / "templates" / "pod.yaml").write_text("{{ .Values.pod }}")
            done = tutti("simulate", "-R", folder, "-o", "json")
            self.assertEqual(json.loads(done.stdout)["pods"][0]["node"], "node-1", done.stderr)
            self.assertNotIn("subfolders", done.stderr)
            chart = f"{folder}/chart"
            self.assertIn(f"{chart} is a Helm chart: helm template {chart} | tutti ... -; it is left out here\n", done.stderr)
            done = tutti("simulate", str(root / "a"))
            self.assertEqual(done.returncode, 1)
            self.assertIn("in this folder; --recursive reads its subfolders (b)", done.stderr)

    def test_what_makes_manifests_is_named_with_its_command(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "chart" / "templates").mkdir(parents=True)
            (root / "chart" / "Chart.yaml").write_text("apiVersion: v2\nname: x\n")
            template = root / "chart" / "templates" / "pod.yaml"
            template.write_text("apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Release.Name }}\n")
            (root / "kust").mkdir()
            (root / "kust" / "kustomization.yaml").write_text("resources: []\n")
            packed = root / "pods.yaml.gz"
            packed.write_bytes(gzip.compress(NODE.encode()))
            for arguments, told in (
                    ([root / "chart"], f"{root}/chart is a Helm chart: helm template {root}/chart | tutti"),
                    ([root / "chart/Chart.yaml"], f"describes a Helm chart: helm template {root}/chart | tutti"),
                    (["-R", root], f"{root}/chart is a Helm chart: helm template {root}/chart | tutti"),
                    ([template], "pod.yaml: document 1, line 4: this is a Helm template"),
                    ([root / "kust"], f"{root}/kust is a kustomization: kubectl kustomize {root}/kust | tutti"),
                    ([root / "kust/kustomization.yaml"], f"is a kustomization: kubectl kustomize {root}/kust | tutti"),
                    ([packed], f"{packed} is gzip: gunzip -c {packed} | tutti"),
                    (["https://example.com/x.yaml"], "curl -fsSL https://example.com/x.yaml | tutti")):
                done = tutti("simulate", *map(str, arguments))
                self.assertEqual(done.returncode, 1, arguments)
                self.assertIn(told, done.stderr)

    def test_simulate_prints_the_same_in_three_forms(self):
        text = NODE + "---" + POD % "1"
        as_json = tutti("simulate", "-", "-o", "json", stdin=text)
        self.assertEqual(as_json.returncode, 0, as_json.stderr)
        self.assertEqual(as_json.stdout, tutti("simulate", "-", "-o", "json", stdin=text).stdout)
        self.assertEqual(json.loads(as_json.stdout)["pods"], [
            {"namespace": "default", "name": "p", "node": "node-1", "state": "bound", "reason": "", "message": ""}])
        self.assertIn("\npods:\n- namespace: default\n", "\n" + tutti("simulate", "-", "-o", "yaml", stdin=text).stdout)
        self.assertRegex(tutti("simulate", "-", stdin=text).stdout, r"default +p +bound +node-1")

    def test_simulate_ends_its_table_with_a_summary_and_draws_it(self):
        text = NODE + "---" + POD % "1"
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "drawing.svg")
            done = tutti("simulate", "-", "--plot", path, stdin=text)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"\nSUMMARY\ngangs whole: 1 of 1, in 0(\.\d+)? s\n")
            with open(path, encoding="utf-8") as drawing:
                self.assertIn("default/p runs", drawing.read())
            done = tutti("simulate", "-", "--plot", os.path.join(folder, "no", "such.svg"), stdin=text)
            self.assertEqual(done.returncode, 1)
            self.assertIn("such.svg: No such file or directory", done.stderr)

    def test_reports_are_pages_without_scripts_that_show_hostile_texts_as_texts(self):
        hostile = "---\napiVersion: x.io/v1\nkind: <script>alert(1)</script>\nmetadata: {name: a}\n"
        text = NODE + "---" + POD % "1" + "---" + (POD % "100").replace("name: p", "name: large") + hostile
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.html")
            for arguments, shown in (
                    (["simulate", "-"], ["default", "large", "waiting-for-nodes", "the kind <script>alert(1)</script> of x.io/v1"]),
                    (["evaluate", "-", "--pod", "large"], ["node-1", "NodeResourcesFit: Insufficient cpu"])):
                done = tutti(*arguments, "--report", path, stdin=text)
                self.assertEqual(done.returncode, 0, done.stderr)
                with open(path, encoding="utf-8") as report:
                    page = Page(report.read())
                for each in shown:
                    self.assertTrue(any(each in one for one in page.texts), (each, page.texts))
                self.assertFalse({"script", "link", "img", "iframe", "object"} & page.tags)
                self.assertFalse([name for name in page.attributes if name.startswith("on") or name in ("href", "src")])
                digest = base64.b64encode(hashlib.sha256(page.style.encode()).digest()).decode()
                self.assertEqual(page.policy, f"default-src 'none'; style-src 'sha256-{digest}'")
            done = tutti("simulate", "-", "--report", os.path.join(folder, "no", "such.html"), stdin=NODE)
            self.assertEqual(done.returncode, 1)
            self.assertIn("--report: ", done.stderr)

    def test_bad_input_is_named_and_ends_badly(self):
        done = tutti("simulate", "-", stdin=POD % "abc")
        self.assertEqual(done.returncode, 1)
        self.assertIn('spec.containers[0].resources.requests[cpu]: "abc" is not a quantity', done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertIn("/nowhere.yaml", tutti("simulate", "/nowhere.yaml").stderr)
        done = tutti("run", "--config", "/nowhere.yaml")
        self.assertEqual(done.returncode, 1)
        self.assertIn("/nowhere.yaml", done.stderr)
        self.assertIn("/nowhere/kubeconfig", tutti("run", "--kubeconfig", "/nowhere/kubeconfig").stderr)

    def test_a_serving_flag_that_cannot_be_is_named(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(KUBECONFIG)
            file.flush()
            for flag, value in (("--authentication-kubeconfig", "/nowhere"), ("--authorization-kubeconfig", "/nowhere"),
                                ("--client-ca-file", "/nowhere"), ("--client-ca-file", file.name), ("--tls-cert-file", "/nowhere"),
                                ("--master", "foo"), ("--master", "https://127.0.0.1:99999"),
                                ("--authentication-token-webhook-cache-ttl", "soon"),
                                ("--authentication-tolerate-lookup-failure", "false")):
                done = tutti("run", "--kubeconfig", file.name, "--secure-port", str(free_port()), f"{flag}={value}")
                # A value that cannot be is a wrong command line; a file that cannot be used is not.
                wrong = (flag, value) in (("--tls-cert-file", "/nowhere"), ("--authentication-token-webhook-cache-ttl", "soon"))
                self.assertEqual(done.returncode, 2 if wrong else 1, flag)
                self.assertIn(flag, done.stderr)


    def test_output_that_is_lost_is_an_error(self):
        small = NODE + "---" + POD % "1"
        large = "---".join([small, *((NODE + "---" + POD % "1").replace("node-1", f"n{i}").replace("name: p}", f"name: p{i}}}")
                                     for i in range(200))])
        for text in (small, large):
            for arguments in (["simulate", "-"], ["simulate", "-", "-o", "json"], ["evaluate", "-", "--pod", "p"], ["demo"]):
                with open("/dev/full", "w") as full:
                    done = subprocess.run([TUTTI, *arguments], input=text, stdout=full, stderr=subprocess.PIPE, text=True,
                                          timeout=SECONDS)
                self.assertEqual(done.returncode, 1, arguments)
                self.assertRegex(done.stderr, f"^tutti {arguments[0]}: error: standard output: .*No space left on device\n$")

    def test_offline_verbs_end_by_a_signal(self):
        for arguments in (["simulate", "-"], ["evaluate", "-", "--pod", "p"], ["sim", "-"]):
            for number in (signal.SIGINT, signal.SIGTERM):
                # What a shell starts in the background has SIGINT ignored.
                process = subprocess.Popen([TUTTI, *arguments], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                           preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
                process.send_signal(number)  # while it waits for its input
                try:
                    self.assertEqual(process.wait(SECONDS), -number, arguments)
                finally:
                    process.kill()
                    process.stdin.close()

    def test_flags_are_taken_as_kube_scheduler_takes_them(self):
        config = "apiVersion: tutti.dev/v1alpha1\nkind: TuttiConfiguration\n"
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file, tempfile.NamedTemporaryFile("w", suffix=".yaml") as node:
            file.write(config)
            file.flush()
            node.write(NODE)
            node.flush()
            done = tutti("simulate", "--config", file.name, node.name, "-o=json")
            self.assertEqual(done.returncode, 0, done.stderr)
            done = tutti("run", "-v=2", "--kubeconfig=", "--authorization-always-allow-paths=", "--config", "/nowhere.yaml")
            self.assertEqual(done.returncode, 1)
            self.assertIn("/nowhere.yaml", done.stderr)
        done = tutti("run", "--leader-elect-lease-duraton=5s")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("did you mean --leader-elect-lease-duration?", done.stderr)
        self.assertNotIn("did you mean", tutti("run", "--zzzzzzzz").stderr)

    def test_what_of_the_configuration_has_no_effect_is_told(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
                       "extenders: [{urlPrefix: 'http://e/'}]\nprofiles: [{schedulerName: tutti}]\n")
            file.flush()
            for arguments in (["simulate", "-"], ["evaluate", "-", "--pod", "p"]):
                done = tutti(*arguments, "--config", file.name, stdin=NODE + "---" + POD % "1")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("note: extenders are not asked", done.stderr)

    def test_command_lines_of_kube_scheduler_are_taken_unchanged(self):
        for file in sorted((pathlib.Path(__file__).parent / "command_lines").glob("*.txt")):
            flags = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
            with tempfile.TemporaryDirectory() as folder:
                written = pathlib.Path(folder) / "config.yaml"
                done = tutti("run", *flags, f"--write-config-to={written}")
                self.assertEqual(done.returncode, 0, f"{file.name}: {done.stderr}")
                self.assertIn("kind: KubeSchedulerConfiguration", written.read_text())
            said = done.stderr.count("has no effect")
            if file.name == "every-flag.txt":
                self.assertIn("NoSuchGate is no feature gate", done.stderr)
                self.assertRegex(done.stderr, r"(?m)^W\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ tutti\] \"--profiling has no effect")
                self.assertEqual(done.stderr.count("--profiling has no effect"), 1)
            elif file.name == "kubeadm-hardened.txt":
                self.assertEqual(said, 1)  # the gate
            else:
                self.assertEqual(said, 0, done.stderr)

    def test_lease_times_that_contradict_each_other_are_refused_offline_too(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
                       "leaderElection: {leaseDuration: 5s}\n")
            file.flush()
            for arguments in (["simulate", "-"], ["evaluate", "-", "--pod", "p"], ["sim", "--listen", "127.0.0.1:0"], ["run"]):
                done = tutti(*arguments, "--config", file.name, stdin=NODE + "---" + POD % "1")
                self.assertEqual(done.returncode, 1, arguments)
                self.assertIn(f"{file.name}:3: leaderElection: leaseDuration must be longer", done.stderr)

    def test_an_exec_plugin_that_is_not_there_is_told_at_once(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(KUBECONFIG.replace("user: {}", "user: {exec: {apiVersion: client.authentication.k8s.io/v1, "
                                          "command: no-such-plugin, installHint: get it}}"))
            file.flush()
            done = tutti("run", "--kubeconfig", file.name)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"exec plugin no-such-plugin (user u in {file.name} (context c)): there is no such program; get it",
                          done.stderr)

    def test_a_name_that_is_cut_within_a_character_is_refused(self):
        pod = f"apiVersion: v1\nkind: Pod\nmetadata: {{generateName: a{60 * 'é'}}}\nspec: {{containers: [{{name: c}}]}}\n"
        done = tutti("simulate", "-", stdin=pod)
        self.assertEqual(done.returncode, 1)
        self.assertIn("-:3: Pod", done.stderr)

    def test_what_is_no_text_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / "x.yaml").mkdir()
            (path / "y.yaml").write_bytes(b"apiVersion: v1\nkind: Pod\nmetadata: {name: \"\xff\"}\n")
            done = tutti("simulate", folder)
            self.assertEqual((done.returncode, done.stderr),
                             (1, f"note: {path}: subfolders are read with --recursive only: x.yaml\n"
                                 f"tutti simulate: error: {path}/y.yaml: document 1, line 3: the byte 0xff after "
                                 "`metadata: {name: \"` is not UTF-8; save the text as UTF-8\n"))
            done = tutti("simulate", "--config", folder, str(path / "y.yaml"))
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"{folder}: Is a directory", done.stderr)


class SimSaysWhatItIs(unittest.TestCase):
    """`sim` as a new user meets it: its warnings, its addresses, its PodGroups."""

    def sim(self, *arguments, stdin="", listen="127.0.0.1:0"):
        """(url, what it says on stdout, what it said on stderr) of a sim that serves."""
        directory = serving.folder(self.addCleanup)
        manifests = directory / "manifests.yaml"
        manifests.write_text(stdin or NODE)
        kubeconfig = directory / "kubeconfig"
        errors = open(directory / "stderr", "w+")
        self.addCleanup(errors.close)
        process = subprocess.Popen([TUTTI, "sim", str(manifests), "--listen", listen, "--kubeconfig-out", str(kubeconfig),
                                    *arguments], stdout=subprocess.PIPE, stderr=errors, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait, SECONDS)
        self.addCleanup(process.send_signal, signal.SIGTERM)
        said = ""
        while "Ctrl-C" not in said:
            line = process.stdout.readline()
            self.assertTrue(line, said)
            said += line
        errors.seek(0)
        url = re.search(r"server: (\S+)", kubeconfig.read_text()).group(1)
        self.assertIn(url, said)
        return url, said, errors.read()

    def warnings_of(self, url, path, body, method="POST", content_type="application/yaml"):
        request = urllib.request.Request(url + path, method=method, data=body.encode(),
                                         headers={"Content-Type": content_type})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.headers.get_all("Warning") or []

    def test_what_has_no_effect_is_a_warning_when_it_is_written_and_only_then(self):
        url, _, errors = self.sim(stdin=NODE + "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: q}\n"
                                  "spec: {maxReplicas: 3, scaleTargetRef: {kind: Deployment, name: d}}\n---\napiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\n"
                                  "metadata: {name: j}\n")
        self.assertIn("note: the kind HorizontalPodAutoscaler has no effect in the embedded cluster", errors)
        self.assertIn("note: the kind JobSet of jobset.x-k8s.io/v1alpha2 is not known here: j is ignored", errors)
        pods = "{containers: [{name: c, image: i}]}"
        daemons = ("apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: s}\nspec: {selector: {matchLabels: {a: b}}, "
                   "template: {metadata: {labels: {a: b}}, spec: %s}}\n" % pods)
        path = "/apis/apps/v1/namespaces/default/daemonsets"
        told = self.warnings_of(url, path, daemons)
        self.assertIn("no controller for the kind DaemonSet: no pods are made", told[0])
        merge = "application/merge-patch+json"
        self.assertEqual(self.warnings_of(url, path + "/s", '{"metadata": {"labels": {"x": "y"}}}', "PATCH", merge), [])
        taint = '{"spec": {"taints": [{"key": "k", "effect": "NoExecute"}]}}'
        self.assertIn("evicts no pod", self.warnings_of(url, "/api/v1/nodes/node-1", taint, "PATCH", merge)[0])
        pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec: {schedulerName: %s, containers: [{name: c, image: i}]}\n"
        path = "/api/v1/namespaces/default/pods"
        self.assertIn("serves the schedulerName unserved", self.warnings_of(url, path, pod % ("a", "unserved"))[0])
        self.assertEqual(self.warnings_of(url, path, pod % ("b", "tutti")), [])
        self.assertEqual(self.warnings_of(url, path, pod % ("c", "default-scheduler")), [])

    def test_without_a_scheduler_no_name_is_said_to_be_unserved(self):
        url, _, _ = self.sim("--no-scheduler")
        self.assertEqual(self.warnings_of(url, "/api/v1/namespaces/default/pods", POD % "1"), [])

    def test_podgroups_are_those_of_our_examples_first(self):
        def groups(*arguments, stdin=""):
            url, said, _ = self.sim(*arguments, stdin=stdin)
            names = [one["name"] for one in json.loads(fetch(url + "/apis")[1])["groups"]]
            names = [name for name in names if name.startswith("scheduling.")]
            self.assertIn(f"podgroups alone means podgroups.{names[0]}\n", said)
            return names, fetch(url + "/apis/scheduling.k8s.io/v1alpha2")[0]

        self.assertEqual(groups(), (["scheduling.x-k8s.io", "scheduling.k8s.io", "scheduling.volcano.sh"], 200))
        volcano = (["scheduling.volcano.sh", "scheduling.k8s.io", "scheduling.x-k8s.io"], 200)
        self.assertEqual(groups("--batch-scheduler=volcano"), volcano)
        self.assertEqual(groups(stdin="apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: q}\n"), volcano)
        self.assertEqual(groups("--runtime-config=scheduling.k8s.io/v1alpha2=false")[1], 404)

    def test_an_open_listener_is_said_aloud_and_its_address_can_be_called(self):
        url, _, errors = self.sim(listen="0.0.0.0:0")
        self.assertTrue(url.startswith("http://127.0.0.1:"), url)
        self.assertEqual(fetch(url + "/livez")[0], 200)
        self.assertIn("warning: --listen 0.0.0.0: anyone who reaches this machine", errors)
        self.assertNotIn("warning", self.sim()[2])


class OnTheEmbeddedCluster(unittest.TestCase):
    def setUp(self):
        self.directory = serving.folder(self.addCleanup)
        self.kubeconfig = str(self.directory / "kubeconfig")
        node = self.directory / "node.yaml"
        node.write_text(NODE)
        self.port = free_port()
        self.start("sim", "--no-scheduler", "--listen", f"127.0.0.1:{self.port}", "--kubeconfig-out", self.kubeconfig,
                   str(node))
        eventually(lambda: self.api("/readyz")[0] == 200, "the embedded cluster is ready")

    def start(self, *arguments):
        log = open(self.directory / f"{arguments[0]}.log", "ab")
        self.addCleanup(log.close)
        return serving.start(self.addCleanup, TUTTI, *arguments, log=log)

    def replica(self, *flags):
        port = free_port()
        process = self.start("run", "--kubeconfig", self.kubeconfig, "--bind-address", "127.0.0.1",
                             "--secure-port", str(port), *flags)
        eventually(lambda: self.page(port, "/readyz")[0] == 200, "a replica is ready")
        return process, port

    def api(self, path, *arguments, **more):
        return fetch(f"http://127.0.0.1:{self.port}{path}", *arguments, **more)

    @staticmethod
    def page(port, path, token="visitor"):
        return fetch(f"https://127.0.0.1:{port}{path}", token=token)

    def lease_holder(self):
        status, text = self.api(LEASE)
        return json.loads(text)["spec"]["holderIdentity"] if status == 200 else ""

    def steal_the_lease(self):
        stolen = json.dumps({"spec": {"holderIdentity": "another"}})
        status, text = self.api(LEASE, "PATCH", stolen, content_type="application/merge-patch+json")
        self.assertEqual(status, 200, text)

    def leads(self, port):
        return 'leader_election_master_status{name="tutti"} 1' in self.page(port, "/metrics")[1]

    def leader_events(self):
        events = json.loads(self.api("/apis/events.k8s.io/v1/namespaces/tutti-system/events")[1])["items"]
        return [(event["reason"], event["note"], event["regarding"]["kind"]) for event in events]

    def test_replicas_hand_over_and_a_lost_lease_ends_one(self):
        first, first_port = self.replica()
        eventually(lambda: self.leads(first_port), "the first leads")
        second, second_port = self.replica()
        self.assertFalse(self.leads(second_port))
        told = f"not the leader; ask {self.lease_holder()}, which holds the Lease tutti-system/tutti\n"
        eventually(lambda: self.page(second_port, "/debug/decisions") == (503, told), "the second names the first")
        of_leaders = ("tutti_gangs{", "scheduler_pending_pods{")
        for name in of_leaders:
            self.assertIn(name, self.page(first_port, "/metrics")[1])
            self.assertNotIn(name, self.page(second_port, "/metrics")[1])
        became_leader = [("LeaderElection", f"{self.lease_holder()} became leader", "Lease")]
        eventually(lambda: self.leader_events() == became_leader, "there is one Event, of the first")
        self.assertEqual(self.page(first_port, "/metrics", token=None)[0], 403)
        for path in ("/livez", "/readyz"):
            checks = self.page(first_port, path + "?verbose")[1]
            self.assertIn("[+]scheduler-thread ok\n[+]kube-io ok\n", checks)

        status, text = self.api("/api/v1/namespaces/default/pods", "POST", POD % "1", content_type="application/yaml")
        self.assertEqual(status, 201, text)
        pod = "/api/v1/namespaces/default/pods/p"
        eventually(lambda: json.loads(self.api(pod)[1])["spec"].get("nodeName") == "node-1", "the pod is bound")
        decision = json.loads(self.page(first_port, "/debug/decisions?name=p")[1])["decisions"][0]
        self.assertEqual((decision["state"], decision["members"][0]["node"]), ("whole", "node-1"))

        self.assertEqual(self.page(first_port, "/debug/decisions?name=missing")[0], 404)
        self.assertEqual(self.page(first_port, "/debug/decisions?nam=p")[0], 400)
        self.assertEqual(self.page(first_port, "/healthz/leaderElection")[1], "ok")
        self.assertIn('pod="p"', self.page(first_port, "/metrics/resources")[1])
        self.assertEqual(self.page(second_port, "/metrics/resources"), (200, ""))
        self.assertIn('# TYPE tutti_queue_used gauge', self.page(first_port, "/metrics/queues")[1])
        self.assertEqual(self.page(second_port, "/metrics/queues"), (200, ""))
        self.assertRegex(self.page(first_port, "/flagz")[1], r"(?m)^leader-elect-lease-duration=15s$")
        self.assertRegex(self.page(first_port, "/statusz")[1], r"(?m)^Leader: this process leads$")
        self.assertRegex(self.page(first_port, "/metrics/slis")[1],
                         r'(?m)^kubernetes_healthcheck{name="ping",type="readyz"} 1$')
        shown = json.loads(self.page(first_port, "/configz")[1])["componentconfig"]["profiles"][0]
        self.assertIn({"name": "TaintToleration", "weight": 3}, shown["plugins"]["multiPoint"]["enabled"])
        first.send_signal(signal.SIGTERM)
        self.assertEqual(first.wait(SECONDS), 0)
        eventually(lambda: self.leads(second_port), "the second leads once the first gave the lease up")
        self.assertIsNone(second.poll())

        self.steal_the_lease()
        self.assertEqual(second.wait(SECONDS), 1)

    def test_nobody_at_its_pages_holds_up_an_exit(self):
        reviewer = socket.create_server(("127.0.0.1", 0))  # takes questions and answers none
        self.addCleanup(reviewer.close)
        mute = self.directory / "mute"
        mute.write_text(KUBECONFIG.replace("127.0.0.1:1", f"127.0.0.1:{reviewer.getsockname()[1]}"))

        def ends(end):
            """The exit code of a leader with a review under way and a request whose head never ends."""
            process, port = self.replica("--authentication-kubeconfig", str(mute))
            eventually(lambda: self.lease_holder() not in ("", "another"), "it leads")
            asks = threading.Thread(target=self.ask_without_answer, args=(port,))
            asks.start()
            self.addCleanup(asks.join)
            question, _ = reviewer.accept()
            self.addCleanup(question.close)
            slow = ssl._create_unverified_context().wrap_socket(socket.create_connection(("127.0.0.1", port)))
            self.addCleanup(slow.close)
            slow.sendall(b"GET /livez HTTP/1.1\r\nX: ")
            end(process)
            for _ in range(SOON):
                try:
                    return process.wait(1)
                except subprocess.TimeoutExpired:
                    slow.sendall(b"x")
            return "none: it still runs"

        self.assertEqual(ends(lambda process: process.send_signal(signal.SIGTERM)), 0)
        self.assertEqual(self.lease_holder(), "")
        self.assertEqual(ends(lambda _: self.steal_the_lease()), 1)

    def ask_without_answer(self, port):
        try:
            self.page(port, "/metrics")
        except OSError:
            pass

    def test_a_port_that_is_taken_is_an_error_with_a_remedy(self):
        done = tutti("run", "--kubeconfig", self.kubeconfig, "--bind-address", "127.0.0.1", "--secure-port", str(self.port))
        self.assertEqual(done.returncode, 1)
        self.assertIn("--secure-port", done.stderr)
        done = tutti("sim", "--listen", f"127.0.0.1:{self.port}")
        self.assertEqual(done.returncode, 1, done.stdout)


if __name__ == "__main__":
    TUTTI = sys.argv.pop(1)
    unittest.main()
