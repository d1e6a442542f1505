# SPDX-License-Identifier: Apache-2.0
"""scripts/trace-to-manifests, on traces that are made here, and what `tutti simulate` makes of them."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

TUTTI, ROOT = sys.argv.pop(1), sys.argv.pop(1)
CONVERTER = os.path.join(ROOT, "scripts", "trace-to-manifests")
MAKER = os.path.join(ROOT, "benchmarks", "simulate", "make_trace.py")
NODES = "sn,cpu_milli,memory_mib,gpu,model\nn-a,8000,16384,2,T4\nn-b,8000,16384,2,P100\n"
FIELDS = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"


class Trace(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def convert(self, nodes, pods, *flags):
        return subprocess.run([sys.executable, CONVERTER, self.path("nodes.csv", nodes), self.path("pods.csv", pods),
                               *flags], capture_output=True, text=True, check=False)

    def simulate(self, manifests):
        done = subprocess.run([TUTTI, "simulate", self.path("trace.json", manifests), "--until", "1000h", "-o", "json"],
                              capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    def test_a_pod_comes_runs_and_ends_as_in_the_trace_on_a_model_that_it_names(self):
        pods = FIELDS + "p,1000,1024,1,1000,P100|V100,LS,Running,100,170,110\nq,1000,1024,0,0,,LS,Running,130,,\n"
        result = self.simulate(self.convert(NODES, pods).stdout)
        events = [(one["atSeconds"], one["action"], one["pod"], one["node"]) for one in result["timeline"]
                  if one["pod"] == "default/p"]
        self.assertEqual(events, [(0, "bind", "default/p", "n-b"), (60, "finish", "default/p", "n-b")])
        states = {pod["name"]: pod["state"] for pod in result["pods"]}
        self.assertEqual(states, {"p": "finished", "q": "bound"})  # q has no end

    def test_shares_of_a_gpu_are_counted_in_thousandths_where_that_is_asked(self):
        pods = FIELDS + "".join(f"p{i},100,128,1,500,T4,LS,Running,0,100,0\n" for i in range(4))
        bound = lambda result: sum(event["action"] == "bind" and event["atSeconds"] == 0 for event in result["timeline"])
        self.assertEqual(bound(self.simulate(self.convert(NODES, pods, "--shares").stdout)), 4)
        self.assertEqual(bound(self.simulate(self.convert(NODES, pods).stdout)), 2)

    def test_what_cannot_be_read_is_named_by_file_line_and_field(self):
        for pods, said in [(FIELDS + "p,much,1,0,0,,,,0,1,0\n", "pods.csv: line 2: cpu_milli is 'much'"),
                           ("name,cpu_milli\n", "pods.csv: line 1: no field memory_mib, creation_time")]:
            done = self.convert(NODES, pods)
            self.assertEqual(done.returncode, 1)
            self.assertIn(said, done.stderr)

    def test_every_pod_of_a_made_trace_is_in_the_result(self):
        subprocess.run([sys.executable, MAKER, self.folder, "--nodes", "40", "--pods", "120"], check=True)
        texts = []
        for name in ("nodes.csv", "pods.csv"):
            with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                texts.append(file.read())
        result = self.simulate(self.convert(*texts).stdout)
        self.assertEqual(len(result["pods"]), 120)
        self.assertGreater(sum(pod["state"] == "finished" for pod in result["pods"]), 60)


if __name__ == "__main__":
    unittest.main()
