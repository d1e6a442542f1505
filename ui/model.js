// SPDX-License-Identifier: Apache-2.0
// Reads the messages of tutti.v1 into what the views show. Amounts come as text, because they have 64 bits.

export function amounts(map) {
  const read = {};
  for (const [name, value] of Object.entries(map ?? {})) read[name] = Number(value);
  return read;
}

function time(text) {
  return text ? Date.parse(text) : 0;
}

export function keyOf(gang) {
  return `${gang.dialect ?? ""}/${gang.namespace ?? ""}/${gang.name ?? ""}`;
}

// Reads the name of a gang or queue.
function nameOf(named) {
  return {dialect: named?.dialect ?? "", ns: named?.namespace ?? "", name: named?.name ?? ""};
}

const groups = {
  "waiting-for-members": "waiting",
  "waiting-for-queue": "waiting",
  "waiting-for-nodes": "waiting",
  "invalid": "waiting",
  "admitted": "starting",
  "binding": "starting",
  "whole": "whole",
  "terminating": "ending",
  "finished": "ending",
};

// Says what the members have: {have, need, exact} of those that must start together.
function fitOf(gang) {
  const nodes = gang.why?.nodes;
  if (nodes?.needed) return {have: nodes.fit ?? 0, need: nodes.needed, unknown: nodes.fit === undefined, atLeast: nodes.count === "at-least"};
  const minimum = gang.why?.minimum;
  if (gang.why?.kind === "members" && minimum?.members) return {have: minimum.exist ?? 0, need: minimum.members};
  if (minimum?.members) return {have: minimum.have ?? 0, need: minimum.members};
  return {have: gang.bound ?? 0, need: Math.max(gang.members ?? 0, gang.minMember ?? 1)};
}

// Lists what is short: [{resource, missing, queue}].
function shortOf(why) {
  if (why?.nodes) return (why.nodes.short ?? []).map((one) => ({resource: one.resource, missing: Number(one.missing ?? 0)}));
  if (why?.queue) {
    return (why.queue.cells ?? []).map((one) => ({resource: one.resource, missing: Number(one.short ?? 0), queue: one.queue}));
  }
  if (why?.minResources) {
    const {resource, asked, free} = why.minResources;
    return [{resource, missing: Number(asked ?? 0) - Number(free ?? 0)}];
  }
  return [];
}

// Says whether it could not start even if all nodes were empty.
function never(why) {
  const nodes = why?.nodes;
  return Boolean(nodes && (nodes.never || nodes.needsMoreNodes || (nodes.short ?? []).some((one) => one.needsMoreNodes || one.needsLargerNode)));
}

// Reads a Gang without its members.
export function readGang(gang) {
  return {
    key: keyOf(gang),
    ...nameOf(gang),
    queue: gang.queue ?? "",
    lineOf: gang.quota?.queue || gang.queue || "",  // the queue in whose line it stands
    priority: gang.priority ?? 0,
    state: gang.state ?? "",
    group: groups[gang.state] ?? "waiting",
    kind: gang.why?.kind ?? "",
    reason: gang.reason ?? "",
    message: gang.message ?? "",
    since: time(gang.since),
    created: time(gang.created) || time(gang.since),
    members: gang.members ?? 0,
    bound: gang.bound ?? 0,
    finished: gang.finished ?? 0,
    position: gang.position ?? 0,
    line: gang.line ?? 0,
    fit: fitOf(gang),
    short: shortOf(gang.why),
    never: never(gang.why),
  };
}

function readHolder(holder) {
  const gang = holder.gang ?? {};
  return {
    key: keyOf(gang),
    ...nameOf(gang),
    queue: holder.queue ?? "",
    priority: holder.priority ?? 0,
    pods: holder.pods ?? 0,
    amounts: amounts(holder.amounts),
  };
}

// When a gang that waits could start: `at` is 0 if there is no estimate. null: it does not wait.
function readStart(start) {
  return start ? {at: time(start.at), message: start.message ?? ""} : null;
}

// Reads the answer about one gang.
export function readWholeGang(gang) {
  return {
    ...readGang(gang),
    scheduler: gang.schedulerName ?? "",
    minMember: gang.minMember ?? 0,
    plan: gang.plan ?? "",
    requests: amounts(gang.requests),
    why: gang.why ?? null,
    roles: (gang.roles ?? []).map((role) => ({name: role.name ?? "", members: role.members ?? 0, bound: role.bound ?? 0})),
    quota: gang.quota ?? null,
    memberList: (gang.memberList ?? []).map((member) => ({
      ns: member.namespace ?? "",
      name: member.name ?? "",
      role: member.role ?? "",
      node: member.node ?? "",
      state: member.finished ? "finished" : member.promised ? "promised" : member.bound ? "bound" : member.node ? "reserved" : "waits",
      message: member.message ?? "",
      requests: amounts(member.requests),
    })),
    holders: (gang.holders ?? []).map(readHolder),
    start: readStart(gang.start),
  };
}

export function readHistory(history) {
  return {
    wholeFrom: time(history.wholeFrom),
    events: (history.events ?? []).map((event) => ({
      at: time(event.at),
      step: event.step ?? "",
      message: event.message ?? "",
      reason: event.reason ?? "",
      pod: event.pod ?? "",
      node: event.node ?? "",
      queue: event.queue ?? "",
      members: event.members ?? 0,
      seconds: event.seconds ?? 0,
      by: event.by ? nameOf(event.by) : null,
      times: event.times ?? 1,
      last: time(event.last) || time(event.at),
    })),
  };
}

// Reads a node, of its labels those of `levels` alone.
export function readNode(node, levels) {
  return {
    name: node.name ?? "",
    allocatable: amounts(node.allocatable),
    free: amounts(node.free),
    ready: node.ready ?? false,
    unschedulable: node.unschedulable ?? false,
    taints: (node.taints ?? []).map((taint) => `${taint.key ?? ""}${taint.value ? `=${taint.value}` : ""}:${taint.effect ?? ""}`),
    labels: Object.fromEntries(levels.filter((level) => node.labels?.[level] !== undefined).map((level) => [level, node.labels[level]])),
    holders: (node.holders ?? []).map(readHolder),
    others: amounts(node.others),
  };
}

const optional = (value) => (value === undefined ? null : Number(value));

export function readQueue(queue) {
  return {
    ...nameOf(queue),
    kind: queue.kind ?? "queue",
    parent: queue.parent ?? "",
    state: queue.state ?? "",
    problem: queue.problem ?? "",
    weight: queue.weight ?? 0,
    share: queue.share ?? 0,
    cells: (queue.cells ?? []).map((cell) => ({
      flavor: cell.flavor ?? "",
      resource: cell.resource ?? "",
      limit: optional(cell.limit),
      nominal: optional(cell.nominal),
      deserved: optional(cell.deserved),
      guarantee: optional(cell.guarantee),
      used: Number(cell.used ?? 0),
      pending: Number(cell.pending ?? 0),
      reserved: Number(cell.reserved ?? 0),
      borrowed: Number(cell.borrowed ?? 0),
    })),
    gangs: {pending: 0, starting: 0, incomplete: 0, running: 0, finished: 0, reserving: 0, admitted: 0, ...queue.gangs},
    line: (queue.line ?? []).map((one) => ({
      position: one.position ?? 0,
      priority: one.priority ?? 0,
      reason: one.reason ?? "",
      ...nameOf(one.gang),
    })),
  };
}

// An answer of what-if.
export function readOutlook(answer) {
  return {
    prospects: (answer.prospects ?? []).map((one) => ({
      ...nameOf(one),
      queue: one.queue ?? "",
      priority: one.priority ?? 0,
      minMember: one.minMember ?? 0,
      members: one.members ?? 0,
      verdict: one.verdict ?? "undecided",
      message: one.message ?? "",
      start: readStart(one.start),
      places: (one.places ?? []).map((place) => ({role: place.role ?? "", node: place.node ?? "", pods: place.pods ?? 0})),
      victims: (one.victims ?? []).map((victim) => ({
        ns: victim.namespace ?? "",
        pod: victim.pod ?? "",
        node: victim.node ?? "",
        gang: victim.gang ?? "",
        reclaim: victim.reclaim ?? false,
      })),
      otherVictims: one.otherVictims ?? 0,
      breaks: one.breaks ?? false,
      notes: one.notes ?? [],
    })),
    notes: answer.notes ?? [],
    others: answer.otherGangs ?? 0,
    othersWait: answer.otherGangsWait ?? 0,
  };
}
