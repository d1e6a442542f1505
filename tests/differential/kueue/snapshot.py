# SPDX-License-Identifier: Apache-2.0
"""What users see of a cluster: {("Job", "j", "suspend"): "True", ...}. Times, UIDs and generated names are left out."""

import re

UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
WAITED = re.compile(r"(wait time since \w+ was) \S+?s\b")
WORKLOAD = re.compile(r"\bjob-(\S+?)-[0-9a-f]{5}\b")
# Not users': each system's own.
OWN_EVENTS = {"Scheduled", "FailedScheduling", "SuccessfulCreate", "SuccessfulDelete", "Killing", "Pulled"}
# The Job controller's, which sees a short suspension or does not.
OWN_EVENTS |= {"Suspended", "Resumed"}


def plain(text):
    return WAITED.sub(r"\1 some time", WORKLOAD.sub(r"job-\1", UID.sub("UID", str(text))))


def plain_table(text):
    """A table without generated names and ages, and without the width of its columns."""
    words = [re.sub(r"\b(\S+)-[a-z0-9]{5}\b", r"\1", re.sub(r"^(\d+[dhms])+$", "AGE", word)) for word in text.split()]
    return " ".join(words)


def conditions(item, with_message=True):
    for each in item.get("status", {}).get("conditions") or []:
        words = f"{each['status']} {each.get('reason', '')}"
        yield each["type"], plain(f"{words}: {each.get('message', '')}" if with_message else words)


def sums(entries):
    """Of a queue's status: flavor/resource: total and borrowed."""
    return sorted(f"{flavor['name']}/{each['name']} {each.get('total', 0)} borrowed {each.get('borrowed', 0)}"
                  for flavor in entries or [] for each in flavor.get("resources") or [])


def of_job(item):
    spec, status = item["spec"], item.get("status", {})
    yield "suspend", spec.get("suspend", False)
    yield "parallelism", spec.get("parallelism")
    yield "active", status.get("active", 0)
    yield "succeeded", status.get("succeeded", 0)
    yield "nodeSelector", spec["template"]["spec"].get("nodeSelector", {})
    for name, said in conditions(item, with_message=False):
        if said.startswith("True"):
            yield f"condition {name}", said


def of_workload(item):
    spec, status = item["spec"], item.get("status", {})
    yield "active", spec.get("active", True)
    yield "priority", spec.get("priority")
    yield "priorityClass", (spec.get("priorityClassRef") or {}).get("name", "")
    yield "queue", spec.get("queueName", "")
    yield "podSets", [(each["name"], each["count"], each.get("minCount")) for each in spec["podSets"]]
    admission = status.get("admission") or {}
    yield "clusterQueue", admission.get("clusterQueue", "")
    yield "assigned", [(each["name"], each.get("count"), each.get("flavors"), each.get("resourceUsage"))
                       for each in admission.get("podSetAssignments", [])]
    yield "checks", [(each["name"], each["state"], each.get("message", "")) for each in status.get("admissionChecks") or []]
    for name, said in conditions(item):
        yield f"condition {name}", said


def of_queue(item):
    status = item.get("status", {})
    for field in ("pendingWorkloads", "reservingWorkloads", "admittedWorkloads"):
        yield field, status.get(field, 0)
    for field in ("flavorsReservation", "flavorsUsage"):
        yield field, sums(status.get(field))
    for name, said in conditions(item):
        yield f"condition {name}", said


def of_pods(items):
    """How many of each job run, wait and go: their names are random."""
    for item in items:
        owner = next((each["name"] for each in item["metadata"].get("ownerReferences", [])), item["metadata"]["name"])
        status = "Terminating" if "deletionTimestamp" in item["metadata"] else item.get("status", {}).get("phase", "Pending")
        yield owner, status


OF = {"Job": of_job, "Workload": of_workload, "ClusterQueue": of_queue, "LocalQueue": of_queue}


def snapshot(items):
    seen = {}
    for item in items:
        kind, name = item["kind"], plain(item["metadata"]["name"])
        for field, value in OF[kind](item) if kind in OF else []:
            seen[(kind, name, field)] = str(value)
        if kind == "Event" and item["involvedObject"]["kind"] in OF and item["reason"] not in OWN_EVENTS:
            key = ("Event", f"{item['involvedObject']['kind']} {plain(item['involvedObject']['name'])}",
                   f"{item.get('type')} {item['reason']}: {plain(item.get('message', ''))}")
            seen[key] = "told"
    for owner, status in of_pods([item for item in items if item["kind"] == "Pod"]):
        key = ("Pods", owner, status)
        seen[key] = str(int(seen.get(key, "0")) + 1)
    return seen


def compare(kueue, tutti):
    """One line for each field that differs."""
    lines = []
    for key in sorted(set(kueue) | set(tutti)):
        if kueue.get(key) != tutti.get(key):
            lines.append(f"{' '.join(key)}: Kueue {kueue.get(key, '-')} | Tutti {tutti.get(key, '-')}")
    return lines
