// SPDX-License-Identifier: Apache-2.0
// The page of one queue: its cells by flavor, and the gangs that wait first.

import {element, fill} from "../dom.js";
import {count} from "../format.js";
import {cellBar, childrenOf, queueAddress} from "../queue_tree.js";
import {facts, gangAddress, refusal} from "../parts.js";

export function open(root, {client, parts: [name], filter}) {
  const content = element("div.parts", {}, element("p.quiet", {}, "…"));
  fill(root, element("div.title", {}, element("h1", {}, name), element("span.quiet", {}, filter.ns ? `local queue in ${filter.ns}` : "queue")), content);
  const fits = (queue) => queue.name === name && (!filter.kind || queue.kind === filter.kind) && (!filter.ns || queue.ns === filter.ns) &&
    (!filter.dialect || queue.dialect === filter.dialect);
  const subscription = client.subscribe({kind: "queues"}, ({queues, error}) => {
    if (!queues) {
      if (error) fill(content, element("p.paper.all", {}, refusal(error, "queues of the whole cluster")));
      return;
    }
    const queue = queues.find(fits);
    if (!queue) {
      fill(content, element("p.paper.all", {}, "There is no such queue."));
      return;
    }
    const rows = childrenOf(queues);
    const at = rows.find((row) => row.queue === queue);
    const parent = rows.find((row) => row.id === at.parent)?.queue;
    const below = rows.filter((row) => row.parent === at.id).map((row) => row.queue);
    fill(content, summary(queue, parent, below), cells(queue), line(queue));
  });
  return () => subscription.close();
}

const link = (queue) => element("a", {href: queueAddress(queue)}, queue.name);

function summary(queue, parent, below) {
  const {gangs} = queue;
  const counts = [["run", gangs.running], ["start", gangs.starting], ["wait", gangs.pending], ["are incomplete", gangs.incomplete],
    ["are admitted", gangs.admitted], ["have quota", gangs.reserving], ["finished", gangs.finished]]
    .filter(([, number]) => number > 0).map(([what, number]) => `${count(number)} ${what}`).join(", ");
  return element("section.paper", {}, element("h2", {}, "Queue"), queue.problem && element("p.sentence", {}, element("span.badge.bad", {}, queue.problem)), facts([
    ["Kind", [queue.dialect, queue.kind.replace("-", " ")].filter(Boolean).join(", ")],
    ["State", queue.state],
    ["Below", parent ? link(parent) : queue.parent],
    ["Has below it", below.length > 0 ? below.slice(0, 50).map((one, i) => [i > 0 && ", ", link(one)]) : ""],
    ["Weight", queue.weight || ""],
    ["Has of its due", queue.share > 0 ? `${Math.round(100 * queue.share)} %` : ""],
    ["Gangs", counts || "none"],
  ]), element("p.sentence", {}, element("a", {href: `#/gangs?${new URLSearchParams({queue: queue.name})}`}, "Show its gangs")));
}

function cells(queue) {
  if (queue.cells.length === 0) return null;
  const flavors = queue.cells.some((cell) => cell.flavor);
  return element("section.paper", {}, element("h2", {}, "Resources"), element("div.wide-table", {}, element("table.plain", {},
    element("thead", {}, element("tr", {}, flavors && element("th", {scope: "col"}, "Flavor"), element("th", {scope: "col"}, "Resource"), element("th", {scope: "col"}, "Use"))),
    element("tbody", {}, queue.cells.map((cell) => element("tr", {},
      flavors && element("td", {}, cell.flavor), element("th", {scope: "row"}, cell.resource), element("td.use", {}, cellBar(cell))))))));
}

function line(queue) {
  if (queue.line.length === 0) return null;
  const section = element("section.paper.all", {}, element("h2", {}, "First in line"), element("div.wide-table", {}, element("table.plain", {},
    element("thead", {}, element("tr", {}, ["#", "Gang", "Priority", "Why"].map((title) => element({"#": "th.position", Priority: "th.number"}[title] ?? "th", {scope: "col"}, title)))),
    element("tbody", {}, queue.line.map((one) => element("tr", {},
      element("td.position", {}, one.position),
      element("th", {scope: "row"}, element("a", {href: gangAddress(one)}, `${one.ns}/${one.name}`)),
      element("td.number", {}, one.priority),
      element("td", {}, one.reason)))))));
  return section;
}
