#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The judges' own tests: an invariant that could not fail would make chaos worthless."""

import base64
import contextlib
import json
import pathlib
import socket
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "walkthroughs")]

from chaos import audit, invariants
from chaos.invariants import Patience, World, violations
from chaos.replicas import Replica, Replicas
from chaos.tally import Tally
from chaos.wire import Wire

REASON = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/2 nodes are available"}


def node(name, cpu="4", taints=()):
    return {"metadata": {"name": name}, "spec": {"taints": list(taints)},
            "status": {"allocatable": {"cpu": cpu, "memory": "64Gi", "pods": "110"}}}


def pod(name, on="", cpu="1", group="", commit="", phase="", conditions=(REASON,), **metadata):
    annotations = {"scheduling.k8s.io/group-name": group} if group else {}
    if commit:
        annotations[invariants.BIND] = json.dumps({"uid": f"uid-{name}", "node": on, "commit": f"uid-{commit}", "plan": "1"})
    return {"metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}", "annotations": annotations, **metadata},
            "spec": {"schedulerName": "tutti", "nodeName": on,
                     "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]},
            "status": {"phase": phase or ("Running" if on else "Pending"), "conditions": [] if on else list(conditions)}}


def ray(name, kind, on="", cpu="1"):
    return pod(name, on, cpu, labels={"ray.io/cluster": "r", "ray.io/node-type": "head" if kind == "headgroup" else "worker",
                                      "ray.io/group": kind})


def world(nodes, pods, groups=(), rays=(), queues=()):
    """`groups`: (name, minMember) or (name, minMember, queue); `queues`: (name, CPUs, parent)."""
    lists = {kind: [] for kind in invariants.KINDS}
    lists["nodes"], lists["pods"] = nodes, pods
    lists[f"queues.{invariants.VOLCANO}"] = [
        {"metadata": {"name": name}, "spec": {"capability": {"cpu": cpus}, "parent": parent}} for name, cpus, parent in queues]
    lists[f"podgroups.{invariants.VOLCANO}"] = [
        {"metadata": {"name": name, "namespace": "default"}, "spec": {"minMember": least, "queue": "".join(queue)}}
        for name, least, *queue in groups]
    lists["rayclusters.ray.io"] = [
        {"metadata": {"name": name, "namespace": "default"},
         "spec": {"workerGroupSpecs": [{"groupName": "w", "replicas": workers}]}} for name, workers in rays]
    return World(lists)


class EveryInvariantCanFail(unittest.TestCase):
    def holds(self, invariant, *args, **keywords):
        self.assertEqual(list(invariant(world(*args, **keywords))), [])

    def fails(self, invariant, *args, **keywords):
        self.assertNotEqual(list(invariant(world(*args, **keywords))), [])

    def test_overcommitted(self):
        self.holds(invariants.overcommitted, [node("n")], [pod("a", "n", "3"), pod("b", "n", "1")])
        self.fails(invariants.overcommitted, [node("n")], [pod("a", "n", "3"), pod("b", "n", "1100m")])
        self.holds(invariants.overcommitted, [node("n")], [pod("a", "n", "3"), pod("b", "n", "3", phase="Succeeded")])
        self.fails(invariants.overcommitted, [node("n")], [pod("a", "n", "3"), pod("b", "n", "3", deletionTimestamp="now")])

    def test_over_capability(self):
        queues = [("all", "4", "root"), ("left", "3", "all"), ("right", "3", "all")]
        groups = [("g", 1, "left"), ("h", 1, "right")]
        over = invariants.over_capability
        self.holds(over, [], [pod("a", "n", "3", "g"), pod("b", "n", "1", "h"), pod("c", "n", "9")], groups, queues=queues)
        self.fails(over, [], [pod("a", "n", "3100m", "g")], groups, queues=queues)
        self.fails(over, [], [pod("a", "n", "3", "g"), pod("b", "n", "2", "h")], groups, queues=queues)  # what is above
        self.holds(over, [], [pod("a", "n", "3", "g"), pod("b", "", "2", "g")], groups, queues=queues)
        self.holds(over, [], [pod("a", "n", "3", "g"), pod("b", "n", "2", "g", deletionTimestamp="now")], groups, queues=queues)
        self.assertIn(over, invariants.ALWAYS)

    def test_half_done(self):
        group = [("g", 2)]
        self.fails(invariants.half_done, [node("n")], [pod("a", "n", group="g", commit="b"), pod("b", group="g")], group)
        self.holds(invariants.half_done, [node("n")], [pod("a", "n", group="g", commit="a"), pod("b", group="g")], group)
        self.holds(invariants.half_done, [node("n")], [pod("a", "n", group="g", commit="gone"), pod("b", group="g")], group)
        self.holds(invariants.half_done, [node("n")], [pod("a", group="g"), pod("b", group="g")], group)

    def test_half_undone(self):
        mark = {"type": "DisruptionTarget", "status": "True", "reason": "GangNotWhole"}
        marked = pod("a", "n")
        marked["status"]["conditions"] = [mark]
        self.fails(invariants.half_undone, [node("n")], [marked])
        self.holds(invariants.half_undone, [node("n")], [pod("a", "n")])

    def test_in_between_for_too_long(self):
        group = [("g", 2)]
        half = world([node("n")], [pod("a", "n", group="g", commit="b"), pod("b", group="g")], group)
        marked = pod("a", "n")
        marked["status"]["conditions"] = [{"type": "DisruptionTarget", "status": "True", "reason": "GangNotWhole"}]
        for between in (half, world([node("n")], [marked])):
            patience = Patience(20)
            self.assertEqual(patience.overdue(between, 100), [])
            self.assertEqual(patience.overdue(between, 120), [])
            self.assertEqual(len(patience.overdue(between, 121)), 1)
            self.assertEqual(patience.overdue(between, 122), [])  # it has been said
            patience = Patience(20)
            self.assertEqual(patience.overdue(between, 100), [])
            self.assertEqual(patience.overdue(world([node("n")], []), 110), [])  # another time
            self.assertEqual(patience.overdue(between, 121), [])

    def test_silent(self):
        self.holds(invariants.silent, [], [pod("a")])
        self.fails(invariants.silent, [], [pod("a", conditions=[])])
        self.fails(invariants.silent, [], [pod("a", conditions=[{**REASON, "message": ""}])])

    def test_waits_though_it_fits(self):
        waits, group = invariants.waits_though_it_fits, [("g", 3)]
        three = [pod(name, cpu="2", group="g") for name in "abc"]
        self.fails(waits, [node("m"), node("n", "2")], three, group)
        self.holds(waits, [node("m"), node("n", "1")], three, group)
        self.holds(waits, [node("m"), node("n", taints=[{"key": "k", "effect": "NoSchedule"}])], three, group)
        self.holds(waits, [node("m"), node("n")], three[:2], group)  # one is not there yet
        self.holds(waits, [node("m")], [pod("a", cpu="5")])
        self.fails(waits, [node("m")], [pod("a", cpu="4")])
        # One of a gang that has started.
        self.fails(waits, [node("m")], [pod("a", "m", "2", "g", "a"), pod("b", cpu="2", group="g")], [("g", 2)])

    def test_waits_though_it_fits_its_queue(self):
        waits, two = invariants.waits_though_it_fits, [pod(name, cpu="2", group="g") for name in "ab"]
        groups = [("g", 2, "left"), ("h", 1, "right")]
        self.fails(waits, [node("m", "9")], two, groups, queues=[("left", "4", "root")])
        self.holds(waits, [node("m", "9")], two, groups, queues=[("left", "3", "root")])
        above = [("all", "5", "root"), ("left", "4", "all"), ("right", "4", "all")]
        self.holds(waits, [node("m", "9")], [*two, pod("c", "m", "2", "h")], groups, queues=above)
        self.fails(waits, [node("m", "9")], [*two, pod("c", "m", "1", "h")], groups, queues=above)

    def test_waits_though_it_fits_with_a_head(self):
        waits = invariants.waits_though_it_fits
        members = [ray("h", "headgroup", cpu="1"), ray("w1", "w", cpu="2"), ray("w2", "w", cpu="2")]
        self.fails(waits, [node("m"), node("n", "1")], members, rays=[("r", 2)])
        self.holds(waits, [node("m", "3"), node("n", "1")], members, rays=[("r", 2)])
        self.fails(waits, [node("m", "3"), node("n", "2")], members, rays=[("r", 2)])

    def test_not_whole(self):
        group = [("g", 2)]
        self.holds(invariants.not_whole, [node("n")], [pod("a", "n", group="g"), pod("b", "n", group="g")], group)
        self.fails(invariants.not_whole, [node("n")], [pod("a", "n", group="g"), pod("b", group="g")], group)
        self.fails(invariants.not_whole, [node("n")], [pod("a", "n", group="g"), pod("b", "gone", group="g")], group)
        self.holds(invariants.not_whole, [node("n")],
                   [pod("a", "n", group="g"), pod("b", "n", group="g", phase="Succeeded")], group)
        self.fails(invariants.not_whole, [node("n")], [pod("a")])

    def test_all_of_them_are_asked(self):
        broken = world([node("n")], [pod("a", "n", "5"), pod("b", conditions=[], cpu="9")])
        self.assertEqual(len(violations(broken, invariants.ALWAYS)), 1)
        self.assertEqual(len(violations(broken, invariants.AT_REST)), 2)
        self.assertEqual(len(violations(broken, invariants.WITH_ROOM)), 4)


TOKENS = {"JTI=1": "a", "JTI=2": "b"}


def request(by, at, what="create pods/binding", code=201, takes=0.1):
    verb, _, resource = what.partition(" ")
    resource, _, part = resource.partition("/")
    stamp = "1970-01-01T00:00:{:09.6f}Z".format
    return json.dumps({"verb": verb, "user": {"extra": {audit.CREDENTIAL: [f"JTI={by}"]}},
                       "objectRef": {"resource": resource, "subresource": part, "name": "x"}, "responseStatus": {"code": code},
                       "requestReceivedTimestamp": stamp(at), "stageTimestamp": stamp(at + takes)})


class WhoWritesHasTheLease(unittest.TestCase):
    def judged(self, *requests):
        return list(audit.without_lease(list(audit.writes(requests, TOKENS))))

    def test_one_after_the_other(self):
        first, second = request(1, 1, "create leases"), request(2, 20, "update leases")
        self.assertEqual(self.judged(first, request(1, 2), request(1, 19), second, request(2, 21)), [])
        self.assertEqual(self.judged(first, second, request(2, 21), request(1, 30, "update leases"), request(1, 31)), [])
        self.assertEqual([term.by for term in audit.terms(list(audit.writes([first, second], TOKENS)))], ["a", "b"])

    def test_a_former_leader_writes(self):
        first, second = request(1, 1, "create leases"), request(2, 20, "update leases")
        self.assertEqual(len(self.judged(first, second, request(1, 20.2))), 1)
        self.assertEqual(len(self.judged(first, second, request(1, 20.2, "patch pods/status", 409))), 1)
        self.assertEqual(self.judged(first, second, request(1, 20.2, "list pods", 200)), [])
        self.assertEqual(self.judged(first, second, request(3, 20.2)), [])  # another's token

    def test_a_former_leaders_write_is_done_late(self):
        first, second = request(1, 1, "create leases"), request(2, 20, "update leases")
        self.assertEqual(len(self.judged(first, request(1, 19, takes=3), second)), 1)
        self.assertEqual(self.judged(first, request(1, 19, takes=3, code=504), second), [])
        self.assertEqual(self.judged(first, request(1, 19, takes=1.5), second), [])

    def test_who_never_had_it_writes(self):
        self.assertEqual(len(self.judged(request(1, 1, "create leases"), request(2, 2))), 1)
        self.assertEqual(len(self.judged(request(1, 1, "create leases", 409), request(1, 2))), 1)
        self.assertEqual(len(self.judged(request(1, 1), request(1, 2, "create leases"))), 1)

    def test_what_was_cut_off_is_left_out(self):
        self.assertEqual(self.judged(request(1, 1, "create leases"), request(1, 2)[:40]), [])

    def test_a_token_is_known(self):
        claims = base64.urlsafe_b64encode(b'{"jti":"1","sub":"tutti"}').decode().rstrip("=")
        self.assertEqual(TOKENS[audit.credential(f"e30.{claims}.sig")], "a")


class ReplicasThatEndAreNotForgotten(unittest.TestCase):
    def setUp(self):
        self._dir = tempfile.TemporaryDirectory()
        self.addCleanup(self._dir.cleanup)

    def replicas(self, script):
        """One that has ended by itself."""
        replica = Replica("a", ["sh", "-c", script], pathlib.Path(self._dir.name), None)
        replica.start()
        replica.wait()
        return replica, Replicas([replica], None, lambda text: None)

    def ended(self, script):
        """(leases lost, crashes, what is said)."""
        replica, replicas = self.replicas(script)
        said = replicas.tend()
        replica.kill()
        return replicas.lost, len(replicas.crashes), len(said)

    def test_only_a_lost_lease_excuses(self):
        self.assertEqual(self.ended("""echo '{"level":"error","msg":"not leading any more"}'; exit 1"""), (1, 0, 1))
        self.assertEqual(self.ended("exit 1"), (0, 1, 1))
        self.assertEqual(self.ended("""echo '{"level":"error","msg":"not leading any more"}'; exit 2"""), (0, 1, 1))
        self.assertEqual(self.ended("exit 0"), (0, 1, 1))

    def test_one_that_ended_before_it_could_be_killed(self):
        replica, replicas = self.replicas("exit 134")
        replicas.kill(replica)
        replica.kill()
        self.assertEqual(len(replicas.crashes), 1)
        replica, replicas = self.replicas("exit 134")
        replicas.stop()
        self.assertEqual(len(replicas.crashes), 1)


class ARunThatShowsLittleSaysSo(unittest.TestCase):
    def shown(self):
        tally = Tally(["etcd_killed", "leader_killed"])
        tally.done.update(["etcd_killed", "leader_killed"])
        tally.expired, tally.takeovers, tally.handovers = 1, [0.1], 1
        return tally

    def test_everything_is_asked_for(self):
        self.assertEqual([*self.shown().unshown(), *self.shown().slow()], [])
        tally = self.shown()
        tally.done["etcd_killed"], tally.cut_short["etcd_killed"] = 0, 3
        self.assertEqual(tally.unshown(), ["never done: etcd killed"])
        self.assertIn("etcd killed", "".join(tally.lines()))
        for nothing in ({"expired": 0}, {"takeovers": []}, {"handovers": 0}):
            tally = self.shown()
            vars(tally).update(nothing)
            self.assertEqual(len(tally.unshown()), 1, nothing)

    def test_takeovers_that_wait_for_the_lease(self):
        tally = self.shown()
        tally.takeovers = [0.1, 7, 8]
        self.assertEqual(len(list(tally.slow())), 1)


class AWireCanBeCut(unittest.TestCase):
    def setUp(self):
        self._server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(self._server.close)
        self._wire = Wire(self._server.getsockname())

    def ends(self):
        """(client, server) of a new connection."""
        client = socket.create_connection(("127.0.0.1", self._wire.port), 5)
        server, _ = self._server.accept()
        server.settimeout(5)
        for end in (client, server):
            self.addCleanup(end.close)
        return client, server

    def received(self, end):
        """All until the other end is gone."""
        data = b""
        with contextlib.suppress(ConnectionError):
            while piece := end.recv(100):
                data += piece
        return data

    def test_it_passes_bytes_on(self):
        client, server = self.ends()
        client.sendall(b"ask")
        self.assertEqual(server.recv(3), b"ask")
        server.sendall(b"answer")
        self.assertEqual(client.recv(6), b"answer")
        client.close()
        self.assertEqual(self.received(server), b"")

    def test_what_is_sent_meanwhile_is_lost_for_ever(self):
        client, server = self.ends()
        self._wire.cut()
        client.sendall(b"ask")
        client.close()
        late, its = self.ends()
        late.sendall(b"ask")
        while self._wire.lost < 6:
            pass
        self.assertEqual(self._wire.mend(), 6)
        for end in (server, late, its):
            self.assertEqual(self.received(end), b"")
        self.test_it_passes_bytes_on()


if __name__ == "__main__":
    unittest.main()
