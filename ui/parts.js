// SPDX-License-Identifier: Apache-2.0
// Small parts that several views show.

import {element, fill} from "./dom.js";
import {age, amount, shortResource} from "./format.js";
import {resourcesOf} from "./resources.js";

const states = {
  "waiting-for-members": ["waits for members", "warn"],
  "waiting-for-queue": ["waits for its queue", "warn"],
  "waiting-for-nodes": ["waits for nodes", "warn"],
  "invalid": ["invalid", "bad"],
  "admitted": ["admitted", "busy"],
  "binding": ["starts", "busy"],
  "whole": ["whole", "good"],
  "terminating": ["ends", ""],
  "finished": ["finished", ""],
};

// What a gang waits for, in a word or two.
export const kinds = {
  "members": "members",
  "part": "part of a unit",
  "no-head": "its head",
  "below-minimum": "its minimum",
  "gives-way": "evictions",
  "queue": "its queue",
  "quota": "quota",
  "checks": "checks",
  "leaves": "quota to give back",
  "nodes": "nodes",
  "min-resources": "minResources",
  "bind-refused": "bind refused",
  "extender-failed": "an extender",
  "volumes": "volumes",
  "victims": "victims",
  "pods": "pods to come",
  "undoing": "undoing",
  "problem": "invalid",
  "": "other",
};

export function badge(text, tone) {
  return element(`span.badge${tone ? `.${tone}` : ""}`, {}, text);
}

export function stateBadge(state) {
  return badge(...(states[state] ?? [state]));
}

// Writes when a gang that waits could start; null: it does not wait.
export function startText(start) {
  if (!start) return null;
  const when = start.at > 0 ? `${new Date(start.at).toLocaleString()}, in ${age(start.at - Date.now())}` : "none";
  return element("p.sentence", {}, element("b", {}, `Estimated start: ${when}. `), start.message);
}

export function gangAddress({ns, name, dialect}) {
  const query = dialect ? `?${new URLSearchParams({dialect})}` : "";
  return `#/gangs/${encodeURIComponent(ns)}/${encodeURIComponent(name)}${query}`;
}

// A link to a gang, with its namespace below.
export function gangLink(gang) {
  return [element("a", {href: gangAddress(gang), title: `${gang.ns}/${gang.name}`}, gang.name),
    element("span.second", {}, gang.ns)];
}

// A bar of `part` of `whole`. `marks` are [{at, title}].
export function bar(part, whole, text, {tone, marks, title} = {}) {
  const share = whole > 0 ? Math.min(100, (100 * part) / whole) : 0;
  const filled = element(tone ? `span.${tone}` : "span");
  filled.style.setProperty("width", `${share}%`);
  const track = element("span.track", {"aria-hidden": "true"}, filled);
  for (const mark of marks ?? []) {
    const line = element("i", {title: mark.title});
    line.style.setProperty("left", `calc(${Math.min(100, (100 * mark.at) / whole)}% - 1px)`);
    track.append(line);
  }
  return element("span.bar", {title}, track, element("span", {}, text));
}

export function fitBar({have, need, unknown, atLeast}) {
  if (need === 0) return "";
  const text = unknown ? `? of ${need}` : `${atLeast ? "≥ " : ""}${have} of ${need}`;
  return bar(have, need, text, {tone: have >= need ? "good" : "warn"});
}

// Says what is short: "short of gpu by 4, cpu by 8".
export function shortText(short, never) {
  const parts = short.filter((one) => one.missing > 0)
    .map((one) => `${shortResource(one.resource)} by ${amount(one.resource, one.missing)}${one.queue ? ` in ${one.queue}` : ""}`);
  const text = parts.length > 0 ? `Short of ${parts.join(", ")}` : "";
  if (!never) return text;
  return `${text}${text ? "; " : ""}the cluster is too small for it`;
}

export function facts(list) {
  return element("dl.facts", {}, list.filter(([, value]) => value !== "" && value !== null && value !== undefined)
    .map(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

// Lists amounts: "8 gpu, 32 cpu, 128Gi memory".
export function amountsText(amounts) {
  return Object.entries(amounts).filter(([, value]) => value !== 0)
    .map(([name, value]) => `${amount(name, value)} ${shortResource(name)}`).join(", ");
}

// A select of a filter. `choices` are [value, text].
export function select(label, value, choices, change) {
  const list = element("select", {onchange: () => change(list.value)});
  const set = (options, chosen) => {
    const text = JSON.stringify([options, chosen]);
    if (list.dataset.shown === text) return;
    list.dataset.shown = text;
    if (chosen && !options.some(([one]) => one === chosen)) options = [...options, [chosen, chosen]];
    list.replaceChildren(...options.map(([one, shown]) => element("option", {value: one, selected: one === chosen}, shown)));
  };
  set(choices, value);
  return {root: element("label", {}, label, list), set};
}

// Offers the resources of the nodes in a select, and returns the one wanted if they have it, else the first.
export function offerResources(field, nodes, wanted) {
  const names = resourcesOf(nodes.map((node) => node.allocatable)).filter((name) => name !== "pods");
  const chosen = names.includes(wanted) ? wanted : names[0] ?? "cpu";
  field.set(names.map((name) => [name, name]), chosen);
  return chosen;
}

const mostColors = 12;

// Says what colours mean: those of queues, by name, and `others`, which are [color, text].
export function fillLegend(legend, queues, others) {
  const named = [...queues].slice(0, mostColors).map(([queue, color]) => [color, queue || "no queue"]);
  fill(legend, [...named, ...others].map(([color, text]) => {
    const box = element("i");
    box.style.setProperty("background", color);
    return element("span", {}, box, text);
  }), queues.size > mostColors && `and ${queues.size - mostColors} more queues`);
}

// Says why there is no answer about `what`.
export function refusal(error, what) {
  return error.status === 403 ? `You may not see the ${what}.` : error.message;
}

export function search(label, value, change) {
  let due;
  const field = element("input", {
    type: "search",
    value,
    placeholder: label,
    "aria-label": label,
    oninput: () => {
      clearTimeout(due);
      due = setTimeout(() => change(field.value.trim()), 150);
    },
  });
  return field;
}
