# SPDX-License-Identifier: Apache-2.0
"""What a walkthrough does beside kubectl: the scheduler's process, nodes by the dozen, watches, and audits.

An action is a function of this file named do_<action>; its keyword arguments are the words of the step.
"""

import inspect
import json
import pathlib
import re
import shlex
import ssl
import time
import urllib.error
import urllib.request

import yaml

from runner import visibility as kueue_visibility
from runner.autoscaler import Autoscaler
from runner.quantity import milli
from runner.watch import BINDS, Watch
from runner.webhook import certify, configuration
from runner.words import BadWalkthrough, StepFailed, pause, seconds, substitute_all

HERE = pathlib.Path(__file__).resolve().parent.parent
# How often a wait looks whether the scheduler still runs.
LOOK_SECONDS = 1
RENEWAL_SECONDS = 10  # for a list, and a second try of it
# A machine that others use stumbles; what a time wanted is multiplied by before it fails a test.
STUMBLE = 10


def act(session, step):
    name = "do_" + step["host"].replace("-", "_")
    if name not in globals():
        known = sorted(word[3:].replace("_", "-") for word in globals() if word.startswith("do_"))
        raise BadWalkthrough(f"host: unknown action {step['host']!r}; there are: {', '.join(known)}")
    words = {key.replace("-", "_"): value for key, value in step.items() if key not in ("host", "only")}
    words = substitute_all(words, session.variables)
    try:
        inspect.signature(globals()[name]).bind(session, **words)
    except TypeError as error:
        raise BadWalkthrough(f"host: {step['host']}: {error}") from None
    globals()[name](session, **words)


def fail(text):
    raise StepFailed(text)


def do_start_scheduler(session, slow_wire=None, webhook=False, visibility=False):
    pair = certify(session.directory) if webhook else None
    command = session.scheduler.start(slow_wire, pair)
    session.tell(f"* the scheduler starts: {command}"
                 + (f"    (its wire carries {slow_wire} bytes/s)" if slow_wire else ""))
    asked = {"the webhook": configuration(pair[0], session.scheduler.port)} if pair else {}
    if visibility:
        asked["the aggregated API"] = kueue_visibility.configuration(session.scheduler.port)
    for what, manifests in asked.items():
        code, _, error = session.kubectl(["apply", "-f", "-"], manifests)
        if code != 0:
            fail(f"{what} could not be configured: {error}")


def do_hold_wire(session):
    session.scheduler.wire.hold()
    session.tell("* nothing that the scheduler sends passes")


def do_release_wire(session):
    session.scheduler.wire.release()
    session.tell("* it passes again")


def do_stop_scheduler(session):
    session.check_scheduler()
    code = session.scheduler.stop()
    session.tell(f"* SIGTERM: the scheduler ends with {code}")
    if code != 0:
        fail(f"after SIGTERM the scheduler should end with 0, not {code}; its log ends:\n{session.scheduler.tail()}")


def do_kill_scheduler(session):
    session.check_scheduler()
    session.scheduler.kill()
    session.tell("* SIGKILL")


def do_page(session, path, status, token=None, certificate=None, within=0):
    """GETs a page of the scheduler; `certificate` names a pair of the cluster's PKI."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if certificate:
        context.load_cert_chain(*session.cluster.certificate(certificate))
    request = urllib.request.Request(f"https://127.0.0.1:{session.scheduler.port}{path}",
                                     headers={"Authorization": f"Bearer {token}"} if token else {})
    started = time.monotonic()
    while True:
        try:
            with urllib.request.urlopen(request, timeout=60, context=context) as answer:
                seen = answer.status
        except urllib.error.HTTPError as error:
            seen = error.code
        except OSError as error:
            seen = str(error)
        if seen == int(status) or time.monotonic() - started > seconds(within):
            break
        session.check_scheduler()
        pause(started)
    who = "a token" if token else f"the certificate of {certificate}" if certificate else "nothing"
    session.tell(f"* GET {path} with {who}: {seen}")
    if seen != int(status):
        fail(f"GET {path} with {who} should be answered {status}, not {seen}")


def do_nodes(session, name, count, allocatable, labels=None, taints=None):
    """Creates <name>-0 ... with this allocatable; kwok or the virtual kubelet makes them Ready."""
    allocatable = {"pods": "110", **{key: str(value) for key, value in allocatable.items()}}
    items = [{
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": f"{name}-{i}", "labels": {"kubernetes.io/hostname": f"{name}-{i}", **(labels or {})}},
        **({"spec": {"taints": taints}} if taints else {}),
        "status": {"allocatable": allocatable, "capacity": allocatable},
    } for i in range(int(count))]
    code, _, err = session.kubectl(["create", "-f", "-"], yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": items}))
    shown = ", ".join(f"{key} {value}" for key, value in allocatable.items())
    session.tell(f"* {count} nodes {name}-0..{int(count) - 1} of {shown}")
    if code != 0:
        fail(f"the nodes could not be created: {err}")


def do_watch(session, name, kubectl=None):
    """Starts a watch in the background; without a command of its own it watches binds."""
    if name in session.watches:
        session.watches.pop(name).stop()
    session.watches[name] = Watch(session.kubectl_path, shlex.split(kubectl) if kubectl else BINDS, session.environment)


def do_await_binds(session, watch, count, pods, within, capture_node=None):
    """Waits until so many pods whose names match `pods` have a node, as the watch tells it.

    Where the time is up on a real cluster, the pods are listed once more: what counts is whether they are bound. A watch
    of the embedded cluster that falls silent is a fault.
    """
    pattern, deadline = rf"^({pods}\S*) \S+$", time.monotonic() + seconds(within)
    renewed = False
    while (seen := session.watches[watch].nth(pattern, int(count), LOOK_SECONDS)) is None:
        session.check_scheduler()
        if time.monotonic() > deadline and (renewed or session.cluster.name != "real"):
            fail(f"{count} binds were not seen within {within}, but {session.watches[watch].count(pattern)}; "
                 f"the watch printed:\n{session.watches[watch].text()}")
        if time.monotonic() > deadline:
            session.tell(f"* {session.watches[watch].count(pattern)} binds were seen within {within}; the pods are listed again")
            session.watches[watch].renew()
            deadline, renewed = time.monotonic() + RENEWAL_SECONDS, True
    if capture_node:
        session.variables[capture_node] = seen[1].split()[1]
    session.tell(f"* {count} binds accepted")


def do_time_between(session, earlier, later, at_most):
    """Tells how long after the watched line `earlier` the line `later` came. Fails at STUMBLE times what is wanted."""
    moments = []
    for point in (earlier, later):
        seen = session.watches[point["watch"]].nth(point["line"], int(point.get("nth", 1)), 5)
        if seen is None:
            fail(f"watch {point['watch']} never printed /{point['line']}/; it printed:\n"
                 f"{session.watches[point['watch']].text()}")
        moments.append(seen[0])
    took = moments[1] - moments[0]
    session.tell(f"* {took:.3f} s passed between them; at most {at_most} wanted")
    if took > STUMBLE * seconds(at_most):
        fail(f"{took:.3f} s passed, more than {STUMBLE} times {at_most}")


def do_in_order(session, watch, lines):
    """Fails unless the watch has printed a line like each of `lines`, the first of each no sooner than that of the one before."""
    printed = session.watches[watch].text().splitlines()
    places = []
    for pattern in lines:
        place = next((at for at, line in enumerate(printed) if re.search(pattern, line)), None)
        if place is None or (places and place < places[-1]):
            why = "was never printed" if place is None else f"came before /{lines[len(places) - 1]}/"
            fail(f"watch {watch}: /{pattern}/ {why}; it printed:\n" + "\n".join(printed))
        places.append(place)
    session.tell("* in this order: " + ", ".join(printed[place] for place in places))


def do_start_autoscaler(session, node, wait=False):
    """Starts `tutti sim autoscaler`, which answers ProvisioningRequests with nodes like the one of the file `node`. With
    `wait` a request gets them once it is annotated: sim.tutti.dev/provisioning=provide."""
    session.autoscaler = Autoscaler(session.binary, session.directory, session.cluster.kubeconfig, HERE / node, wait)
    session.tell(f"* the autoscaler starts: {session.autoscaler.command}")


def do_stop_autoscaler(session):
    code = session.autoscaler.stop()
    session.tell(f"* SIGTERM: the autoscaler ends with {code}")
    if code != 0:
        fail(f"after SIGTERM the autoscaler should end with 0, not {code}; its log ends:\n{session.autoscaler.tail()}")


def do_tally(session, name, value, between):
    """Counts how often `value` lies in a range, over the rounds of a repeat."""
    low, high = between
    session.tallies.setdefault(name, 0)
    session.tallies[name] += int(low) <= int(value) <= int(high)
    session.tell(f"* {name}: {value}; in {low}..{high} so far: {session.tallies[name]}")


def do_expect_tally(session, name, at_least):
    seen = session.tallies.get(name, 0)
    session.tell(f"* {name}: {seen} times; at least {at_least} wanted")
    if seen < int(at_least):
        fail(f"{name} was seen {seen} times, {at_least} are needed")


def do_count_bound(session, selector, capture):
    """How many pods are bound now, by one read."""
    session.variables[capture] = len([pod for pod in read(session, "pods", selector) if is_bound(pod)])
    session.tell(f"* {session.variables[capture]} pods of {selector} are bound")


def do_audit(session, selector, sizes, within):
    """The gang ends whole or not at all: the number of its live bound pods becomes one of `sizes` and nothing is
    left half done; and at no time is a node over its allocatable."""
    deadline, started = time.monotonic() + seconds(within), time.monotonic()
    while True:
        pods, nodes = read(session, "pods"), {node["metadata"]["name"]: node for node in read(session, "nodes")}
        check_nodes(nodes, pods)
        gang = [pod for pod in pods if matches(pod, selector)]
        wrong = half_done(gang, nodes, [int(size) for size in sizes])
        if wrong is None:
            break
        session.check_scheduler()
        if time.monotonic() > deadline:
            fail(f"not settled within {within}: {wrong}")
        pause(started)
    bound = sum(1 for pod in gang if is_bound(pod))
    session.tell(f"* audit after {time.monotonic() - started:.1f} s: {bound} of {len(gang)} bound, "
                 f"no node of {len(nodes)} over its allocatable")


def half_done(gang, nodes, sizes):
    bound = [pod for pod in gang if is_bound(pod)]
    lost = [pod["metadata"]["name"] for pod in bound if pod["spec"]["nodeName"] not in nodes]
    ending = [pod["metadata"]["name"] for pod in gang if pod["metadata"].get("deletionTimestamp")]
    failed = [pod["metadata"]["name"] for pod in gang if pod["status"].get("phase") == "Failed"]
    if lost:
        return f"{len(lost)} pods are bound to nodes that are gone ({lost[0]} ...)"
    if ending or failed:
        return f"{len(ending)} pods are still ending, {len(failed)} have failed"
    if len(bound) not in sizes:
        return f"{len(bound)} of {len(gang)} pods are bound, allowed are {' or '.join(map(str, sizes))}"
    return None


def check_nodes(nodes, pods):
    """Fails at once when the pods on a node ask for more than it has."""
    used = {}
    for pod in pods:
        if is_bound(pod) and pod["status"].get("phase") not in ("Succeeded", "Failed"):
            total = used.setdefault(pod["spec"]["nodeName"], {})
            for resource, amount in requests(pod).items():
                total[resource] = total.get(resource, 0) + amount
    for name, total in used.items():
        allocatable = nodes.get(name, {}).get("status", {}).get("allocatable", {})
        for resource, amount in total.items():
            if name in nodes and amount > milli(allocatable.get(resource, "0")):
                fail(f"node {name} is over its allocatable: {resource} {amount}m asked, {allocatable.get(resource, 0)} there")


def requests(pod):
    """What the pod's containers ask for together, or its largest init container if that is more; and one pod."""
    total = {}
    for container in pod["spec"]["containers"]:
        for resource, amount in container.get("resources", {}).get("requests", {}).items():
            total[resource] = total.get(resource, 0) + milli(amount)
    for container in pod["spec"].get("initContainers", []):
        for resource, amount in container.get("resources", {}).get("requests", {}).items():
            total[resource] = max(total.get(resource, 0), milli(amount))
    return {**total, "pods": 1000}


def is_bound(pod):
    return bool(pod["spec"].get("nodeName"))


def matches(pod, selector):
    labels = pod["metadata"].get("labels", {})
    return all(labels.get(key) == value for key, value in (part.split("=") for part in selector.split(",")))


def read(session, kind, selector=None):
    arguments = ["get", kind, "-A", "-o", "json"] if kind == "pods" else ["get", kind, "-o", "json"]
    code, out, err = session.kubectl(arguments + (["-l", selector] if selector else []))
    if code != 0:
        fail(f"kubectl {' '.join(arguments)}: {err}")
    return json.loads(out)["items"]
