#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Renders the chart with Helm, by each set of values in values/, and holds it to what manifests/deploy ships.

  chart_test.py TUTTI [unittest arguments]
"""

import copy
import json
import re
import subprocess
import sys
import tempfile
import unittest

import yaml

from helm import CHART, HERE, MANIFESTS, by_name, helm, render

TUTTI = None
VALUES = {file.stem: yaml.safe_load(file.read_text()) for file in sorted((HERE / "values").glob("*.yaml"))}
# What the chart adds to what is shipped.
ADDED = {"helm.sh/chart", "app.kubernetes.io/version", "app.kubernetes.io/managed-by", "app.kubernetes.io/instance", "checksum/config"}


def shipped():
    files = sorted((MANIFESTS / "deploy").glob("*.yaml"))
    return by_name(d for file in files for d in yaml.safe_load_all(file.read_text()))


def without_additions(value):
    if isinstance(value, dict):
        kept = {k: without_additions(v) for k, v in value.items() if k not in ADDED}
        return {k: v for k, v in kept.items() if not (k == "annotations" and v == {})}
    return [without_additions(each) for each in value] if isinstance(value, list) else value


def with_read_configuration(objects):
    (config,) = [o for (kind, _), o in objects.items() if kind == "ConfigMap" and "config.yaml" in o["data"]]
    config["data"] = list(yaml.safe_load_all(config["data"]["config.yaml"]))
    return objects


def pod_of(objects):
    (deployment,) = [o for (kind, _), o in objects.items() if kind == "Deployment"]
    return deployment["spec"]["template"]["spec"]


def config_of(objects):
    return next(o for (kind, _), o in objects.items() if kind == "ConfigMap" and "config.yaml" in o["data"])["data"]["config.yaml"]


class Rendered(unittest.TestCase):
    def test_by_default_it_is_what_manifests_deploy_ships(self):
        ours, theirs = with_read_configuration(render()), with_read_configuration(shipped())
        del theirs["Namespace", "tutti-system"]
        self.assertEqual(sorted(ours), sorted(theirs))
        for key, each in ours.items():
            with self.subTest(key):
                self.assertEqual(without_additions(each), theirs[key])

    def test_every_set_of_values_renders_objects_of_one_name_each_in_its_namespace(self):
        self.assertGreaterEqual(len(VALUES), 12)
        for name, values in VALUES.items():
            with self.subTest(name):
                done = helm("template", "gangs", CHART, "--namespace", "batch", values=values["values"])
                self.assertEqual(done.returncode, 0, done.stderr)
                objects = [d for d in yaml.safe_load_all(done.stdout) if d]
                keys = [(o["kind"], o["metadata"].get("namespace"), o["metadata"]["name"]) for o in objects]
                self.assertEqual(len(keys), len(set(keys)), "no object comes twice")
                self.assertLessEqual({namespace for _, namespace, _ in keys}, {None, "batch", "kube-system"})
                self.assertNotIn("tutti-system", done.stdout)
                self.assert_expected({(kind, each): o for (kind, _, each), o in zip(keys, objects)}, values.get("expect", {}))

    def assert_expected(self, objects, expect):
        """`expect`: by "KIND NAME" what the object has, or null if there is none."""
        for key, wanted in expect.items():
            kind, name = key.split()
            if wanted is None:
                self.assertNotIn((kind, name), objects)
            else:
                self.assertIn((kind, name), objects)
                self.assertEqual(self.missing(wanted, objects[kind, name]), [], key)

    def missing(self, wanted, got, path=""):
        if isinstance(wanted, dict) and isinstance(got, dict):
            return [each for k in wanted for each in self.missing(wanted[k], got.get(k), f"{path}.{k}")]
        if isinstance(wanted, list) and isinstance(got, list) and len(wanted) == len(got):
            return [each for i, pair in enumerate(zip(wanted, got)) for each in self.missing(*pair, f"{path}[{i}]")]
        return [] if wanted == got else [f"{path}: {got!r}, not {wanted!r}"]

    def test_tutti_reads_every_configuration_that_is_rendered(self):
        for name, values in VALUES.items():
            with self.subTest(name), tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
                file.write(config_of(render(values["values"])))
                file.flush()
                done = subprocess.run([TUTTI, "simulate", "--config", file.name, MANIFESTS / "examples/offline"],
                                      capture_output=True, text=True, timeout=120, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_rights_have_one_account_and_the_lease_one_name(self):
        for account in ("", "tutti-robot"):
            objects = render({"serviceAccount": {"name": account}}, release="gangs", namespace="batch")
            account = account or "gangs-tutti"
            self.assertIn(("ServiceAccount", account), objects)
            self.assertEqual(pod_of(objects)["serviceAccountName"], account)
            for (kind, _), each in objects.items():
                if kind.endswith("RoleBinding"):
                    self.assertEqual(each["subjects"], [{"kind": "ServiceAccount", "name": account, "namespace": "batch"}])
                elif kind == "FlowSchema":
                    for rule in each["spec"]["rules"]:
                        self.assertEqual(rule["subjects"][0]["serviceAccount"], {"name": account, "namespace": "batch"})
            lease = objects["Role", "gangs-tutti-lease"]["rules"][0]["resourceNames"]
            election = next(yaml.safe_load_all(config_of(objects)))["leaderElection"]
            self.assertEqual((election["resourceName"], election["resourceNamespace"]), (lease[0], "batch"))

    def test_a_changed_configuration_rolls_the_pods_and_nothing_else_does(self):
        def stamp(values):
            objects = render(values)
            return objects["Deployment", "tutti"]["spec"]["template"]["metadata"]["annotations"]["checksum/config"]
        self.assertEqual(stamp({}), stamp({"replicas": 3}))
        self.assertNotEqual(stamp({}), stamp({"tuttiConfig": {"policy": "keep"}}))

    def test_two_releases_in_one_cluster_share_no_name_of_the_cluster(self):
        def cluster_wide(release):
            return {key for key, o in render(release=release).items() if "namespace" not in o["metadata"]}
        self.assertFalse(cluster_wide("one") & cluster_wide("two"))

    def test_the_pods_stay_restricted_whatever_is_added(self):
        for name, values in VALUES.items():
            pod = pod_of(render(values["values"]))
            with self.subTest(name):
                self.assertTrue(pod["securityContext"]["runAsNonRoot"])
                self.assertEqual(pod["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"})
                self.assertTrue(pod["containers"][0]["securityContext"]["readOnlyRootFilesystem"])
                self.assertEqual(pod["containers"][0]["securityContext"]["capabilities"], {"drop": ["ALL"]})

    def test_what_is_false_or_null_in_a_security_context_stands(self):
        pod = pod_of(render({"podSecurityContext": {"runAsNonRoot": False, "runAsGroup": None},
                             "securityContext": {"readOnlyRootFilesystem": False, "capabilities": {"add": ["NET_BIND_SERVICE"]}}}))
        self.assertEqual((pod["securityContext"]["runAsNonRoot"], pod["securityContext"].get("runAsGroup")), (False, None))
        own = pod["containers"][0]["securityContext"]
        self.assertEqual((own["readOnlyRootFilesystem"], own["allowPrivilegeEscalation"]), (False, False))
        self.assertEqual(own["capabilities"], {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]})


class Values(unittest.TestCase):
    def test_what_needs_a_right_that_does_not_come_is_refused(self):
        reader = [{"kind": "ServiceAccount", "name": "prometheus", "namespace": "monitoring"}]
        for values, why in (({"rbac": {"create": False}, "pagesReaders": reader}, "pagesReaders binds a ClusterRole"),
                            ({"config": {"leaderElection": {"resourceName": "other"}}}, "names the Lease tutti-system/other, but the Role"),
                            ({"config": {"leaderElection": {"resourceNamespace": "other"}}}, "names the Lease other/tutti, but the Role")):
            with self.subTest(why):
                done = helm("template", "tutti", CHART, "--namespace", "tutti-system", values=values)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(why, done.stderr)
        self.assertIn("resourceName: other", config_of(render({"rbac": {"create": False}, "config": {"leaderElection": {"resourceName": "other"}}})))

    def test_what_the_schema_does_not_know_is_refused_by_its_name(self):
        for values, told in (
                ({"replica": 2}, "replica"),
                ({"replicas": "two"}, "replicas"),
                ({"schedulerNames": []}, "schedulerNames"),
                ({"schedulerNames": ["Tutti"]}, "schedulerNames"),
                ({"image": {"digest": "sha256:12"}}, "digest"),
                ({"tuttiConfig": {"policy": "mend"}}, "policy"),
                ({"serviceMonitor": {"interval": "often"}}, "interval"),
                ({"priorityClass": {"value": 2000000000}}, "value"),
                ({"extraArgs": ["kubeconfig"]}, "extraArgs")):
            with self.subTest(values):
                done = helm("template", "tutti", CHART, values=values)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(told, done.stderr)

    def test_every_value_is_in_the_schema_and_has_its_comment(self):
        schema = json.loads((CHART / "values.schema.json").read_text())
        defaults = yaml.safe_load((CHART / "values.yaml").read_text())

        def check(values, properties, path):
            for key, value in values.items():
                self.assertIn(key, properties, path)
                below = properties[key].get("properties")
                if isinstance(value, dict) and value and below:
                    check(value, below, f"{path}.{key}")
        check(defaults, schema["properties"], "")
        lines = (CHART / "values.yaml").read_text().splitlines()
        for before, line in zip(lines, lines[1:]):
            if re.match(r" *\w+:( \S|$)", line) and not re.fullmatch(r" *\w+:", line):
                self.assertRegex(before.strip(), r"^# -- [A-Z]", line)

    def test_helm_finds_nothing_to_complain_of(self):
        done = helm("lint", "--strict", CHART)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_packed_chart_has_what_the_links_point_to(self):
        with tempfile.TemporaryDirectory() as folder:
            done = helm("package", CHART, "--destination", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            packed = helm("template", "tutti", f"{folder}/tutti-0.1.0.tgz", "--namespace", "tutti-system")
            self.assertEqual(packed.returncode, 0, packed.stderr)
            self.assertEqual(by_name(yaml.safe_load_all(packed.stdout)), render())


class Webhook(unittest.TestCase):
    def test_the_webhook_calls_this_release_and_the_deployment_answers_it(self):
        values = {"tls": {"secretName": "certificate"}, "kueue": {"webhook": {"enabled": True, "caBundle": "Y2E="}}}
        objects = render(values, release="second", namespace="apart")
        hooks = objects["MutatingWebhookConfiguration", "second-tutti-hold-jobs"]["webhooks"]
        service = objects["Service", "second-tutti-webhook"]
        for hook in hooks:
            with self.subTest(hook["name"]):
                self.assertEqual(hook["clientConfig"], {"caBundle": "Y2E=", "service": {
                    "namespace": "apart", "name": "second-tutti-webhook", "path": "/webhooks/kueue", "port": 443}})
                exempt = hook["namespaceSelector"]["matchExpressions"][0]["values"]
                self.assertEqual(exempt, ["kube-system", "apart"])
        pod = objects["Deployment", "second-tutti"]["spec"]["template"]
        self.assertLessEqual(service["spec"]["selector"].items(), pod["metadata"]["labels"].items())
        self.assertIn("--kueue-webhook", pod["spec"]["containers"][0]["args"])
        self.assertIn(("ValidatingAdmissionPolicy", "second-tutti-queued-jobs"), objects)

    def test_it_is_refused_without_a_certificate_and_beside_the_policies(self):
        for more, why in [({}, "needs tls.secretName"), ({"hold": True}, "hold the same jobs: choose one")]:
            done = helm("template", "tutti", CHART, values={"kueue": {"webhook": {"enabled": True}, **more}})
            self.assertIn(why, done.stderr)


class Targets(unittest.TestCase):
    def test_prometheus_reads_each_page_of_a_replica_once(self):
        objects = render({"serviceMonitor": {"enabled": True}, "tls": {"secretName": "certificate"},
                          "kueue": {"webhook": {"enabled": True}, "visibility": {"enabled": True}}})
        monitor = objects["ServiceMonitor", "tutti"]["spec"]
        chosen = [name for (kind, name), it in objects.items()
                  if kind == "Service" and monitor["selector"]["matchLabels"].items() <= it["metadata"]["labels"].items()]
        self.assertEqual(chosen, ["tutti"])
        self.assertEqual([one["path"] for one in monitor["endpoints"]], ["/metrics", "/metrics/queues"])
        alone = render({"serviceMonitor": {"enabled": True, "queues": False}})["ServiceMonitor", "tutti"]["spec"]
        self.assertEqual([one["path"] for one in alone["endpoints"]], ["/metrics"])


class Visibility(unittest.TestCase):
    def render(self, **values):
        return render({"kueue": {"visibility": {"enabled": True, **values}}}, release="second", namespace="apart")

    def test_the_aggregated_api_is_this_release_and_its_certificate_is_checked_if_it_can_be(self):
        for version in ("v1beta1", "v1beta2"):
            of = ("APIService", f"{version}.visibility.kueue.x-k8s.io")
            plain = self.render()
            spec = plain[of]["spec"]
            self.assertEqual(spec["service"], {"namespace": "apart", "name": "second-tutti-visibility", "port": 443})
            self.assertTrue(spec["insecureSkipTLSVerify"])
            checked = self.render(caBundle="Y2E=")[of]["spec"]
            self.assertEqual(checked["caBundle"], "Y2E=")
            self.assertNotIn("insecureSkipTLSVerify", checked)
            injected = self.render(annotations={"cert-manager.io/inject-ca-from": "apart/tutti"})[of]
            self.assertEqual(injected["metadata"]["annotations"], {"cert-manager.io/inject-ca-from": "apart/tutti"})
            self.assertNotIn("insecureSkipTLSVerify", injected["spec"])
        pod = plain["Deployment", "second-tutti"]["spec"]["template"]
        selector = plain["Service", "second-tutti-visibility"]["spec"]["selector"]
        self.assertLessEqual(selector.items(), pod["metadata"]["labels"].items())
        self.assertIn(("ClusterRole", "second-tutti-local-queue-lines"), plain)


class Old(unittest.TestCase):
    def test_api_servers_that_are_too_old_are_refused(self):
        done = helm("template", "tutti", CHART, "--kube-version", "v1.31.0")
        self.assertIn("requires kubeVersion: >= 1.32", done.stderr)

    def test_held_jobs_use_the_version_of_the_policies_that_is_served(self):
        hold = {"kueue": {"hold": True}}
        beta = "admissionregistration.k8s.io/v1beta1"
        served = ["--kube-version", "v1.34.0", "--api-versions", f"{beta}/MutatingAdmissionPolicy"]
        objects = render(copy.deepcopy(hold), more=served)
        self.assertEqual(objects["MutatingAdmissionPolicy", "tutti-hold-jobs"]["apiVersion"], beta)
        self.assertEqual(render(hold)["MutatingAdmissionPolicy", "tutti-hold-jobs"]["apiVersion"],
                         "admissionregistration.k8s.io/v1")
        done = helm("template", "tutti", CHART, "--kube-version", "v1.34.0", values=hold)
        self.assertIn("kueue.hold needs MutatingAdmissionPolicy", done.stderr)


if __name__ == "__main__":
    TUTTI = sys.argv.pop(1)
    unittest.main()
