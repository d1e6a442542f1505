#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts the same requests to the embedded API server and to a real kube-apiserver, and compares the answers.

    apiserver_comparison.py SIM_SERVER [KUBECONFIG]

Without KUBECONFIG a control plane is started by tests/controlplane/cluster, and stopped again. Codes, reasons, messages
and whole objects must be equal but for what differs by nature (uids, times, versions) and for DIFFERS below.
"""

import json
import os
import re
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
CLUSTER = os.path.join(HERE, "..", "controlplane", "cluster")

# Requests whose answers may differ, and why. One that no longer differs fails the test, so that the list stays true.
DIFFERS = {
    "overhead": "no RuntimeClass admission",
    "generateName: Bad_": "only the name is judged, not its base as well; and names are random",
    "resourceVersion on create": "a real one says 500",
    "bind without target": "a real one says 500",
    "bind to a Foo": "a real one says 500",
    "change nodeName": "no diff at the end of the message",
    "change nodeSelector": "no diff at the end of the message",
    "patch of a wrong type": "words about what is accepted",
    "patch that is no JSON": "words of Go's JSON reader",
    "delete of an old version": "the message carries a version",
    "limit=x": "words of Go's strconv",
    "resourceVersion=x": "words of Go's strconv",
    "continue=zzz": "words about a token that is opaque",
    "body {": "words of Go's JSON reader",
    "body empty": "words of Go's JSON reader",
    "body of another kind": "words about Go types",
    "body of another version": "words about Go types",
    "body []": "words about Go types",
    "job: change selector": "one cause instead of three",
    "scale": "replicas 0 is shown",
    "daemonset": "no deprecated annotation",
    "service, headless": "one address family",
    "lease, bad time": "words of Go's time reader",
    "event": "null times are left out",
    "event, read as core": "null times are left out",
    "event of another namespace": "null times are left out",
    "event, series": "null times are left out",
    "event without controller": "one cause instead of three",
    "core event": "null times are left out",
    "node": "the not-ready taint is the kubelet's; empty system info is left out",
    "node, bad taint": "one cause of two alike",
    "claim": "no protection finalizer",
    "volume": "no protection finalizer",
    "budget": "no status before a controller writes one",
    "definition": "established at once",
    "definition, deleted": "no Terminating condition",
    "custom: 1.5": "one cause of two alike",
    "custom: 3000000000": "one cause of two alike",
}

VOLATILE = {"managedFields", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "lastTransitionTime",
            "clusterIP", "clusterIPs", "controller-uid", "batch.kubernetes.io/controller-uid", "remainingItemCount",
            "lastProbeTime"}
UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class Server:
    def __init__(self, kubeconfig):
        with open(kubeconfig) as file:
            text = file.read()
        self.url = re.search(r"server: (\S+)", text).group(1)
        token = re.search(r"token: (\S+)", text)
        self.token = token.group(1) if token else None
        self.context = ssl._create_unverified_context()

    def call(self, method, path, body, content_type):
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, method=method)
        request.add_header("Content-Type", content_type)
        request.add_header("Accept", "application/json")
        if self.token:
            request.add_header("Authorization", "Bearer " + self.token)
        try:
            with urllib.request.urlopen(request, context=self.context, timeout=90) as answer:
                code, text = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            code, text = error.code, error.read()
        try:
            return code, json.loads(text)
        except ValueError:
            return code, text.decode()


def clean(value):
    if isinstance(value, dict):
        return {key: clean(each) for key, each in value.items() if key not in VOLATILE}
    if isinstance(value, list):
        return [clean(each) for each in value]
    return UID.sub("UID", value) if isinstance(value, str) else value


def differences(ours, real, path=""):
    if type(ours) is type(real) and isinstance(ours, dict):
        for key in sorted(set(ours) | set(real)):
            if key not in ours or key not in real:
                yield f"{path}.{key}: only " + ("real" if key in real else "ours") + f": {json.dumps((ours | real)[key])[:300]}"
            else:
                yield from differences(ours[key], real[key], f"{path}.{key}")
    elif type(ours) is type(real) and isinstance(ours, list) and len(ours) == len(real):
        for index, (a, b) in enumerate(zip(ours, real)):
            yield from differences(a, b, f"{path}[{index}]")
    elif ours != real:
        yield f"{path}: ours {json.dumps(ours)[:400]}, real {json.dumps(real)[:400]}"


class Comparison:
    def __init__(self, ours, real):
        self.ours, self.real = ours, real
        self.count, self.failed, self.met = 0, 0, set()

    def __call__(self, title, method, path, body=None, content_type="application/json"):
        self.count += 1
        a = self.ours.call(method, path, body, content_type)
        b = self.real.call(method, path, body, content_type)
        found = list(differences(clean(a[1]), clean(b[1]))) if a[0] == b[0] else [
            f"code: ours {a[0]}, real {b[0]}; ours {json.dumps(a[1])[:300]}; real {json.dumps(b[1])[:300]}"]
        if title in DIFFERS:
            self.met.add(title)
            if not found:
                self.failed += 1
                print(f"FAILED {title}: the same by now, strike it from DIFFERS")
        elif found:
            self.failed += 1
            print(f"FAILED {title}: {method} {path}")
            for each in found[:10]:
                print("    " + each)

    def await_refusal(self, words, path, body):
        """Until both servers refuse to create it with these words: a real one takes a moment."""
        deadline = time.monotonic() + 60
        for server in (self.ours, self.real):
            while words not in json.dumps(server.call("POST", path + "?dryRun=All", body, "application/json")[1]):
                if time.monotonic() > deadline:
                    raise SystemExit(f"not refused within a minute: {words}")
                time.sleep(0.2)

    def quietly(self, method, path):
        for server in (self.ours, self.real):
            server.call(method, path, None, "application/json")


NS = "/api/v1/namespaces/t"
PODS = NS + "/pods"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
NO_UID = "11111111-1111-1111-1111-111111111111"


def pod(name, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": container(), **spec}}


def container(**fields):
    return [{"name": "c", "image": "i", **fields}]


def binding(name, target=None, **meta):
    return {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name, **meta},
            "target": {"apiVersion": "v1", "kind": "Node", "name": "n"} if target is None else target}


def good_pods(same):
    same("pod", "POST", PODS, pod("a"))
    same("pod of a taken name", "POST", PODS, pod("a"))
    same("limits", "POST", PODS, pod("limits", containers=container(resources={
        "limits": {"cpu": 0.5, "memory": "1024Mi", "ephemeral-storage": "1.5Gi"}, "requests": {"memory": "512Mi"}})))
    same("host network", "POST", PODS, pod("host", hostNetwork=True, containers=container(ports=[{"containerPort": 80}])))
    same("sidecar", "POST", PODS, pod("sidecar", initContainers=container(restartPolicy="Always"),
                                      containers=[{"name": "d", "image": "x:v1"}]))
    same("volumes", "POST", PODS, pod("volumes", volumes=[
        {"name": "v", "emptyDir": {}}, {"name": "s", "secret": {"secretName": "x"}}, {"name": "h", "hostPath": {"path": "/x"}},
        {"name": "cm", "configMap": {"name": "c"}}, {"name": "p", "persistentVolumeClaim": {"claimName": "c"}},
        {"name": "d", "downwardAPI": {"items": [{"path": "l", "fieldRef": {"fieldPath": "metadata.labels"}}]}},
        {"name": "pr", "projected": {"sources": [{"secret": {"name": "x"}}]}}, {"name": "nothing"},
        {"name": "e", "ephemeral": {"volumeClaimTemplate": {"spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}}]))
    same("probes", "POST", PODS, pod("probes", containers=container(
        livenessProbe={"httpGet": {"path": "/x", "port": 80}}, readinessProbe={"exec": {"command": ["a"]}},
        env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}])))
    same("gates", "POST", PODS, pod("gates", schedulingGates=[{"name": "x.io/y"}]))
    same("pod-level resources", "POST", PODS, pod("pod-level", resources={"limits": {"cpu": "2", "memory": "1Gi"}}))
    same("scheduling group", "POST", PODS, pod("group", schedulingGroup={"podGroupName": "x"}))
    same("tolerates all", "POST", PODS, pod("tolerant", tolerations=[{"operator": "Exists"}]))
    same("node affinity", "POST", PODS, pod("affine", affinity={"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}]}}}, topologySpreadConstraints=[
                {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}]))
    same("system priority", "POST", PODS, pod("critical", priorityClassName="system-node-critical"))
    same("overhead", "POST", PODS, pod("overhead", overhead={"cpu": "1"}))
    same("nodeName", "POST", PODS, pod("placed", nodeName="fine"))
    same("empty strings", "POST", PODS, pod("empty", schedulerName="", restartPolicy="", terminationGracePeriodSeconds=-5))


def bad_pods(same):
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    for spec in [
            {"containers": []}, {"containers": None}, {"containers": "x"}, {"containers": container(name="")},
            {"containers": container(name="A_B")}, {"containers": container(name="a" * 64)},
            {"containers": container(image="")}, {"containers": container() + container()}, {"initContainers": container()},
            {"restartPolicy": "Sometimes"}, {"dnsPolicy": "x"}, {"priority": "x"}, {"priority": 5}, {"hostNetwork": "yes"},
            {"priorityClassName": "nope"}, {"nodeName": "Bad Name"}, {"activeDeadlineSeconds": 0},
            {"containers": container(resources={"requests": {"cpu": "-1"}})},
            {"containers": container(resources={"requests": {"cpu": ""}})},
            {"containers": container(resources={"requests": {"cpu": "2"}, "limits": {"cpu": "1"}})},
            {"containers": container(resources={"limits": {"x.io/g": "500m"}})},
            {"containers": container(resources={"requests": {"x.io/g": "1"}})},
            {"containers": container(resources={"requests": {"bogus": "1"}})},
            {"containers": container(resources={"requests": {"pods": "1"}})},
            {"containers": container(ports=[{"containerPort": 0}])},
            {"containers": container(ports=[{"containerPort": 70000}])},
            {"containers": container(ports=[{"containerPort": 80, "protocol": "X"}])},
            {"containers": container(imagePullPolicy="x")}, {"containers": container(env=[{"value": "x"}])},
            {"containers": container(volumeMounts=[{"name": "no", "mountPath": "/x"}])},
            {"volumes": [{"name": "v"}, {"name": "v", "emptyDir": {}}]}, {"nodeSelector": {"a b": "c"}},
            {"nodeSelector": {"a": "b c"}}, {"schedulingGates": [{"name": "bad name"}]},
            {"schedulingGates": [{"name": "a"}], "nodeName": "n"}, {"schedulingGates": [{"name": "a"}, {"name": "a"}]},
            {"tolerations": "x"}, {"tolerations": [{"key": "", "operator": "Equal"}]},
            {"tolerations": [{"key": "a", "operator": "Exists", "value": "x"}]},
            {"tolerations": [{"key": "a", "operator": "Bad"}]}, {"tolerations": [{"key": "a", "effect": "Bad"}]},
            {"schedulingGroup": {}}, {"schedulingGroup": {"podGroupName": "A B"}},
            {"affinity": {"nodeAffinity": {required: {"nodeSelectorTerms": []}}}},
            {"topologySpreadConstraints": [{"maxSkew": 0, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}]}]:
        same("bad pod " + json.dumps(spec), "POST", PODS, pod("bad", **spec))
    for meta in [{"name": "UPPER"}, {"name": "a" * 254}, {"name": "x", "labels": {"a b": "c"}}, {},
                 {"name": "x", "labels": {"a": "c d"}}, {"name": "x", "annotations": {"a b": ""}},
                 {"name": "x", "finalizers": ["nodomain"]}, {"name": "x", "ownerReferences": [{"name": "x"}]},
                 {"name": "x", "namespace": "other"}]:
        same("bad metadata " + json.dumps(meta)[:60], "POST", PODS, {**pod("x"), "metadata": meta})
    same("generateName: Bad_", "POST", PODS, {**pod("x"), "metadata": {"generateName": "Bad_"}})
    same("resourceVersion on create", "POST", PODS, {**pod("x"), "metadata": {"name": "x", "resourceVersion": "5"}})


def bindings_and_edits(same):
    same("bind of another uid", "POST", PODS + "/a/binding", binding("a", uid=NO_UID))
    same("bind without target", "POST", PODS + "/a/binding", binding("a", target={}))
    same("bind to a Foo", "POST", PODS + "/a/binding", binding("a", target={"kind": "Foo", "name": "x"}))
    same("bind of another name", "POST", PODS + "/a/binding", binding("b"))
    same("bind of nothing", "POST", PODS + "/none/binding", binding("none"))
    same("bind of a gated pod", "POST", PODS + "/gates/binding", binding("gates"))
    same("bind", "POST", PODS + "/a/binding", binding("a", annotations={"x": "y"}, labels={"l": "m"}))
    same("bound pod", "GET", PODS + "/a")
    same("bind again", "POST", PODS + "/a/binding", binding("a"))
    same("change nodeName", "PATCH", PODS + "/a", {"spec": {"nodeName": "other"}}, MERGE)
    same("change nodeSelector", "PATCH", PODS + "/a", {"spec": {"nodeSelector": {"a": "b"}}}, MERGE)
    same("replace tolerations", "PATCH", PODS + "/a", {"spec": {"tolerations": [{"key": "z", "operator": "Exists"}]}}, MERGE)
    same("exchange gates", "PATCH", PODS + "/gates", {"spec": {"schedulingGates": [{"name": "a"}]}}, MERGE)
    same("remove gates", "PATCH", PODS + "/gates", {"spec": {"schedulingGates": None}}, MERGE)
    same("status", "PATCH", PODS + "/a/status", {"status": {"phase": "Running", "conditions": [
        {"type": "Ready", "status": "True"}]}}, STRATEGIC)
    same("condition", "PATCH", PODS + "/a/status", {"status": {"conditions": [
        {"type": "PodScheduled", "status": "False", "reason": "x"}]}}, STRATEGIC)
    same("failing JSON patch", "PATCH", PODS + "/a", [{"op": "test", "path": "/spec/x", "value": 1}],
         "application/json-patch+json")
    same("patch of a wrong type", "PATCH", PODS + "/a", {})
    same("patch that is no JSON", "PATCH", PODS + "/a", b"{", MERGE)
    same("update of an old version", "PUT", PODS + "/a", {**pod("a"), "metadata": {"name": "a", "resourceVersion": "1"}})
    same("update of nothing", "PUT", PODS + "/none", pod("none"))
    same("update of another name", "PUT", PODS + "/a", pod("b"))
    options = {"kind": "DeleteOptions", "apiVersion": "v1"}
    same("delete of another uid", "DELETE", PODS + "/a", {**options, "preconditions": {"uid": NO_UID}})
    same("delete of an old version", "DELETE", PODS + "/a", {**options, "preconditions": {"resourceVersion": "1"}})
    same("delete by no policy", "DELETE", PODS + "/a?propagationPolicy=Bogus")
    same("delete of a bound pod", "DELETE", PODS + "/a")
    same("delete again", "DELETE", PODS + "/a")
    same("bind of a dying pod", "POST", PODS + "/a/binding", binding("a"))
    same("delete at once", "DELETE", PODS + "/a?gracePeriodSeconds=0")
    same("delete of an unbound pod", "DELETE", PODS + "/limits")
    same("delete of nothing", "DELETE", PODS + "/none")


def odd_requests(same):
    for path in [PODS + "/none", PODS + "/none/status", NS + "/nope", PODS + "/gates/nope", "/apis/nope/v1/x",
                 "/apis/apps/v1/nope", "/api/v1/namespaces/t/nodes", PODS + "?labelSelector=a%20in%20b",
                 PODS + "?labelSelector=a%3D%3D%3Db", PODS + "?labelSelector=%3Dx", PODS + "?labelSelector=a%2C%2Cb",
                 PODS + "?labelSelector=a%20in%20(b", PODS + "?labelSelector=a%3Ex", PODS + "?fieldSelector=a%3Db",
                 PODS + "?fieldSelector=zzz", PODS + "?watch=1&sendInitialEvents=true"]:
        same("GET " + path, "GET", path)
    for parameter in ("limit=x", "resourceVersion=x", "continue=zzz"):
        same(parameter, "GET", f"{PODS}?{parameter}")
    same("body {", "POST", PODS, b"{")
    same("body empty", "POST", PODS, b"")
    same("body []", "POST", PODS, [])
    same("body of another kind", "POST", PODS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}})
    same("body of another version", "POST", PODS, {"apiVersion": "v2", "kind": "Pod", "metadata": {"name": "x"}})
    same("body of plain text", "POST", PODS, b"x", "text/plain")
    same("POST with a name", "POST", PODS + "/gates", pod("gates"))
    same("POST without a namespace", "POST", "/api/v1/pods", pod("x"))


def workloads(same):
    jobs = "/apis/batch/v1/namespaces/t/jobs"

    def job(name, **spec):
        return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {
            "suspend": True, "template": {"spec": {"restartPolicy": "Never", "containers": container()}}, **spec}}

    same("job", "POST", jobs, job("j"))
    same("job, indexed", "POST", jobs, job("j2", completions=3, parallelism=2, completionMode="Indexed"))
    same("job, parallel", "POST", jobs, job("j3", parallelism=2))
    same("job, negative", "POST", jobs, job("j4", parallelism=-1))
    same("job, no restartPolicy", "POST", jobs, job("j5", template={"spec": {"containers": container()}}))
    same("job, empty template", "POST", jobs, job("j6", template={}))
    same("job: change completions", "PATCH", jobs + "/j", {"spec": {"completions": 5}}, MERGE)
    same("job: change selector", "PATCH", jobs + "/j", {"spec": {"selector": {"matchLabels": {"a": "b"}}}}, MERGE)

    def workload(kind, name, **spec):
        return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": container()}}, **spec}}

    apps = "/apis/apps/v1/namespaces/t/"
    same("replicaset", "POST", apps + "replicasets", workload("ReplicaSet", "r", replicas=0))
    same("replicaset, negative", "POST", apps + "replicasets", workload("ReplicaSet", "r4", replicas=-1))
    same("scale", "GET", apps + "replicasets/r/scale")
    same("statefulset", "POST", apps + "statefulsets", workload("StatefulSet", "s", replicas=0, serviceName="x"))
    same("daemonset", "POST", apps + "daemonsets", workload("DaemonSet", "d"))
    same("service", "POST", NS + "/services", {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}})
    same("service, headless", "POST", NS + "/services", {"metadata": {"name": "h"}, "spec": {
        "clusterIP": "None", "ports": [{"port": 80, "name": "x"}]}})


def other_kinds(same):
    classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
    same("class", "POST", classes, {"metadata": {"name": "tpc"}, "value": 5})
    same("class: change", "PATCH", classes + "/tpc", {"value": 6}, MERGE)
    same("class, reserved", "POST", classes, {"metadata": {"name": "system-x"}, "value": 5})
    same("class, too high", "POST", classes, {"metadata": {"name": "high"}, "value": 2000000000})
    same("class, deleted", "DELETE", classes + "/tpc")
    leases = "/apis/coordination.k8s.io/v1/namespaces/t/leases"
    same("lease", "POST", leases, {"metadata": {"name": "l"}, "spec": {
        "holderIdentity": "x", "leaseDurationSeconds": 15, "renewTime": "2026-01-01T00:00:00.000000Z"}})
    same("lease, no duration", "POST", leases, {"metadata": {"name": "l2"}, "spec": {"leaseDurationSeconds": 0}})
    same("lease, bad time", "POST", leases, {"metadata": {"name": "l3"}, "spec": {"renewTime": "now"}})
    groups = "/apis/scheduling.k8s.io/v1alpha2/namespaces/t/podgroups"
    for policy in ({"gang": {"minCount": 0}}, {"gang": {"minCount": -1}}, {"gang": {"minCount": 1}, "basic": {}}, {}, None):
        same("group " + json.dumps(policy), "POST", groups, {"metadata": {"name": "g"}, "spec": {"schedulingPolicy": policy}})
    same("node", "POST", "/api/v1/nodes", {"metadata": {"name": "nd"}, "status": {
        "capacity": {"cpu": 8, "memory": "33554432Ki"}}})
    same("node, bad taint", "PATCH", "/api/v1/nodes/nd", {"spec": {"taints": [{"key": "a", "effect": "Bad"}]}}, MERGE)
    same("node, deleted", "DELETE", "/api/v1/nodes/nd")
    same("map", "POST", NS + "/configmaps", {"metadata": {"name": "c"}, "data": {"a": "b"}})
    same("map of numbers", "POST", NS + "/configmaps", {"metadata": {"name": "c2"}, "data": {"a": 1}})
    same("map, deleted", "DELETE", NS + "/configmaps/c")
    same("claim", "POST", NS + "/persistentvolumeclaims", {"metadata": {"name": "c"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "storageClassName": "x", "resources": {"requests": {"storage": "1024Mi"}}}})
    same("volume", "POST", "/api/v1/persistentvolumes", {"metadata": {"name": "tpv"}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}, "storageClassName": "z"}})
    same("storage class", "POST", "/apis/storage.k8s.io/v1/storageclasses", {"metadata": {"name": "tsc"}, "provisioner": "x.io/y"})
    same("budget", "POST", "/apis/policy/v1/namespaces/t/poddisruptionbudgets", {"metadata": {"name": "p"}, "spec": {
        "minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}}})


def quotas(same):
    """A namespace of its own: what a ResourceQuota refuses, once each server knows how much is used of it."""
    ns = "/api/v1/namespaces/limited"
    pods = ns + "/pods"

    def asking(name, **resources):
        return pod(name, containers=container(resources=resources))

    same("namespace", "POST", "/api/v1/namespaces", {"metadata": {"name": "limited"}})
    same("quota", "POST", ns + "/resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": {
        "pods": "2", "requests.cpu": "1", "limits.memory": "3Gi", "requests.x.io/g": "1", "services": "1",
        "count/jobs.batch": "1"}}})
    same("quota, scoped", "POST", ns + "/resourcequotas", {"metadata": {"name": "short"}, "spec": {
        "hard": {"pods": "0"}, "scopes": ["Terminating"]}})
    same.await_refusal("failed quota: q", pods, asking("first"))
    memory = {"memory": "1Gi"}
    same("a container that says nothing", "POST", pods, asking("first"))
    same("a container that says half", "POST", pods, asking("first", requests={"cpu": "1"}))
    same("too much of one", "POST", pods, asking("first", requests={"cpu": "1500m"}, limits=memory))
    same("too much of several", "POST", pods, asking("first", requests={"cpu": "2"}, limits={
        "memory": "4Gi", "cpu": "2", "x.io/g": "2"}))
    same("a pod that ends in time", "POST", pods, pod("first", activeDeadlineSeconds=9, containers=container(
        resources={"requests": {"cpu": "100m"}, "limits": memory})))
    same("what fits", "POST", pods, asking("first", requests={"cpu": "400m"}, limits=memory))
    same("more than is left", "POST", pods, asking("second", requests={"cpu": "700m"}, limits=memory))
    same("what fits beside it", "POST", pods, asking("second", requests={"cpu": "100m"}, limits=memory))
    same("one pod too many", "POST", pods, asking("third", requests={"cpu": "100m"}, limits=memory))
    service = {"spec": {"ports": [{"port": 80}]}}
    same("one service", "POST", ns + "/services", {"metadata": {"name": "a"}, **service})
    same("two services", "POST", ns + "/services", {"metadata": {"name": "b"}, **service})


def events(same):
    modern = "/apis/events.k8s.io/v1/namespaces/t/events"
    event = {"metadata": {"name": "e"}, "regarding": {"kind": "Pod", "name": "p", "namespace": "t"}, "reason": "R",
             "action": "A", "note": "n", "type": "Normal", "reportingController": "x/y", "reportingInstance": "i",
             "eventTime": "2026-01-01T00:00:00.000000Z"}

    def without(name, field):
        return {key: value for key, value in {**event, "metadata": {"name": name}}.items() if key != field}

    same("event", "POST", modern, event)
    same("event, read as core", "GET", NS + "/events/e")
    same("event of another namespace", "POST", modern, {**without("e2", ""), "regarding": {"kind": "Pod", "name": "p", "namespace": "z"}})
    same("event, series", "PATCH", modern + "/e", {"series": {"count": 2, "lastObservedTime": "2026-01-01T00:01:00.000000Z"}}, MERGE)
    same("event: change note", "PATCH", modern + "/e", {"note": "other"}, MERGE)
    same("event of an odd type", "POST", modern, {**without("e3", ""), "type": "Odd"})
    same("event too long", "POST", modern, {**without("e4", ""), "note": "x" * 2000})
    for field in ("reason", "action", "reportingInstance"):
        same("event without " + field, "POST", modern, without("e5", field))
    same("event without controller", "POST", modern, without("e6", "reportingController"))
    core = {"metadata": {"name": "ce"}, "involvedObject": {"kind": "Pod", "namespace": "t", "name": "p"}, "reason": "x"}
    same("core event", "POST", NS + "/events", core)
    same("core event of another namespace", "POST", NS + "/events", {**core, "involvedObject": {"kind": "Pod", "namespace": "z"}})


def custom_resources(same):
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    schema = {"type": "object", "properties": {
        "spec": {"type": "object", "required": ["a"], "properties": {
            "a": {"type": "integer", "minimum": 1, "maximum": 5, "format": "int32"},
            "b": {"type": "string", "enum": ["x", "y"], "default": "x", "maxLength": 3},
            "c": {"type": "array", "items": {"type": "string"}, "maxItems": 2}, "d": {"x-kubernetes-int-or-string": True},
            "e": {"type": "object", "additionalProperties": {"type": "integer"}}, "f": {"type": "string", "nullable": True},
            "g": {"type": "boolean"}, "h": {"type": "number"}}},
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}
    definition = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "ts.x.io"},
                  "spec": {"group": "x.io", "scope": "Namespaced", "names": {"plural": "ts", "kind": "T"}, "versions": [
                      {"name": "v1", "served": True, "storage": True, "subresources": {"status": {}},
                       "schema": {"openAPIV3Schema": schema}}]}}
    same("definition", "POST", definitions, definition)
    things = "/apis/x.io/v1/namespaces/t/ts"
    deadline = time.time() + 30
    while same.real.call("GET", things, None, "application/json")[0] != 200:
        assert time.time() < deadline, "the real API server does not serve the definition"

    def thing(name, spec, **more):
        return {"apiVersion": "x.io/v1", "kind": "T", "metadata": {"name": name}, "spec": spec, **more}

    for index, spec in enumerate([
            {"a": 1}, {"a": 0}, {"a": 9}, {}, {"a": "1"}, {"a": 1.0}, {"a": 1, "b": "z"}, {"a": 1, "b": "xxxx"},
            {"a": 1, "c": ["a", "b", "c"]}, {"a": 1, "c": [1]}, {"a": 1, "c": {}}, {"a": 1, "d": 1}, {"a": 1, "d": "x"},
            {"a": 1, "d": []}, {"a": 1, "e": {"q": "x"}}, {"a": 1, "f": None}, {"a": 1, "b": None}, {"a": 1, "g": None},
            {"a": 1, "g": "x"}, {"a": 1, "h": 1}, {"a": 1, "unknown": 1}, {"a": None}, None, "x", []]):
        same(f"custom {json.dumps(spec)}", "POST", things, thing(f"c{index}", spec, status={"x": 1}))
    same("custom: 1.5", "POST", things, thing("x", {"a": 1.5}))
    same("custom: 3000000000", "POST", things, thing("x", {"a": 3000000000}))
    same("custom, strict", "POST", things + "?fieldValidation=Strict", thing("s", {"a": 1, "q": {"r": 1}}, zz=2))
    same("custom, blind update", "PUT", things + "/c0", thing("c0", {"a": 2}))
    patch = {"status": {"p": 1}, "spec": {"a": 3}, "metadata": {"labels": {"a": "b"}}}
    same("custom status", "PATCH", things + "/c0/status", patch, MERGE)
    same("custom patch", "PATCH", things + "/c0", patch, MERGE)
    same("custom strategic patch", "PATCH", things + "/c0", {}, STRATEGIC)
    apply = {"apiVersion": "x.io/v1", "kind": "T", "spec": {"a": 4}}
    same("custom apply", "PATCH", things + "/c0?fieldManager=x&force=true", apply, "application/apply-patch+yaml")
    same("apply without a manager", "PATCH", things + "/c0", apply, "application/apply-patch+yaml")
    same("custom, deleted", "DELETE", things + "/c0")
    same("another version", "GET", "/apis/x.io/v2/ts")
    same("definition of a wrong name", "POST", definitions, {**definition, "metadata": {"name": "bad.x.io"}})
    same("definition, deleted", "DELETE", definitions + "/ts.x.io")


def compare(ours, real):
    same = Comparison(ours, real)
    same("namespace", "POST", "/api/v1/namespaces", {"metadata": {"name": "t"}})
    for part in (good_pods, bad_pods, bindings_and_edits, odd_requests, workloads, other_kinds, quotas, events, custom_resources):
        part(same)
    same("namespace, deleted", "DELETE", "/api/v1/namespaces/t")
    for title in sorted(set(DIFFERS) - same.met):
        same.failed += 1
        print(f"FAILED {title}: in DIFFERS, but never asked")
    print(f"{same.count} requests, {len(same.met)} known to differ, {same.failed} failed")
    return 1 if same.failed else 0


def main():
    with tempfile.TemporaryDirectory() as folder:
        kubeconfig = sys.argv[2] if len(sys.argv) > 2 else os.path.join(folder, "cp", "admin.kubeconfig")
        if len(sys.argv) < 3:
            subprocess.run([CLUSTER, "up", "--dir", os.path.dirname(kubeconfig), "--no-kwok", "--features",
                            "upstream-podgroup", "--until-exit-of", str(os.getpid())], check=True)
        server = subprocess.Popen([sys.argv[1], os.path.join(folder, "sim")], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout.readline().startswith("http"), "the embedded server did not start"
            return compare(Server(os.path.join(folder, "sim")), Server(kubeconfig))
        finally:
            server.stdin.close()
            server.wait(timeout=90)
            if len(sys.argv) < 3:
                subprocess.run([CLUSTER, "down", "--dir", os.path.dirname(kubeconfig)], check=True)


if __name__ == "__main__":
    sys.exit(main())
