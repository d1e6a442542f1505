# SPDX-License-Identifier: Apache-2.0
"""What the scheduler's account may do, by manifests/, and what it did, by the API server's audit log."""

import itertools
import json
import pathlib

import yaml

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
MANIFESTS = REPOSITORY / "manifests"
# In the order in which they can be created: the later refer to the earlier.
RIGHTS = ("Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding",
          "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")


def shipped():
    """The namespace, account, RBAC and admission policy that manifests/ installs, wherever it keeps them."""
    found = {}
    for file in sorted(MANIFESTS.rglob("*.yaml")):
        if {"examples", "crds", "templates"} & set(file.relative_to(MANIFESTS).parts):
            continue
        for document in yaml.safe_load_all(file.read_text()):
            if document and document.get("kind") in RIGHTS:
                metadata = document["metadata"]
                found.setdefault((document["kind"], metadata.get("namespace"), metadata["name"]), document)
    return sorted(found.values(), key=lambda document: RIGHTS.index(document["kind"]))


def account_of(documents):
    """(namespace, name) of the ServiceAccount, or None."""
    for document in documents:
        if document["kind"] == "ServiceAccount":
            return document["metadata"].get("namespace", "default"), document["metadata"]["name"]
    return None


def audit_policy(account):
    """Every request of the account, without bodies, and no other account's."""
    return yaml.safe_dump({
        "apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
        "rules": [{"level": "Metadata", "users": [f"system:serviceaccount:{account[0]}:{account[1]}"]}, {"level": "None"}]})


def read_audit(path):
    """(uses, forbidden): each a set of (verb, group, resource, namespace, name); other URLs than objects' are left out."""
    uses, forbidden = set(), set()
    for line in pathlib.Path(path).read_text().splitlines():
        event = json.loads(line)
        thing = event.get("objectRef")
        denied = event.get("annotations", {}).get("authorization.k8s.io/decision") == "forbid"
        if not thing:
            if denied:
                forbidden.add((event["verb"], "", event["requestURI"], "", ""))
            continue
        resource = thing["resource"] + (f"/{thing['subresource']}" if thing.get("subresource") else "")
        use = (event["verb"], thing.get("apiGroup", ""), resource, thing.get("namespace", ""), thing.get("name", ""))
        (forbidden if denied else uses).add(use)
    return uses, forbidden


def granted(documents):
    """Every (verb, group, resource, namespace, name) that the account is granted, one by one; "" for any."""
    account = account_of(documents)
    rules = {(d["kind"], d["metadata"].get("namespace", ""), d["metadata"]["name"]): d.get("rules", []) for d in documents}
    grants = set()
    for binding in documents:
        if not any(s["kind"] == "ServiceAccount" and (s["namespace"], s["name"]) == account for s in binding.get("subjects", [])):
            continue
        namespace = binding["metadata"].get("namespace", "")
        role = binding["roleRef"]["kind"], namespace if binding["roleRef"]["kind"] == "Role" else "", binding["roleRef"]["name"]
        for rule in rules[role]:
            for group, resource, verb, name in itertools.product(
                    rule["apiGroups"], rule["resources"], rule["verbs"], rule.get("resourceNames", [""])):
                grants.add((verb, group, resource, namespace, name))
    return grants


def unused(grants, uses):
    """The grants that no use needed."""
    def needed(grant):
        return any(all(g in ("", u) for g, u in zip(grant[3:], use[3:])) and grant[:3] == use[:3] for use in uses)

    return sorted(grant for grant in grants if not needed(grant))


def words(right):
    verb, group, resource, namespace, name = right
    place = (f" {name}" if name else "") + (f" in {namespace}" if namespace else "")
    return f"{verb} {resource}{f'.{group}' if group else ''}{place}"
