# SPDX-License-Identifier: Apache-2.0
"""Waits until an API server serves the definitions that were just applied."""

import time

SECONDS = 60


def await_established(kubectl, *which):
    """`kubectl` runs it with these arguments and returns what subprocess.run does; `which`: "-f", FILE, ... Returns what it printed of
    a failure, or an empty text."""
    deadline = time.monotonic() + SECONDS
    while True:
        done = kubectl("wait", "--for=condition=Established", f"--timeout={SECONDS}s", *which)
        if done.returncode == 0:
            return ""
        # kubectl ends so where an object has no conditions at all yet, and that is no answer.
        if "accessor error" not in done.stderr or time.monotonic() > deadline:
            return done.stderr.strip()
        time.sleep(0.2)
