# SPDX-License-Identifier: Apache-2.0
"""`kubectl get --watch` in the background: every line it prints, with the instant at which it came."""

import re
import subprocess
import threading
import time

# A pod and its node; the node is empty until the bind is accepted.
BINDS = ["get", "pods", "--watch", "-o", 'jsonpath={.metadata.name}{" "}{.spec.nodeName}{"\\n"}']


class Watch:
    """Reads until `stop`. One reader thread; all else from the caller's."""

    def __init__(self, kubectl, arguments, environment):
        self._lines = []
        self._grown = threading.Condition()
        self._process = subprocess.Popen(
            [kubectl, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self._process.stdout:
            with self._grown:
                self._lines.append((time.monotonic(), line.rstrip("\n")))
                self._grown.notify_all()

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

    def text(self):
        with self._grown:
            return "\n".join(line for _, line in self._lines)

    def stop(self):
        self._process.kill()
        self._process.wait()
