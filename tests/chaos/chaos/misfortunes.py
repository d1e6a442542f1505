# SPDX-License-Identifier: Apache-2.0
"""What befalls the cluster, one at a time, each with its remedy."""

import signal
import time

from runner.clusters import ClusterError

from chaos.cluster import Down
from chaos.replicas import unix

LEASE_SECONDS = 8  # of the configuration that the replicas run with
LEADER_SECONDS = 120  # in which one replica must lead while the API server can be reached
INSIST_SECONDS = 120  # in which the API server must take what it is asked for again and again


class Misfortunes:
    """Each public method is one kind; it returns when the cause is over, not when its effects are, or raises Down: cut short."""

    def __init__(self, cluster, replicas, random, takeovers, tick):
        self._cluster, self._replicas, self._random = cluster, replicas, random
        self._takeovers = takeovers  # seconds from the end of a leader that was asked to stop until another had its lease
        self._tick = tick            # lets users and the rest go on for a moment
        self.wrong = []              # what a replica did that it must not

    def _pass(self, least, most=None):
        """Time goes by, and users go on."""
        end = time.monotonic() + (self._random.uniform(least, most) if most else least)
        while time.monotonic() < end:
            self._tick()

    def _leader(self):
        """Waits until one of the replicas leads."""
        deadline = time.monotonic() + LEADER_SECONDS
        while time.monotonic() < deadline:
            try:
                leader, standby = self._replicas.leader()
            except Down:
                leader = standby = None
            if leader:
                return leader, standby
            self._tick()
        self.wrong.append("no replica leads, though the API server can be reached")
        return self._replicas.all

    # -- Tutti --

    def leader_killed(self):
        leader, _ = self._leader()
        self._replicas.kill(leader)

    def standby_killed(self):
        _, standby = self._leader()
        self._replicas.kill(standby)

    def leader_paused(self):
        """Until another has its lease, and longer; it must then end by itself, with 1."""
        leader, _ = self._leader()
        leader.send(signal.SIGSTOP)
        try:
            self._pass(LEASE_SECONDS + 2, LEASE_SECONDS + 5)
            self._await_heir(leader.identity())
        finally:
            leader.send(signal.SIGCONT)
        code = leader.wait()
        if code != 1 or not leader.lost_lease():
            self.wrong.append(f"{leader.name}, continued after its lease had run out, "
                              f"{'goes on' if code is None else f'ended with {code}'}; its log is {leader.log}")
            leader.kill()
        self._replicas.again(leader)

    def leader_cut_off(self):
        """From the API server, which its standby reaches, until that has its lease, and longer; it must end by itself, with 1."""
        leader, _ = self._leader()
        starts, log = leader.starts, leader.log
        identity = leader.identity()
        leader.wire.cut()
        try:
            self._pass(LEASE_SECONDS + 2, LEASE_SECONDS + 5)
            self._await_heir(identity)
        finally:
            lost = leader.wire.mend()
        if leader.starts == starts:
            self.wrong.append(f"{leader.name} goes on, cut off for longer than its lease; its log is {log}")
        if not lost:
            raise Down(f"nothing was sent by {leader.name} while it was cut off")

    def _await_heir(self, identity):
        """Waits until another has the lease."""
        deadline = time.monotonic() + LEADER_SECONDS
        while time.monotonic() < deadline:
            try:
                if self._replicas.lease().get("holderIdentity") not in (identity, "", None):
                    return
            except Down:
                pass
            self._tick()
        self.wrong.append(f"no replica has taken the lease of {identity} in {LEADER_SECONDS} s")

    def standby_paused(self):
        """Its watches break meanwhile, and what they missed is forgotten."""
        _, standby = self._leader()
        standby.send(signal.SIGSTOP)
        try:
            self._pass(3)
            self._cluster.control("kill", "kube-apiserver")
            self._cluster.control("start", "kube-apiserver")
            self._pass(3, 6)
            self._cluster.compact()
        finally:
            standby.send(signal.SIGCONT)

    def leader_stopped(self):
        """SIGTERM: what is under way ends, the lease is given up, the exit code is 0, and the other goes on at once."""
        leader, standby = self._leader()
        identity = self._replicas.lease()["holderIdentity"]
        ready = standby.ended() is None
        if leader.ended() is not None:
            raise Down(f"{leader.name} had ended before it was asked to stop")
        leader.send(signal.SIGTERM)
        code = leader.wait()
        ended = time.time()
        log = leader.log
        if code is None:
            leader.kill()
        self._replicas.again(leader)
        if code != 0:
            self.wrong.append(f"{leader.name} was asked to stop and {'does not end' if code is None else f'ended with {code}'}; "
                              f"its log is {log}")
            return
        deadline = time.monotonic() + LEADER_SECONDS
        while (lease := self._replicas.lease()).get("holderIdentity") in ("", None):
            if time.monotonic() > deadline:
                self.wrong.append(f"{leader.name} was asked to stop and gave up its lease, and no replica took it in "
                                  f"{LEADER_SECONDS} s; its log is {log}")
                return
            self._tick()
        if lease["holderIdentity"] == identity:
            self.wrong.append(f"{leader.name} was asked to stop, ended with 0, and kept its lease; its log is {log}")
        elif ready and standby.identity() == lease["holderIdentity"]:
            self._takeovers.append(unix(lease["acquireTime"]) - ended)

    # -- The control plane --

    def _restart(self, *names):
        self._cluster.control("kill", *names)
        self._pass(0.5, 8)
        self._cluster.control("start", *reversed(names))

    def apiserver_killed(self):
        self._restart("kube-apiserver")

    def etcd_killed(self):
        self._restart("etcd")
        self._cluster.control("start", "kube-apiserver")

    def both_killed(self):
        self._restart("kube-apiserver", "etcd")

    def history_compacted(self):
        """So that no watch can go on where it was when its server went."""
        self._cluster.control("kill", "kube-apiserver")
        self._cluster.control("start", "kube-apiserver")
        self._cluster.compact()

    # -- Nodes --

    def _lose_nodes(self, count, least, most):
        nodes = sorted(self._cluster.get("/api/v1/nodes")["items"], key=lambda node: node["metadata"]["name"])
        lost = self._random.sample(nodes, count)
        for node in lost:
            self._insist("DELETE", f"/api/v1/nodes/{node['metadata']['name']}", None, (200, 404))
        self._pass(least, most)
        for node in lost:
            self._give_back(node)

    def _give_back(self, node):
        fresh = {"metadata": {"name": node["metadata"]["name"], "labels": node["metadata"]["labels"]},
                 "status": {"allocatable": node["status"]["allocatable"], "capacity": node["status"]["capacity"]}}
        self._insist("POST", "/api/v1/nodes", fresh, (201, 409))

    def _insist(self, method, path, body, enough):
        deadline = time.monotonic() + INSIST_SECONDS
        while time.monotonic() < deadline:
            try:
                self._cluster.revive()
                if self._cluster.request(method, path, body)[0] in enough:
                    return
            except Down:
                pass
            self._tick()
        raise ClusterError(f"{method} {path}: not in {INSIST_SECONDS} s")

    def node_vanished(self):
        self._lose_nodes(1, 1, 12)

    def nodes_vanished(self):
        self._lose_nodes(3, 4, 10)


KINDS = [name for name, value in vars(Misfortunes).items() if callable(value) and not name.startswith("_")]
