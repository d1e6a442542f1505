# SPDX-License-Identifier: Apache-2.0
"""What a process costs, from /proc, and processes that do not outlive this one."""

import ctypes
import os
import pathlib
import signal
import subprocess
import threading
import time

TICKS = os.sysconf("SC_CLK_TCK")
SAMPLE_SECONDS = 0.02
STOP_SECONDS = 20
PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None)


def _stat(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()


def cpu_seconds(pid):
    """User and system time of all its threads, ended ones too."""
    try:
        fields = _stat(pid)
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS


def peak_rss_mib(pid):
    """None when it has ended."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return None


def machine_busy_seconds():
    """CPU time that the whole machine has spent at work, or that its host has kept from it."""
    fields = pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:]
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, fields[:8])
    return (user + nice + system + irq + softirq + steal) / TICKS


class Measured:
    """A child process and samples of its cost. It is left unreaped until stop(), so that its last figures stay readable."""

    def __init__(self, command, log):
        with open(log, "wb") as out, open(f"{log}.json", "wb") as answer:
            self.started_at = time.monotonic()
            self._process = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=answer, stderr=out,
                start_new_session=True, preexec_fn=lambda: _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL))
        self.log, self.pid = log, self._process.pid
        self._samples, self._peak = [], 0.0
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def _sample(self):
        while not self._stopping.wait(SAMPLE_SECONDS):
            self._peak = max(self._peak, peak_rss_mib(self.pid) or 0.0)
            self._samples.append((time.monotonic(), cpu_seconds(self.pid)))

    def ended(self):
        return _stat(self.pid)[0] == "Z"

    def cpu_at(self, instant):
        """What it had used at the first sample from this instant on."""
        for at, cpu in list(self._samples):
            if at >= instant:
                return cpu
        return cpu_seconds(self.pid)

    def peak_rss_mib(self):
        return max(self._peak, peak_rss_mib(self.pid) or 0.0)

    def stop(self):
        self._stopping.set()
        self._thread.join()
        for sign in (signal.SIGTERM, signal.SIGKILL):
            if self._process.poll() is None:
                self._process.send_signal(sign)
            try:
                return self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                continue
        return self._process.wait()

    def tail(self, lines=8):
        return "\n".join(pathlib.Path(self.log).read_text(errors="replace").splitlines()[-lines:])
