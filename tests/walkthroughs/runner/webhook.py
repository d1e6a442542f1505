# SPDX-License-Identifier: Apache-2.0
"""The webhook by which the scheduler holds new jobs: its certificate, and its configuration for a scheduler on this machine."""

import base64
import subprocess

import yaml

from runner.rights import REPOSITORY

CONFIGURATION = REPOSITORY / "manifests" / "kueue" / "hold" / "webhook" / "webhook.yaml"


def certify(directory):
    """(certificate, key): files of a certificate for 127.0.0.1 that has signed itself."""
    certificate, key = directory / "webhook.crt", directory / "webhook.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
                    "-subj", "/CN=tutti", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
                   check=True, capture_output=True)
    return certificate, key


def configuration(certificate, port):
    """What manifests/ ships, as text, with the scheduler's address in place of its Service."""
    shipped, _ = yaml.safe_load_all(CONFIGURATION.read_text())
    bundle = base64.b64encode(certificate.read_bytes()).decode()
    for hook in shipped["webhooks"]:
        path = hook["clientConfig"]["service"]["path"]
        hook["clientConfig"] = {"url": f"https://127.0.0.1:{port}{path}", "caBundle": bundle}
    return yaml.safe_dump(shipped)
