# SPDX-License-Identifier: Apache-2.0
"""Which process wrote what and when, by the API server's audit log, and whether the writer had the lease.

Each replica has a token of its own, and is known by that. Only a replica that has the lease, or finds it free, can
write it. So the writes of the Lease that were done tell which replica had it, and from when on.
"""

import base64
import dataclasses
import json
import math

from chaos.replicas import unix

CREDENTIAL = "authentication.kubernetes.io/credential-id"
READS = ("get", "list", "watch")
QUESTIONS = ("authentication.k8s.io", "authorization.k8s.io")  # are created, and change nothing
ANSWER_SECONDS = 1  # from the effect of a write to its answer, on a busy machine


def credential(token):
    """By what the audit log names a ServiceAccount's token."""
    claims = token.split(".")[1]
    return "JTI=" + json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))["jti"]


@dataclasses.dataclass
class Write:
    by: str
    what: str
    arrived: float
    answered: float
    done: bool
    lease: bool = False


def writes(lines, names):
    """Those of whose tokens `names` has the credential: {credential: name}."""
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue  # what was being written when the API server was killed
        by = names.get(event["user"].get("extra", {}).get(CREDENTIAL, [""])[0])
        thing = event.get("objectRef", {})
        if not by or event["verb"] in READS or thing.get("apiGroup") in QUESTIONS:
            continue
        resource = "/".join(filter(None, (thing["resource"], thing.get("subresource"))))
        yield Write(by, f"{event['verb']} {resource} {thing.get('name', '')}".rstrip(), unix(event["requestReceivedTimestamp"]),
                    unix(event["stageTimestamp"]), event.get("responseStatus", {}).get("code", 500) < 300, resource == "leases")


@dataclasses.dataclass
class Term:
    """`by` may have had the lease since `since`, and surely had it no more at `over`."""
    by: str
    since: float
    over: float = math.inf


def terms(written):
    found = []
    # Who takes the lease has seen its last write: they arrive in order, whenever they are answered.
    for write in sorted((write for write in written if write.lease and write.done), key=lambda write: write.arrived):
        if not found or found[-1].by != write.by:
            if found:
                found[-1].over = write.answered
            found.append(Term(write.by, write.arrived))
    return found


def without_lease(written):
    """Nothing that a replica wrote arrived, nor was done, when another had the lease, or before it had it itself."""
    had = terms(written)
    for write in written:
        if write.lease:
            continue
        term = next((term for term in reversed(had) if term.by == write.by and term.since <= write.arrived), None)
        if term is None:
            yield f"{write.by} had never had the lease: {write.what}"
        elif write.arrived > term.over:
            yield f"another had had the lease for {write.arrived - term.over:.3f} s when {write.by} wrote: {write.what}"
        elif write.done and write.answered > term.over + ANSWER_SECONDS:
            yield f"another had had the lease for {write.answered - term.over:.3f} s when {write.by} was answered: {write.what}"
