#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Drives the embedded API server through kubectl as it comes.

    kubectl_test.py SIM_SERVER [KUBECTL...]
    kubectl_test.py --on-cluster [KUBECTL]    the same on the cluster of $KUBECONFIG: are the tests themselves right?

Without KUBECTL: the one on the PATH and the one that tests/controlplane builds, whichever there are; none is a failure.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))

NODE = """
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}
status:
  capacity: {cpu: "8", memory: 32Gi, pods: "110"}
  conditions: [{type: Ready, status: "True", reason: KubeletReady, message: ok}]
"""

POD = """
apiVersion: v1
kind: Pod
metadata: {name: %s, labels: {app: a}}
spec:
  containers:
  - {name: main, image: "busybox:1.36", resources: {requests: {cpu: 500m}}}
  - {name: side, image: "busybox:1.36"}
"""

CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gangs.x.io}
spec:
  group: x.io
  scope: Namespaced
  names: {plural: gangs, kind: Gang, shortNames: [gg], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.min, statusReplicasPath: .status.running}}
    additionalPrinterColumns:
    - {name: Min, type: integer, jsonPath: .spec.min}
    - {name: Phase, type: string, jsonPath: .status.phase}
    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    - {name: Hidden, type: string, jsonPath: .spec.mode, priority: 1}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [min]
            properties:
              min: {type: integer, minimum: 0, description: The least number of members.}
              mode: {type: string, enum: [Hard, Soft], default: Hard}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
"""


class Kubectl:
    def __init__(self, binary, kubeconfig):
        self.binary = binary
        self.env = dict(os.environ, KUBECONFIG=kubeconfig, HOME=os.path.dirname(kubeconfig))

    def run(self, *args, stdin=None, timeout=90):
        done = subprocess.run([self.binary, *args], input=stdin, text=True, env=self.env, timeout=timeout,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return done.returncode, done.stdout, done.stderr

    def __call__(self, *args, stdin=None):
        code, out, err = self.run(*args, stdin=stdin)
        assert code == 0, f"kubectl {' '.join(args)}: exit {code}\n{out}{err}"
        return out

    def fails(self, *args, stdin=None):
        code, out, err = self.run(*args, stdin=stdin)
        assert code != 0, f"kubectl {' '.join(args)} should have failed\n{out}"
        return err

    def json(self, *args):
        return json.loads(self("get", *args, "-o", "json"))

    def start(self, *args):
        return subprocess.Popen([self.binary, *args], text=True, env=self.env, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def post(self, path, body):
        return self("create", "--raw", path, "-f", "-", stdin=json.dumps(body))

    def bind(self, pod, node="n1"):
        return self.post(f"/api/v1/namespaces/default/pods/{pod}/binding",
                         {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod},
                          "target": {"kind": "Node", "name": node}})


def expect(text, *patterns):
    for pattern in patterns:
        assert re.search(pattern, text, re.M), f"no /{pattern}/ in:\n{text}"


def columns(text):
    return re.split(r"\s{2,}", text.splitlines()[0].strip())


def test_discovery(k):
    expect(k("version"), r"Server Version: v1\.\d+")
    expect(k("api-resources"), r"^pods\s+po\s+v1\s+true\s+Pod", r"^jobs\s+batch/v1", r"^podgroups\s+scheduling.k8s.io/v1alpha2")
    expect(k("api-versions"), r"^apps/v1$", r"^v1$")
    expect(k("cluster-info"), "is running at")
    expect(k.fails("get", "nonsense"), "the server doesn't have a resource type")
    expect(k("get", "--raw", "/readyz"), "ok")


def test_apply_twice_then_change(k):
    expect(k("apply", "-f", "-", stdin=POD % "applied"), "pod/applied created")
    expect(k("apply", "-f", "-", stdin=POD % "applied"), "pod/applied unchanged")
    changed = (POD % "applied").replace("1.36", "1.37", 1).replace("app: a", "app: b")
    expect(k("apply", "-f", "-", stdin=changed), "pod/applied configured")
    pod = k.json("pod", "applied")
    assert [c["image"] for c in pod["spec"]["containers"]] == ["busybox:1.37", "busybox:1.36"]
    assert pod["metadata"]["labels"] == {"app": "b"}
    expect(k.fails("apply", "-f", "-", stdin=changed.replace("cpu: 500m", "cpu: 600m")),
           "pod updates may not change fields other than")
    expect(k("apply", "--server-side", "-f", "-", stdin=changed), "serverside-applied")
    code, out, _ = k.run("diff", "-f", "-", stdin=changed)
    assert code == 0, out


def test_create_and_its_refusals(k):
    k("create", "-f", "-", stdin=POD % "created")
    expect(k.fails("create", "-f", "-", stdin=POD % "created"), r'pods "created" already exists')
    expect(k.fails("create", "-f", "-", stdin=(POD % "typo").replace("image:", "imagee:", 1)),
           r'strict decoding error: unknown field "spec.containers\[0\].imagee"')
    expect(k.fails("create", "-f", "-", stdin=(POD % "bad").replace("500m", "abc")), "quantities must match")
    expect(k.fails("create", "-n", "nowhere", "-f", "-", stdin=POD % "lost"), 'namespaces "nowhere" not found')
    _, _, err = k.run("create", "--validate=warn", "-f", "-", stdin=(POD % "warned").replace("image:", "imag: x, image:", 1))
    expect(err, r'Warning: unknown field "spec.containers\[0\].imag"')
    out = k("create", "--dry-run=server", "-o", "name", "-f", "-", stdin=POD % "dry")
    expect(out, "pod/dry")
    expect(k.fails("get", "pod", "dry"), 'pods "dry" not found')


def test_imperative_commands(k):
    k("create", "namespace", "imperative")
    n = ["-n", "imperative"]
    k(*n, "create", "deployment", "d", "--image=nginx", "--replicas=0")
    k(*n, "create", "job", "j", "--image=busybox", "--", "sleep", "1")
    k(*n, "create", "configmap", "c", "--from-literal=a=b")
    k(*n, "create", "secret", "generic", "s", "--from-literal=a=b")
    k(*n, "expose", "deployment", "d", "--port=80")
    k(*n, "create", "poddisruptionbudget", "p", "--selector=a=b", "--min-available=1")
    assert k.json(*n, "secret", "s")["data"] == {"a": "Yg=="}
    assert k.json(*n, "deployment", "d")["spec"]["replicas"] == 0
    expect(k(*n, "scale", "deployment", "d", "--replicas=3"), "scaled")
    assert k.json(*n, "deployment", "d")["spec"]["replicas"] == 3
    k(*n, "set", "image", "deployment/d", "nginx=nginx:2")
    expect(k(*n, "get", "all"), "deployment.apps/d", "job.batch/j", "service/d")
    expect(k("auth", "can-i", "create", "pods"), "yes")
    expect(k("auth", "whoami"), r"Username\s+\S*admin")
    k("delete", "namespace", "imperative", "--timeout=60s")
    expect(k.fails("get", "namespace", "imperative"), "not found")


def test_tables(k):
    k("apply", "-f", "-", stdin=NODE)
    k("create", "-f", "-", stdin=POD % "tabled")
    assert columns(k("get", "pods")) == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    assert columns(k("get", "pods", "-o", "wide")) == [
        "NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE", "NOMINATED NODE", "READINESS GATES"]
    expect(k("get", "pods"), r"^tabled\s+0/2\s+Pending\s+0\s+\d+s$")
    assert columns(k("get", "nodes")) == ["NAME", "STATUS", "ROLES", "AGE", "VERSION"]
    expect(k("get", "nodes"), r"^n1\s+Ready\s+<none>")
    k("create", "job", "tabled", "--image=busybox")
    assert columns(k("get", "jobs", "-A")) == ["NAMESPACE", "NAME", "STATUS", "COMPLETIONS", "DURATION", "AGE"]
    k("patch", "pod", "tabled", "--subresource=status", "--type=merge", "-p", json.dumps({"status": {
        "phase": "Running", "conditions": [{"type": "Ready", "status": "True"}], "containerStatuses": [
            {"name": "main", "ready": True, "restartCount": 2, "state": {"running": {}}, "image": "i", "imageID": ""},
            {"name": "side", "ready": False, "restartCount": 0, "state": {"waiting": {"reason": "CrashLoopBackOff"}},
             "image": "i", "imageID": ""}]}}))
    expect(k("get", "pods"), r"^tabled\s+1/2\s+CrashLoopBackOff\s+2")
    expect(k("get", "pods", "--sort-by=.metadata.name", "--show-labels"), "LABELS")
    expect(k("get", "pods", "-o", "custom-columns=N:.metadata.name"), r"^N$")
    expect(k("get", "pods", "-l", "app in (a),!gone", "--field-selector", "status.phase=Running"), "tabled")
    expect(k.fails("get", "pods", "--field-selector", "spec.x=1"), "field label not supported: spec.x")
    expect(k("get", "pods", "--chunk-size=1"), "tabled")


def test_describe_shows_events(k):
    k("apply", "-f", "-", stdin=NODE)
    k("create", "-f", "-", stdin=POD % "described")
    uid = k.json("pod", "described")["metadata"]["uid"]
    k.post("/apis/events.k8s.io/v1/namespaces/default/events", {
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "described.1"},
        "regarding": {"kind": "Pod", "name": "described", "namespace": "default", "uid": uid, "apiVersion": "v1"},
        "eventTime": "2026-01-01T00:00:00.000000Z", "reason": "FailedScheduling", "type": "Warning", "action": "Scheduling",
        "note": "0/1 nodes are available: 1 Insufficient cpu.", "reportingController": "tutti", "reportingInstance": "t-0"})
    expect(k("describe", "pod", "described"), r"Warning\s+FailedScheduling\s+.*tutti.*0/1 nodes are available",
           r"QoS Class:\s+Burstable", "not-ready:NoExecute op=Exists for 300s")
    expect(k("get", "events"), r"Warning\s+FailedScheduling\s+pod/described\s+0/1 nodes")
    expect(k("events", "--for", "pod/described"), "FailedScheduling")
    expect(k("get", "events.events.k8s.io", "-o", "jsonpath={.items[0].note}"), "0/1 nodes")
    k.bind("described")
    expect(k("describe", "node", "n1"), r"default\s+described\s+500m \(6%\)", r"cpu\s+500m \(6%\)")


def test_custom_resources(k):
    k("apply", "-f", "-", stdin=CRD)
    k("wait", "--for=condition=established", "crd/gangs.x.io", "--timeout=60s")
    gang = "apiVersion: x.io/v1\nkind: Gang\nmetadata: {name: g}\nspec: {min: %s}\n"
    k("apply", "-f", "-", stdin=gang % 3)
    expect(k("apply", "-f", "-", stdin=gang % 4), "configured")
    expect(k("apply", "-f", "-", stdin=gang % 4), "unchanged")
    assert k.json("gg", "g")["spec"] == {"min": 4, "mode": "Hard"}
    k("patch", "gang", "g", "--subresource=status", "--type=merge", "-p",
      '{"status":{"phase":"Running","running":4,"conditions":[{"type":"Ready","status":"True"}]}}')
    assert columns(k("get", "gangs")) == ["NAME", "MIN", "PHASE", "READY", "AGE"]
    expect(k("get", "gangs"), r"^g\s+4\s+Running\s+True\s+\d+s")
    expect(k("get", "gangs", "-o", "wide"), "HIDDEN", "Hard")
    expect(k("get", "all"), "gang.x.io/g")
    expect(k("explain", "gang.spec.min"), "The least number of members.", "<integer>")
    expect(k("describe", "gang", "g"), r"Min:\s+4", r"Phase:\s+Running")
    k("scale", "gang", "g", "--replicas=6")
    assert k.json("gang", "g")["spec"]["min"] == 6
    expect(k.fails("apply", "-f", "-", stdin=gang % -1), "should be greater than or equal to 0")
    expect(k.fails("apply", "-f", "-", stdin=gang % '1, typo: 2'), 'unknown field "spec.typo"')
    expect(k.fails("patch", "gang", "g", "--type=strategic", "-p", "{}"), "415|unknown format|not supported|UnsupportedMediaType")
    k("wait", "--for=jsonpath={.status.phase}=Running", "gang/g", "--timeout=60s")
    k("delete", "crd", "gangs.x.io", "--timeout=60s")
    expect(k.fails("get", "gangs"), "the server doesn't have a resource type|could not find the requested resource")


def test_edits(k):
    k("create", "-f", "-", stdin=POD % "edited")
    k("label", "pod", "edited", "x=y")
    k("annotate", "pod", "edited", "note=1")
    k("patch", "pod", "edited", "-p", '{"spec":{"containers":[{"name":"side","image":"busybox:2"}]}}')
    k("patch", "pod", "edited", "--type=json", "-p", '[{"op":"remove","path":"/metadata/labels/x"}]')
    pod = k.json("pod", "edited")
    assert pod["metadata"]["labels"] == {"app": "a"} and pod["metadata"]["annotations"] == {"note": "1"}
    assert [c["image"] for c in pod["spec"]["containers"]] == ["busybox:1.36", "busybox:2"]
    pod["metadata"]["labels"]["replaced"] = "yes"
    k("replace", "-f", "-", stdin=json.dumps(pod))
    expect(k.fails("replace", "-f", "-", stdin=json.dumps(pod)), "the object has been modified")
    env = dict(k.env, EDITOR="sed -i s/replaced/edited/")
    done = subprocess.run([k.binary, "edit", "pod", "edited"], env=env, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    expect(k("get", "pod", "edited", "-o", "jsonpath={.metadata.labels}"), "edited")
    k("apply", "-f", "-", stdin=NODE)
    k("cordon", "n1")
    expect(k("get", "nodes"), "Ready,SchedulingDisabled")
    k("uncordon", "n1")
    k("taint", "node", "n1", "a=b:NoSchedule")
    k("taint", "node", "n1", "a-")
    assert not k.json("node", "n1")["spec"].get("taints")


def test_deletes(k):
    for name in ("del-1", "del-2"):
        k("create", "-f", "-", stdin=POD % name)
    expect(k("delete", "pod", "del-1", "--timeout=60s"), 'pod "del-1" deleted')
    k.bind("del-2")
    k("delete", "pod", "del-2", "--wait=false")
    expect(k("get", "pod", "del-2"), "Terminating")
    k("delete", "pod", "del-2", "--grace-period=0", "--force", "--timeout=60s")
    k("wait", "--for=delete", "pod/del-2", "--timeout=60s")
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owner"}}
    for policy, left in (("background", 0), ("foreground", 0), ("orphan", 1)):
        k("create", "-f", "-", stdin=json.dumps(owner))
        uid = k.json("configmap", "owner")["metadata"]["uid"]
        child = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "child", "ownerReferences": [
            {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid, "blockOwnerDeletion": True}]}}
        k("create", "-f", "-", stdin=json.dumps(child))
        k("delete", "configmap", "owner", "--cascade=" + policy, "--timeout=60s")
        found = k("get", "configmap", "child", "--ignore-not-found", "-o", "name").split()
        assert len(found) == left, (policy, found)
    k("delete", "configmap", "child")
    expect(k.fails("delete", "pod", "del-1"), 'pods "del-1" not found')
    k("delete", "pods", "--all", "--grace-period=0", "--force", "--timeout=60s")


def test_watch_and_wait(k):
    watch = k.start("get", "pods", "-w", "-o", "name", "--field-selector", "metadata.name=watched")
    table = k.start("get", "pods", "-w", "--field-selector", "metadata.name=watched")
    started = [watch, table]
    try:
        k("create", "-f", "-", stdin=POD % "watched")
        assert watch.stdout.readline().strip() == "pod/watched"
        expect(table.stdout.readline(), "^NAME")
        expect(table.stdout.readline(), "^watched.*Pending")
        waiting = k.start("wait", "--for=condition=Ready", "pod/watched", "--timeout=60s")
        started.append(waiting)
        k("patch", "pod", "watched", "--subresource=status", "--type=strategic", "-p",
          '{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}')
        expect(table.stdout.readline(), "^watched.*Running")
        out, err = waiting.communicate(timeout=90)
        assert waiting.returncode == 0, out + err
    finally:
        for process in started:
            process.kill()
            process.communicate()


def test_explain(k):
    expect(k("explain", "pods"), "KIND: +Pod", "spec\t<PodSpec>")
    expect(k("explain", "pod.spec.containers.resources.requests"), "map")
    expect(k("explain", "job.spec", "--recursive"), "backoffLimit\t<integer>")
    expect(k("explain", "podgroups.spec.schedulingPolicy.gang"), "minCount")
    expect(k.fails("explain", "pod.spec.nonsense"), "does not exist")


def test_what_it_cannot_do(k):
    k("create", "-f", "-", stdin=POD % "mute")
    expect(k.fails("logs", "mute", "-c", "main"), "not available in the embedded cluster")
    expect(k.fails("exec", "mute", "-c", "main", "--", "true"), "not available in the embedded cluster|unable to upgrade|501|Not Implemented")


def test_eviction_honours_budgets(k):
    k("apply", "-f", "-", stdin=NODE)
    k("create", "-f", "-", stdin=(POD % "guarded").replace("app: a", "app: guarded"))
    k.bind("guarded")
    k("patch", "pod", "guarded", "--subresource=status", "--type=merge", "-p",
      '{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}')
    k("create", "poddisruptionbudget", "keep", "--selector=app=guarded", "--min-available=1")
    expect(k.fails("drain", "n1", "--force", "--timeout=1s"), "disruption budget")
    k("delete", "poddisruptionbudget", "keep")
    drain = k.start("drain", "n1", "--force", "--timeout=60s")
    deadline = time.time() + 10
    while not k.json("pod", "guarded")["metadata"].get("deletionTimestamp"):
        assert time.time() < deadline, "the pod was not evicted"
    k("delete", "pod", "guarded", "--grace-period=0", "--force", "--wait=false")
    out, err = drain.communicate(timeout=90)
    assert drain.returncode == 0, out + err
    k("uncordon", "n1")


def find_kubectls():
    found = [os.environ["KUBECTL"]] if os.environ.get("KUBECTL") else []
    if shutil.which("kubectl"):
        found.append(shutil.which("kubectl"))
    build = os.path.join(HERE, "..", "controlplane", "build")
    if os.access(build, os.X_OK):
        done = subprocess.run([build, "--dir"], text=True, capture_output=True)
        built = os.path.join(done.stdout.strip(), "kubectl")
        if done.returncode == 0 and os.access(built, os.X_OK):
            found.append(built)
    return list(dict.fromkeys(found))


def run_tests(k, skip=()):
    failed = 0
    print(f"# {k.binary}: {k('version', '--client').splitlines()[0]}", flush=True)
    for name, test in [(n, f) for n, f in globals().items() if n.startswith("test_") and n not in skip]:
        began = time.time()
        try:
            test(k)
            print(f"ok {name} ({time.time() - began:.1f} s)", flush=True)
        except Exception as error:  # whatever it was, the other tests still say something
            failed += 1
            print(f"FAILED {name}: {type(error).__name__}: {error}", flush=True)
    return failed


def run_on_sim(server_binary, kubectl):
    with tempfile.TemporaryDirectory() as folder:
        kubeconfig = os.path.join(folder, "kubeconfig")
        server = subprocess.Popen([server_binary, kubeconfig], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert server.stdout.readline().startswith("http"), "the server did not start"
        failed = run_tests(Kubectl(kubectl, kubeconfig))
        server.stdin.close()
        assert server.wait(timeout=90) == 0, "the server did not end well"
        return failed


def main():
    kubectls = sys.argv[2:] or find_kubectls()
    if not kubectls:
        print("FAILED: no kubectl on the PATH, none in $KUBECTL, and none built by tests/controlplane/build")
        return 1
    if sys.argv[1] == "--on-cluster":
        return 1 if run_tests(Kubectl(kubectls[0], os.environ["KUBECONFIG"]), skip=["test_what_it_cannot_do"]) else 0
    return 1 if sum(run_on_sim(sys.argv[1], kubectl) for kubectl in kubectls) else 0


if __name__ == "__main__":
    sys.exit(main())
