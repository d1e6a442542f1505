// SPDX-License-Identifier: Apache-2.0
// What was seen of the nodes since the page was opened: which gang held how much of a node, from when until when, and the
// use of each queue. It is bounded: the oldest is forgotten.

const mostSamples = 2000;
const mostBars = 200_000;

export class Record {
  constructor(openedAt) {
    this.openedAt = openedAt;
    this.samples = [];  // {at, capacity: {resource: n}, queues: {queue: {resource: n}}, others: {resource: n}, waiting}
    this.ended = [];    // bars: {node, key, ns, name, dialect, queue, pods, amounts, from, until, sure}
    this.open = new Map();  // "node key" → bar, whose `until` is the last time that it was seen
    this.version = 0;
  }

  // Takes the nodes as they were at the time `at`, and how many gangs waited. `startOf(key)` is when that gang began, or 0.
  take(nodes, at, waiting, startOf) {
    const capacity = {}, queues = {}, others = {};
    const seen = new Set();
    for (const node of nodes) {
      add(capacity, node.allocatable);
      add(others, node.others);
      for (const holder of node.holders) {
        add(queues[holder.queue] ??= {}, holder.amounts);
        const id = `${node.name} ${holder.key}`;
        seen.add(id);
        this.see(id, node.name, holder, at, startOf);
      }
    }
    for (const [id, bar] of this.open) {
      if (seen.has(id)) continue;
      this.open.delete(id);
      this.ended.push({...bar, until: at});
    }
    if (this.ended.length > mostBars) this.ended.splice(0, this.ended.length - mostBars);
    this.samples.push({at, capacity, queues, others, waiting});
    if (this.samples.length > mostSamples) this.samples = thin(this.samples);
    this.version += 1;
  }

  see(id, node, holder, at, startOf) {
    const known = this.open.get(id);
    if (known) {
      known.until = at;
      known.amounts = holder.amounts;
      known.pods = holder.pods;
      return;
    }
    const began = this.samples.length === 0 ? startOf(holder.key) : 0;
    const {key, ns, name, dialect, queue, pods, amounts} = holder;
    this.open.set(id, {node, key, ns, name, dialect, queue, pods, amounts, from: began || at, until: at, sure: began > 0 || this.samples.length > 0});
  }

  // Returns the bars that were seen in a span of time.
  bars(from, until) {
    const inSpan = (bar) => bar.until >= from && bar.from <= until;
    return [...this.ended.filter(inSpan), ...[...this.open.values()].filter(inSpan).map((bar) => ({...bar, runs: true}))];
  }
}

function add(sum, amounts) {
  for (const [name, value] of Object.entries(amounts)) sum[name] = (sum[name] ?? 0) + value;
}

// Halves the older part of the samples.
function thin(samples) {
  const old = samples.length / 2;
  return samples.filter((_, i) => i >= old || i % 2 === 0);
}
