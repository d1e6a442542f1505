# SPDX-License-Identifier: Apache-2.0
"""Tutti's two replicas, as a Deployment would run them: one that ends is started again."""

import calendar
import json
import signal
import subprocess
import time

from runner.scheduler import SPAWN

LEASE = "/apis/coordination.k8s.io/v1/namespaces/tutti-system/leases/tutti"
STOP_SECONDS = 60


def unix(text):
    """RFC 3339 with microseconds, in seconds."""
    whole, _, part = text.rstrip("Z").partition(".")
    return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) + float(f"0.{part or 0}")


class Replica:
    """One process at a time, which reaches the API server through its wire."""

    def __init__(self, name, command, directory, wire):
        self.name, self._command, self._dir, self.wire = name, command, directory, wire
        self.starts = 0
        self._process = None

    def start(self):
        self.starts += 1
        self.log = self._dir / f"{self.name}-{self.starts}.log"
        with open(self.log, "wb") as log:
            self._process = subprocess.Popen([*SPAWN, *self._command], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def ended(self):
        """The exit code, or None while it runs."""
        return self._process.poll()

    def send(self, sign):
        self._process.send_signal(sign)

    def kill(self):
        """The exit code: not SIGKILL's if it had ended already."""
        self.send(signal.SIGKILL)
        return self._process.wait()

    def wait(self, seconds=STOP_SECONDS):
        """The exit code; None if it does not end."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def identity(self):
        """Under which name it led; empty if it has not."""
        for line in self.log.read_text(errors="replace").splitlines():
            if '"msg":"leading"' in line:
                return json.loads(line)["identity"]
        return ""

    def lost_lease(self):
        """Whether it says that it ends for that."""
        return self._said("not leading any more") > 0

    def expiries(self):
        """How many watches it had to give up because their history was gone, since it started."""
        return self._said("the watch has expired, listing again")

    def _said(self, message):
        return self.log.read_text(errors="replace").count(f'"msg":"{message}"')


class Replicas:
    def __init__(self, replicas, cluster, note):
        self.all = replicas
        self._cluster, self._note = cluster, note
        self.crashes = []  # exits that no scheduler should make, for the report
        self.lost = 0      # exits for a lost lease
        self._expired = 0  # of processes that are gone

    def start(self):
        for replica in self.all:
            replica.start()

    def stop(self):
        for replica in self.all:
            replica.send(signal.SIGCONT)
            self._kill(replica)

    def again(self, replica):
        self._expired += replica.expiries()
        replica.start()

    def kill(self, replica):
        """And starts it again."""
        self._kill(replica)
        self.again(replica)

    def _kill(self, replica):
        code = replica.kill()
        if code != -signal.SIGKILL:
            self._ended(replica, code)

    def tend(self):
        """Starts those that have ended by themselves, and says which: for a lost lease with 1, and for nothing else."""
        said = []
        for replica in self.all:
            code = replica.ended()
            if code is not None:
                said.append(self._ended(replica, code))
                self.again(replica)
        return said

    def _ended(self, replica, code):
        self._note(f"{replica.name} has ended with {code}")
        said = f"{replica.name} ended by itself with {code}; its log is {replica.log}"
        if code == 1 and replica.lost_lease():
            self.lost += 1
        else:
            self.crashes.append(said)
        return said

    def expired(self):
        return self._expired + sum(replica.expiries() for replica in self.all)

    def lease(self):
        return self._cluster.get(LEASE)["spec"]

    def leader(self):
        """(leader, standby) as the Lease has it; (None, None) while neither of the two holds it."""
        holder = self.lease().get("holderIdentity")
        for leader, standby in (self.all, self.all[::-1]):
            if holder and leader.ended() is None and leader.identity() == holder:
                return leader, standby
        return None, None
