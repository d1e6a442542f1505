// SPDX-License-Identifier: Apache-2.0
// What is told of one node: beside the pointer, to a screen reader, and in full.

import {element} from "./dom.js";
import {amount, shortResource} from "./format.js";
import {domainOf} from "./floor.js";
import {amountsText, bar, facts, gangAddress} from "./parts.js";
import {ordered} from "./resources.js";

const mostHolders = 100;

function stateOf(node) {
  return [!node.ready && "not ready", node.unschedulable && "closed (cordoned)"].filter(Boolean).join(", ");
}

export function nodeText(node, resource, domain) {
  const free = `${amount(resource, node.free[resource] ?? 0)} of ${amount(resource, node.allocatable[resource] ?? 0)} ${shortResource(resource)} free`;
  const held = node.holders.slice(0, 5).map((holder) => `${holder.ns}/${holder.name}`).join(", ");
  return [`${node.name}, ${domain}: ${free}`, stateOf(node), held && `held by ${held}`].filter(Boolean).join("; ");
}

export function tipOf(node, resource, levels, room) {
  const most = node.holders.filter((holder) => holder.amounts[resource] > 0 || holder.pods > 0).slice(0, 6);
  const lacks = room?.ready() ? room.lacks(node) : null;
  return [element("h2", {}, node.name),
    levels.length > 0 && element("p.quiet", {}, domainOf(node, levels)),
    element("p", {}, `${amount(resource, node.free[resource] ?? 0)} of ${amount(resource, node.allocatable[resource] ?? 0)} ${shortResource(resource)} free`),
    stateOf(node) && element("p", {}, stateOf(node)),
    lacks && element("p", {}, lacks.length === 0 ? "It has room for the pod." : `No room: ${lacks.join("; ")}.`),
    most.map((holder) => element("p.quiet", {}, `${holder.ns}/${holder.name}: ${amountsText(holder.amounts) || `${holder.pods} pods`}`)),
    node.holders.length > most.length && element("p.quiet", {}, `and ${node.holders.length - most.length} more`)];
}

export function nodePaper(node, levels, room, close) {
  const lacks = room?.ready() ? room.lacks(node) : null;
  const resources = ordered(Object.keys(node.allocatable).filter((name) => node.allocatable[name] > 0), node.allocatable);
  return element("section.paper", {},
    element("div.tools", {}, element("h2", {}, node.name), element("button.last", {type: "button", onclick: close, "aria-label": "Close"}, "✕")),
    lacks && element("p.sentence", {}, element(`span.badge.${lacks.length === 0 ? "good" : "bad"}`, {},
      lacks.length === 0 ? "has room for the pod" : `no room: ${lacks.join("; ")}`)),
    facts([["Domain", levels.length > 0 ? domainOf(node, levels) : ""], ["State", stateOf(node) || "ready"], ["Taints", node.taints.join(", ")]]),
    element("table.plain", {"aria-label": "Resources"}, element("tbody", {}, resources.map((name) => {
      const all = node.allocatable[name], taken = all - Math.max(0, node.free[name] ?? 0);
      return element("tr", {}, element("th", {scope: "row", title: name}, shortResource(name)),
        element("td.use", {}, bar(taken, all, `${amount(name, taken)} of ${amount(name, all)}`)));
    }))),
    element("h2", {}, `Held by ${node.holders.length} ${node.holders.length === 1 ? "gang" : "gangs"}`),
    element("table.plain", {"aria-label": "Holders"}, element("tbody", {}, node.holders.slice(0, mostHolders).map((holder) => element("tr", {},
      element("th", {scope: "row"}, holder.name ? element("a", {href: gangAddress(holder)}, `${holder.ns}/${holder.name}`) : "of another namespace"),
      element("td", {}, amountsText(holder.amounts)))))),
    Object.values(node.others).some((value) => value > 0) && element("p.quiet", {}, `Pods of others: ${amountsText(node.others)}`));
}
