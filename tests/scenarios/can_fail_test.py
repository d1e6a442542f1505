#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A scenario whose expectation does not hold must fail, and say why: each expectation here is false.

  can_fail_test.py SCENARIOS
"""

import subprocess
import sys
import tempfile

WORLD = """
name: one pod runs, one waits
nodes: {n1: {cpu: 2}}
objects:
- {apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: g}, spec: {minMember: 1}}
pods:
  runs: {cpu: 1, gang: g}
  waits: {cpu: 4}
steps:
- expect: %s
"""

# An expectation, and what is said because it does not hold.
FALSE = [
    ("{pods: {runs: waits}}", "pod runs is on n1, not waits"),
    ("{pods: {runs: n2}}", "pod runs is on n1, not n2"),
    ("{pods: {waits: bound}}", "pod waits is without a node"),
    ("{pods: {runs: gone}}", "pod runs is there"),
    ("{pods: {other: bound}}", "there is no pod other"),
    ("{pods: {'*': {count: 3}}}", "count of 2 pods *: 2"),
    ("{pods: {'*': {at: {n*: 2}}}}", "at n* are 1 of 2 pods *"),
    ("{pods: {'*': {waits: 2}}}", "waits of 2 pods *: 1"),
    ("{pods: {waits: {message: 'Insufficient memory'}}}", "not \"Insufficient memory\""),
    ("{pods: {waits: {message: '/^Insufficient/'}}}", "not \"/^Insufficient/\""),
    ("{pods: {waits: {says: '1 Insufficient cpu.'}}}", "not just \"1 Insufficient cpu.\""),
    ("{pods: {waits: {lacks: 'Insufficient cpu'}}}", "with \"Insufficient cpu\""),
    ("{pods: {waits: {reason: Other}}}", "not \"Other\""),
    ("{pods: {waits: {node: n1}}}", "pod waits is without a node"),
    ("{pods: {waits: {colour: red}}}", "unknown word \"colour\""),
    ("{gangs: {g: {state: waiting-for-nodes}}}", "state is \"whole\""),
    ("{gangs: {g: {bound: 2}}}", "bound is 1, not 2"),
    ("{gangs: {g: {reason: {kind: nodes}}}}", 'reason.kind is null, not "nodes"'),
    ("{gangs: {waits: {reason: {kind: queue}}}}", 'reason.kind is "nodes", not "queue"'),
    ("{gangs: {waits: {reason: {refused: {Insufficient cpu: 2}}}}}", "reason.refused.Insufficient cpu is 1, not 2"),
    ("{gangs: {waits: {reason: {nodes: null}}}}", "reason.nodes is 1, not null"),
    ("{gangs: {h: {bound: 2}}}", "gang h is not there"),
    ("{gangs: {g: gone}}", "gang g is there"),
    ("{objects: [{kind: podgroup, name: h}]}", "there is no podgroup h"),
    ("{objects: [{kind: podgroups.scheduling.volcano.sh, name: g, has: {status: {phase: Pending}}}]}", "not \"Pending\""),
    ("{objects: [{kind: pod, name: runs, has: {status: {conditions: [{type: Ready, status: Maybe}]}}}]}", "has no"),
    ("{objects: [{kind: pod, name: runs, has: {spec: {nodeName: null}}}]}", "not null"),
    ("{objects: [{kind: nonsense, name: g}]}", "there is no kind \"nonsense\""),
    ("{events: [{about: waits, reason: Scheduled}]}", "no event like"),
    ("{events: [{about: waits, reason: FailedScheduling, count: 0}]}", "1 events like"),
    ("{metrics: {'scheduler_pending_pods{queue=\"unschedulable\"}': 2}}", "is 1, not 2"),
    ("{metrics: {no_such_metric: 2}}", "metric no_such_metric is not there"),
    ("{colour: red}", "unknown word \"colour\""),
    ("{}", "expect says nothing"),
]


# While binds are refused no pod is bound; once that is over, every pod is.
REFUSED = """
name: two binds are refused
nodes: {n1: {cpu: 2}}
steps:
- refuse: %s
- pods: {p: {cpu: 1}}
- wait: 1500ms
- expect: {pods: {p: bound}}
"""
REFUSALS = [
    ("{binds-of: p}", "pod p is without a node"),
    ("{binds-of: p*, to: n1, times: 2}", "pod p is without a node"),
    ("{binds-of: p, times: 1}", None),
    ("{binds-of: q}", None),
    ("{binds-of: p, to: n2}", None),
    ("{}", None),
    ("{pods: p}", 'unknown word "pods" in refuse'),
]


def play(scenarios, text):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        return subprocess.run([scenarios, file.name], capture_output=True, text=True)


def main():
    good = play(sys.argv[1], WORLD % "{pods: {runs: n1, waits: {message: Insufficient cpu}}, gangs: {g: {state: whole}}}")
    assert good.returncode == 0, good.stdout
    for expectation, why in FALSE:
        run = play(sys.argv[1], WORLD % expectation)
        assert run.returncode == 1 and why in run.stdout, f"{expectation}: exit {run.returncode}\n{run.stdout}"
    for refusal, why in REFUSALS:
        run = play(sys.argv[1], REFUSED % refusal)
        held = run.returncode == 0 if why is None else run.returncode == 1 and why in run.stdout
        assert held, f"{refusal}: exit {run.returncode}\n{run.stdout}"
    print(f"{len(FALSE)} false expectations failed, as they must")


if __name__ == "__main__":
    main()
