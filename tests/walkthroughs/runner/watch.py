# SPDX-License-Identifier: Apache-2.0
"""`kubectl get --watch` in the background: every line it prints, with the instant at which it came."""

import re
import subprocess
import threading
import time

# A pod and its node; the node is empty until the bind is accepted.
BINDS = ["get", "pods", "--watch", "-o", 'jsonpath={.metadata.name}{" "}{.spec.nodeName}{"\\n"}']

RESTART_SECONDS = 0.2


class Watch:
    """Reads until `stop`. One reader thread; all else from the caller's.

    A kubectl that ends before then, as when the API server cuts its watch, is started again. It lists what there is and
    goes on, so a line may come twice. `text` tells of each such start.
    """

    def __init__(self, kubectl, arguments, environment):
        self._command = [kubectl, *arguments]
        self._environment = environment
        self._lines = []
        self._grown = threading.Condition()
        self._stopped = threading.Event()
        self._start()
        threading.Thread(target=self._read, daemon=True).start()

    def _start(self):
        # Errors share the pipe with the lines, so `text` shows them and no second pipe can fill up.
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=self._environment)

    def _add(self, line):
        with self._grown:
            self._lines.append((time.monotonic(), line))
            self._grown.notify_all()

    def _read(self):
        while True:
            for line in self._process.stdout:
                self._add(line.rstrip("\n"))
            ended = self._process.wait()
            if self._stopped.wait(RESTART_SECONDS):
                return
            self._add(f"[the watch ended with {ended} and is started again]")
            with self._grown:
                if not self._stopped.is_set():
                    self._start()

    def nth(self, pattern, count, seconds):
        """(instant, line) of the count-th line that matches `pattern`, counting each first group once; None if late."""
        deadline = time.monotonic() + seconds
        seen, read = set(), 0
        with self._grown:
            while True:
                for at, line in self._lines[read:]:
                    found = re.search(pattern, line)
                    if found:
                        seen.add(found.group(1) if found.groups() else line)
                        if len(seen) >= count:
                            return at, line
                read = len(self._lines)
                if not self._grown.wait(max(0.0, deadline - time.monotonic())) and time.monotonic() >= deadline:
                    return None

    def count(self, pattern):
        """How many first groups the lines so far that match `pattern` have."""
        with self._grown:
            return len({found.group(1) for _, line in self._lines if (found := re.search(pattern, line))})

    def renew(self):
        """Makes kubectl list again, for a watch that the API server has forgotten."""
        self._process.kill()

    def text(self):
        with self._grown:
            return "\n".join(line for _, line in self._lines)

    def stop(self):
        with self._grown:
            self._stopped.set()
            self._process.kill()
        self._process.wait()
