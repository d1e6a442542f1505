#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds alerts and dashboards to what the scheduler exports: every expression has a result on a live one's metrics.

  monitoring_test.py TUTTI [unittest arguments]
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import yaml

from helm import HERE, MANIFESTS, REPOSITORY, tools

sys.path.insert(0, str(REPOSITORY / "tests" / "support"))

from live import Live

TUTTI = None
SAMPLE = re.compile(r"^(\w+)(\{.*\})? (\S+)$")
# What Prometheus itself adds to a target's metrics.
TARGET = 'job="tutti", instance="a"'


def rules():
    return yaml.safe_load((MANIFESTS / "monitoring/prometheus-rule.yaml").read_text())["spec"]


def alerts():
    return [rule for group in rules()["groups"] for rule in group["rules"]]


def panels():
    return [(panel["title"], target["expr"]) for file in sorted((MANIFESTS / "chart/dashboards").glob("*.json"))
            for panel in json.loads(file.read_text())["panels"] for target in panel.get("targets", [])]


def for_promtool(expression):
    return expression.replace("$__rate_interval", "5m").replace('job=~"$job"', 'job=~"tutti"')


def promtool(*arguments):
    return subprocess.run([tools() / "promtool", *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)


class Alerts(unittest.TestCase):
    def test_promtool_accepts_them_and_each_fires_when_it_should_and_not_else(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "rules.yaml").write_text(yaml.safe_dump(rules()))
            (folder / "alerts.yaml").write_text((HERE / "alerts.yaml").read_text())
            for arguments in (["check", "rules", folder / "rules.yaml"], ["test", "rules", folder / "alerts.yaml"]):
                done = promtool(*arguments)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_each_is_tried_and_has_its_place_in_the_runbooks(self):
        tried = (HERE / "alerts.yaml").read_text()
        headings = re.findall(r"^## (\w+)$", (REPOSITORY / "docs/admin/runbooks.md").read_text(), re.M)
        names = [rule["alert"] for rule in alerts()]
        self.assertEqual(headings, names)
        for rule in alerts():
            self.assertIn(f'alertname="{rule["alert"]}"', tried)
            self.assertEqual(rule["annotations"]["runbook"], f"docs/admin/runbooks.md#{rule['alert'].lower()}")
            self.assertIn(rule["labels"]["severity"], ("critical", "warning", "info"))


class Expressions(unittest.TestCase):
    def test_every_selector_of_every_expression_finds_metrics_of_a_live_scheduler(self):
        with Live(TUTTI) as live:
            text = live.page("/metrics")
        series = [f'up{{{TARGET}}}']
        for line in text.splitlines():
            if found := SAMPLE.match(line):
                own = (found[2] or "{}")[1:-1]
                series.append(f"{found[1]}{{{', '.join(filter(None, [own, TARGET]))}}}")
        # A selector: a name and what is in braces behind it; without the functions and the labels of by (...).
        wanted = {}
        for where, expression in [(rule["alert"], rule["expr"]) for rule in alerts()] + panels():
            expression = for_promtool(expression)
            for selector in re.findall(r"[a-z_]\w*\{[^}]*\}", expression):
                # That nothing has failed yet is not this test's concern.
                wanted[re.sub(r', code=~"[^"]*"', "", selector)] = where
            self.assertNotRegex(expression, r"\b(tutti|scheduler|rest_client|process|leader)_\w+\b(?!\{)", where)
        self.assertGreater(len(wanted), 20)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "selectors.yaml"
            file.write_text(yaml.safe_dump({"rule_files": [], "tests": [{
                "interval": "1m", "input_series": [{"series": each, "values": "1x5"} for each in series],
                "promql_expr_test": [{"expr": f"count({selector}) > bool 0", "eval_time": "3m",
                                      "exp_samples": [{"labels": "{}", "value": 1}]} for selector in wanted]}]}))
            done = promtool("test", "rules", file)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_promtool_accepts_every_panel(self):
        made = [{"record": f"panel:{number}", "expr": for_promtool(expression)} for number, (_, expression) in enumerate(panels())]
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "panels.yaml"
            file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": made}]}))
            done = promtool("check", "rules", file)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Dashboards(unittest.TestCase):
    def test_every_panel_says_what_it_shows_and_none_covers_another(self):
        for file in sorted((MANIFESTS / "chart/dashboards").glob("*.json")):
            board = json.loads(file.read_text())
            taken = set()
            for panel in board["panels"]:
                at = panel["gridPos"]
                cells = {(at["x"] + i, at["y"] + j) for i in range(at["w"]) for j in range(at["h"])}
                self.assertFalse(cells & taken, panel["title"])
                taken |= cells
                if panel["type"] != "row":
                    self.assertTrue(panel["description"].endswith("."), panel["title"])
            self.assertEqual(len({panel["id"] for panel in board["panels"]}), len(board["panels"]))


if __name__ == "__main__":
    TUTTI = sys.argv.pop(1)
    unittest.main()
