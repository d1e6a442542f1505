# SPDX-License-Identifier: Apache-2.0
"""What is printed when a walkthrough fails: the cluster as kubectl sees it, and the scheduler's last words."""

OBJECTS = ["rayjobs.ray.io", "rayclusters.ray.io", "workloads.kueue.x-k8s.io", "clusterqueues.kueue.x-k8s.io",
           "provisioningrequests.autoscaling.x-k8s.io", "appwrappers.mcad.ibm.com", "podgroups.scheduling.volcano.sh",
           "queues.scheduling.volcano.sh", "podgroups.scheduling.x-k8s.io", "podgroups.scheduling.k8s.io"]
MOST_LINES = 60
MOST_DESCRIBED = 3


def diagnose(session):
    session.tell("\n---- the cluster at this moment")
    show(session, "get", "nodes")
    show(session, "get", "pods", "-A", "-o", "wide")
    for kind in OBJECTS:
        show(session, "get", kind, "-A", "-o", "yaml", only_if_any=True)
    for name in pending(session)[:MOST_DESCRIBED]:
        show(session, "describe", "pod", "-n", *name)
    show(session, "get", "events", "-A", "--sort-by=.metadata.creationTimestamp")
    session.tell(f"\n---- the scheduler ({'running' if session.scheduler.running() else 'not running'}), "
                 f"the end of {session.scheduler.log}")
    session.tell(session.scheduler.tail())
    session.tell("\n---- all logs: " + " ".join(str(log) for log in session.cluster.logs()))


def pending(session):
    _, out, _ = session.kubectl(["get", "pods", "-A", "--field-selector=status.phase=Pending", "-o",
                                 'jsonpath={range .items[*]}{.metadata.namespace}{" "}{.metadata.name}{"\\n"}{end}'])
    return [line.split() for line in out.splitlines() if line.strip()]


def show(session, *arguments, only_if_any=False):
    code, out, err = session.kubectl(list(arguments))
    if only_if_any and (code != 0 or "\nitems: []" in out or out.startswith("apiVersion: v1\nitems: []")):
        return
    lines = (out + err).rstrip().splitlines()
    session.tell(f"\n$ kubectl {' '.join(arguments)}")
    if len(lines) > MOST_LINES:
        session.tell(f"  ... ({len(lines) - MOST_LINES} lines before)")
    for line in lines[-MOST_LINES:]:
        session.tell(f"  {line}")
