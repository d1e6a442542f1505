// SPDX-License-Identifier: Apache-2.0
// The nodes as a list.

import {element} from "./dom.js";
import {amount, compareNames} from "./format.js";
import {domainOf} from "./floor.js";
import {bar} from "./parts.js";
import {Table} from "./table.js";

const orders = (resource, levels) => ({
  node: (a, b) => compareNames(a.name, b.name),
  domain: (a, b) => compareNames(domainOf(a, levels), domainOf(b, levels)),
  free: (a, b) => (a.free[resource] ?? 0) - (b.free[resource] ?? 0),
  held: (a, b) => a.holders.length - b.holders.length,
});

// `get` returns {nodes, levels, resource, room}; `choose(name)` opens one.
export function nodeTable(get, choose) {
  const stateOf = (node) => [!node.ready && "not ready", node.unschedulable && "closed"].filter(Boolean);
  const table = new Table({
    label: "Nodes",
    empty: "There is no node.",
    sort: "node",
    columns: [
      {id: "node", title: "Node", name: true, sorts: true, show: (node) => element("button.link", {type: "button", title: node.name, onclick: () => choose(node.name)}, node.name)},
      {id: "domain.wide", title: "Domain", sorts: true, show: (node) => domainOf(node, get().levels)},
      {id: "free", title: "Taken", sorts: true, show: (node) => {
        const {resource} = get();
        const all = node.allocatable[resource] ?? 0, free = Math.max(0, node.free[resource] ?? 0);
        return bar(all - free, all, `${amount(resource, all - free)} of ${amount(resource, all)}`, {tone: all > 0 && free <= 0 ? "warn" : undefined});
      }},
      {id: "held.number.wide", title: "Gangs", sorts: true, show: (node) => node.holders.length},
      {id: "nodestate.wide", title: "State", show: (node) => {
        const {room} = get();
        const state = stateOf(node);
        const lacks = room?.ready() ? room.lacks(node) : null;
        if (lacks) return lacks.length === 0 ? element("span.badge.good", {}, "has room") : lacks.join("; ");
        return state.length > 0 ? element("span.badge.warn", {}, state.join(", ")) : "ready";
      }},
    ],
    ask: ({from, count, sort}) => {
      const {nodes, resource, levels} = get();
      const [down, by] = sort.startsWith("-") ? [-1, sort.slice(1)] : [1, sort];
      const order = orders(resource, levels)[by];
      const rows = [...nodes].sort((a, b) => down * order(a, b) || compareNames(a.name, b.name));
      table.setPart(rows, from, count);
    },
  });
  table.showResource = (resource) => {
    if (table.resource !== resource) table.shown.fill(null);
    table.resource = resource;
    table.askForSight(true);
  };
  return table;
}
