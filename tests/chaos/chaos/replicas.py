# SPDX-License-Identifier: Apache-2.0
"""Tutti's two replicas, as a Deployment would run them: whoever ends is started again."""

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
    """One process at a time. `died` is told the exit code of each that ended and was not asked to."""

    def __init__(self, name, command, directory):
        self.name, self._command, self._dir = name, command, directory
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
        self.send(signal.SIGKILL)
        self._process.wait()

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

    def expiries(self):
        """How many watches it had to give up because their history was gone, since it started."""
        return self.log.read_text(errors="replace").count('"msg":"the watch has expired, listing again"')


class Replicas:
    def __init__(self, command, directory, cluster, note):
        self.all = [Replica(name, command, directory) for name in ("tutti-a", "tutti-b")]
        self._cluster, self._note = cluster, note
        self.crashes = []      # exits that no scheduler should make, for the report
        self.lost = 0          # exits for a lost lease
        self.expired = 0

    def start(self):
        for replica in self.all:
            replica.start()

    def stop(self):
        for replica in self.all:
            if replica.ended() is None:
                replica.send(signal.SIGCONT)
                replica.kill()
            self.expired += replica.expiries()

    def again(self, replica):
        self.expired += replica.expiries()
        replica.start()

    def tend(self):
        """Starts those that have ended by themselves: for a lost lease with 1, and for nothing else."""
        for replica in self.all:
            code = replica.ended()
            if code is None:
                continue
            self._note(f"{replica.name} has ended with {code}")
            if code == 1:
                self.lost += 1
            else:
                self.crashes.append(f"{replica.name} ended by itself with {code}; its log is {replica.log}")
            self.again(replica)

    def lease(self):
        return self._cluster.get(LEASE)["spec"]

    def leader(self):
        """(leader, standby) as the Lease has it; (None, None) while nobody of these holds it."""
        holder = self.lease().get("holderIdentity")
        for leader, standby in (self.all, self.all[::-1]):
            if holder and leader.ended() is None and leader.identity() == holder:
                return leader, standby
        return None, None
