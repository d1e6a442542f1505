// SPDX-License-Identifier: Apache-2.0
// What views of queues share: the tree as rows, sums over flavors, and the bar of a cell.

import {amount} from "./format.js";
import {element} from "./dom.js";
import {bar} from "./parts.js";

const idOf = (queue) => `${queue.dialect}/${queue.kind}/${queue.ns}/${queue.name}`;

// Which kinds of queues a kind may stand below.
const parents = {"local": ["cluster-queue"], "cluster-queue": ["cohort"], "cohort": ["cohort"], "queue": ["queue"]};

// Lists the queues as rows of trees, parents first: [{id, parent, depth, children, queue}]. A queue whose parent does not
// exist, or is below it, is a root.
export function childrenOf(queues) {
  const ids = new Map(queues.map((queue) => [idOf(queue), queue]));
  const below = new Map(), roots = [];
  for (const queue of queues) {
    const parent = queue.parent && (parents[queue.kind] ?? []).map((kind) => idOf({dialect: queue.dialect, kind, ns: "", name: queue.parent})).find((id) => ids.has(id));
    if (!parent || parent === idOf(queue)) roots.push(queue);
    else if (below.has(parent)) below.get(parent).push(queue);
    else below.set(parent, [queue]);
  }
  const rows = [], seen = new Set();
  const add = (first) => {
    const stack = [[first, null, 0]];
    while (stack.length > 0) {
      const [queue, parent, depth] = stack.pop();
      const id = idOf(queue);
      if (seen.has(id)) continue;
      seen.add(id);
      const children = below.get(id) ?? [];
      rows.push({id, parent, depth, children: children.length, queue});
      for (const child of [...children].reverse()) stack.push([child, id, depth + 1]);
    }
  };
  roots.forEach(add);
  queues.forEach(add);  // those of a circle
  return rows;
}

export function queueAddress(queue) {
  const query = new URLSearchParams({kind: queue.kind, ...(queue.ns && {ns: queue.ns}), ...(queue.dialect && {dialect: queue.dialect})});
  return `#/queues/${encodeURIComponent(queue.name)}?${query}`;
}

// Adds up the cells of a resource over its flavors; null: there is none. A limit counts only if each flavor has one.
export function sumOfFlavors(queue, resource) {
  const cells = queue.cells.filter((cell) => cell.resource === resource);
  if (cells.length === 0) return null;
  const sum = (name) => cells.reduce((total, cell) => (total === null || cell[name] === null ? null : total + cell[name]), 0);
  const some = (name) => cells.every((cell) => cell[name] === null) ? null : cells.reduce((total, cell) => total + (cell[name] ?? 0), 0);
  return {
    resource,
    limit: sum("limit"), nominal: some("nominal"), deserved: some("deserved"), guarantee: some("guarantee"),
    used: sum("used"), pending: sum("pending"), reserved: sum("reserved"), borrowed: sum("borrowed"),
  };
}

// Shows the use of a cell, with lines at what the queue is due.
export function cellBar(cell) {
  if (cell === null) return "";
  const {resource, limit, nominal, deserved, guarantee, used, pending, reserved, borrowed} = cell;
  const show = (value) => amount(resource, value);
  const taken = Math.max(used, reserved);
  const most = limit ?? nominal ?? deserved;
  const scale = Math.max(most ?? 0, nominal ?? 0, deserved ?? 0, taken, 1);
  const marks = [["nominal", nominal], ["deserved", deserved], ["guarantee", guarantee]]
    .filter(([, value]) => value !== null && value > 0 && value < scale).map(([name, at]) => ({at, title: `${name} ${show(at)}`}));
  const notes = [
    nominal !== null && nominal !== most && `nominal ${show(nominal)}`,
    deserved !== null && deserved !== most && `due ${show(deserved)}`,
    guarantee && `guaranteed ${show(guarantee)}`,
    borrowed > 0 && `borrows ${show(borrowed)}`,
    reserved > used && `runs ${show(used)}`,
    pending > 0 && `asked for ${show(pending)}`,
  ].filter(Boolean).join(", ");
  const text = most === null ? `${show(taken)}` : `${show(taken)} of ${show(most)}`;
  if (most === null) return [element("span.bar", {title: notes}, text), element("span.second", {title: notes}, notes)];
  const full = most !== null && taken >= most && most > 0;
  return [bar(taken, scale, text, {marks, tone: full ? "warn" : undefined, title: notes}), element("span.second", {title: notes}, notes)];
}
