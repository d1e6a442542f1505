# SPDX-License-Identifier: Apache-2.0
"""Waits until an API server holds new jobs: manifests/kueue/hold is in force some time after it is written."""

import time

SECONDS = 60
PROBE = """
apiVersion: batch/v1
kind: Job
metadata: {name: is-this-held, namespace: default, labels: {kueue.x-k8s.io/queue-name: q}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
"""


def await_hold(kubectl):
    """`kubectl` runs it with these arguments and this standard input, and returns what it printed. Raises TimeoutError."""
    deadline = time.monotonic() + SECONDS
    while True:
        said = kubectl("create", "--dry-run=server", "-o", "jsonpath={.spec.suspend}", "-f", "-", stdin=PROBE)
        if said.strip() == "true":
            return
        if time.monotonic() > deadline:
            raise TimeoutError(f"jobs are not held: {said}")
        time.sleep(0.2)
