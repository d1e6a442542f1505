# SPDX-License-Identifier: Apache-2.0
"""The scheduler under test, as a process that can be started, ended and killed."""

import pathlib
import re
import shlex
import signal
import subprocess
import sys

from ports import free_port
from runner.wire import SlowWire

# What the kernel does for a child whose parent died, whatever killed it.
SPAWN = [sys.executable, "-c", (
    "import ctypes, os, signal, sys;"
    "ctypes.CDLL(None).prctl(1, signal.SIGKILL);"
    "os.execvp(sys.argv[1], sys.argv[1:])")]

STOP_SECONDS = 60


def end(process):
    """SIGTERM; answers the exit code, or None if the process had to be killed."""
    process.send_signal(signal.SIGTERM)
    try:
        return process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return None


class Scheduler:
    """One process at a time. `command` is a shell-like template with {kubeconfig} and {port}; --config follows it if there is one."""

    def __init__(self, command, directory, kubeconfig, config):
        self._command = command
        self._dir = pathlib.Path(directory)
        self._kubeconfig = pathlib.Path(kubeconfig)
        self._config = config
        self._process = None
        self.wire = None
        self._starts = 0
        self._asked = False
        self.log = None
        self.port = None  # of its pages

    def running(self):
        return self._process is not None and self._process.poll() is None

    def start(self, slow_wire=None, webhook=None):
        """`webhook`: (certificate, key), with which it also answers for the webhook of Kueue's jobs."""
        assert not self.running()
        self._starts += 1
        self._asked = False
        self.log = self._dir / f"scheduler-{self._starts}.log"
        kubeconfig = self._kubeconfig
        if slow_wire:
            kubeconfig = self._behind_wire(int(slow_wire))
        self.port = free_port()
        words = [word.format(kubeconfig=kubeconfig, port=self.port) for word in shlex.split(self._command)]
        words += ["--config", str(self._config)] if self._config else []
        if webhook:
            words += ["--kueue-webhook", "--tls-cert-file", str(webhook[0]), "--tls-private-key-file", str(webhook[1])]
        with open(self.log, "wb") as log:
            self._process = subprocess.Popen([*SPAWN, *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return " ".join(words)

    def _behind_wire(self, bytes_per_second):
        text = self._kubeconfig.read_text()
        server = re.search(r"server: (https?)://127\.0\.0\.1:(\d+)", text)
        self.wire = SlowWire(int(server.group(2)), bytes_per_second)
        path = self._dir / "slow-wire.kubeconfig"
        path.touch(mode=0o600)
        path.write_text(text.replace(server.group(0), f"server: {server.group(1)}://127.0.0.1:{self.wire.port}"))
        return path

    def kill(self):
        """SIGKILL; nothing that it had sent and that had not arrived will arrive."""
        self._asked = True
        self._process.kill()
        self._drop_wire()
        self._process.wait()

    def stop(self):
        """Ends it, and answers as `end`."""
        self._asked = True
        code = end(self._process)
        self._drop_wire()
        return code

    def died(self):
        """The exit code of a scheduler that ended though it was not asked to, or None."""
        return self._process.poll() if self._process and not self._asked else None

    def tail(self, lines=40):
        if self.log is None or not self.log.exists():
            return "(the scheduler was never started)"
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def _drop_wire(self):
        if self.wire:
            self.wire.close()
            self.wire = None
