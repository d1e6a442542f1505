// SPDX-License-Identifier: Apache-2.0
// All gangs that the user may see, and the windows of their lists.
//
// A list is filtered and sorted once, and then cut as often as its view scrolls, until a gang changes.

import {keyOf, readGang} from "./model.js";

const text = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
const byName = (a, b) => text(a.ns, b.ns) || text(a.name, b.name) || text(a.dialect, b.dialect);
// The order in which a queue lets gangs start.
const inLine = (a, b) => b.priority - a.priority || a.created - b.created || byName(a, b);

const orders = {
  position: inLine,
  gang: byName,
  queue: (a, b) => text(a.queue, b.queue) || inLine(a, b),
  priority: (a, b) => a.priority - b.priority || byName(a, b),
  since: (a, b) => b.since - a.since || byName(a, b),
  state: (a, b) => text(a.state, b.state) || byName(a, b),
  fits: (a, b) => (a.fit.need - a.fit.have) - (b.fit.need - b.fit.have) || inLine(a, b),
  members: (a, b) => a.members - b.members || byName(a, b),
};

const standsInLine = (gang) => gang.state === "waiting-for-queue" || gang.state === "waiting-for-nodes";

const mostChoices = 500;

export class Gangs {
  constructor() {
    this.byKey = new Map();
    this.starts = new Map();  // estimates that were asked for, by key
    this.version = 0;
    this.seesLines = false;
    this.lines = null;
  }

  // Takes a whole list.
  setAll(gangs) {
    this.byKey = new Map(gangs.map((gang) => [keyOf(gang), readGang(gang)]));
    this.changed();
    this.seesLines = this.linesAreWhole();
  }

  // Takes one that is new or has changed. Its place is in lists alone.
  set(gang) {
    const read = readGang(gang);
    const before = this.byKey.get(read.key);
    if (read.position === 0 && before && standsInLine(read)) ({position: read.position, line: read.line} = before);
    this.byKey.set(read.key, read);
    if (read.group !== "waiting") this.starts.delete(read.key);
    this.changed();
  }

  remove(name) {
    this.starts.delete(keyOf(name));
    if (this.byKey.delete(keyOf(name))) this.changed();
  }

  // Takes the answer to when the gang could start.
  setStart(key, start) {
    if (!this.byKey.has(key)) return;
    this.starts.set(key, start);
    this.version += 1;
  }

  changed() {
    this.version += 1;
    this.lines = null;
  }

  // Returns the waiting gangs of each queue, in their order.
  linesByQueue() {
    if (this.lines) return this.lines;
    this.lines = new Map();
    for (const gang of this.byKey.values()) {
      if (!standsInLine(gang)) continue;
      if (!this.lines.has(gang.lineOf)) this.lines.set(gang.lineOf, []);
      this.lines.get(gang.lineOf).push(gang);
    }
    for (const line of this.lines.values()) line.sort(inLine);
    return this.lines;
  }

  // Says whether the user sees every gang of every line. A change of one gang moves others, of which nothing is sent:
  // with whole lines their places are counted here.
  linesAreWhole() {
    for (const line of this.linesByQueue().values()) if (line.some((gang) => gang.line !== line.length)) return false;
    return true;
  }

  count() {
    const counts = {all: this.byKey.size, waiting: 0, starting: 0, whole: 0, ending: 0};
    for (const gang of this.byKey.values()) counts[gang.group] += 1;
    return counts;
  }

  // Returns the namespaces and queues that there are, for filters.
  choices() {
    const namespaces = new Set(), queues = new Set();
    for (const gang of this.byKey.values()) {
      if (namespaces.size < mostChoices) namespaces.add(gang.ns);
      if (queues.size < mostChoices && gang.queue) queues.add(gang.queue);
    }
    return {namespaces: [...namespaces].sort(), queues: [...queues].sort()};
  }

  // Filters and sorts. Returns {rows, kinds, oldest}: `kinds` counts the reasons of all that the other filters let pass.
  list({group, ns, queue, reason, find, sort}) {
    const wanted = (find ?? "").toLowerCase();
    const rows = [], kinds = {};
    let oldest = 0;
    for (const gang of this.byKey.values()) {
      if (group && gang.group !== group) continue;
      if (ns && gang.ns !== ns) continue;
      if (queue && gang.queue !== queue) continue;
      if (wanted && !`${gang.ns}/${gang.name}`.toLowerCase().includes(wanted)) continue;
      kinds[gang.kind] = (kinds[gang.kind] ?? 0) + 1;
      if (reason && gang.kind !== reason) continue;
      if (gang.since && (oldest === 0 || gang.since < oldest)) oldest = gang.since;
      rows.push(gang);
    }
    const [down, by] = sort?.startsWith("-") ? [-1, sort.slice(1)] : [1, sort];
    const order = orders[by] ?? byName;
    rows.sort((a, b) => down * order(a, b));
    return {rows, kinds, oldest};
  }

  // Returns the rows of a window as the views show them, with their places in line.
  cut(rows, from, count) {
    return rows.slice(from, from + count).map((gang) =>
      ({...gang, ...this.placeOf(gang), start: this.starts.get(gang.key) ?? null}));
  }

  placeOf(gang) {
    if (!standsInLine(gang)) return {position: 0, line: 0};
    if (!this.seesLines) return {position: gang.position, line: gang.line};
    const line = this.linesByQueue().get(gang.lineOf);
    let low = 0, high = line.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (inLine(line[middle], gang) < 0) low = middle + 1;
      else high = middle;
    }
    return {position: low + 1, line: line.length};
  }
}
