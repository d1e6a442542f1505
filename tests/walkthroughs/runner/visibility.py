# SPDX-License-Identifier: Apache-2.0
"""Kueue's API of what waits, as manifests/ ships it, for a scheduler on this machine."""

import yaml

from runner.rights import REPOSITORY, RIGHTS

SHIPPED = REPOSITORY / "manifests" / "kueue" / "visibility" / "visibility.yaml"


def configuration(port):
    """As text, with the scheduler's port in place of its Service; its roles are granted with the others of manifests/."""
    documents = [document for document in yaml.safe_load_all(SHIPPED.read_text()) if document["kind"] not in RIGHTS]
    for document in documents:
        if document["kind"] == "APIService":
            document["spec"]["service"]["port"] = port
        else:
            document["spec"] = {"type": "ExternalName", "externalName": "localhost"}
    return yaml.safe_dump_all(documents)
