// SPDX-License-Identifier: Apache-2.0
// The queues as trees: what each may have of each resource, has, and is asked for.

import {element, fill, setText} from "../dom.js";
import {count} from "../format.js";
import {cellBar, childrenOf, queueAddress, sumOfFlavors} from "../queue_tree.js";
import {refusal, search} from "../parts.js";
import {resourcesOf} from "../resources.js";
import {Table} from "../table.js";

const mostColumns = 3;  // of resources

export function open(root, {client, filter: given, keep}) {
  const filter = {...given};
  const closed = new Set();
  let all = [], table = null, shown = "";
  const heading = element("span.quiet", {role: "status"});
  const find = search("Find a queue", filter.find ?? "", (value) => {
    filter.find = value;
    keep(filter);
    table?.askForSight(true);
  });
  let place = element("div.scroller");
  fill(root, element("div.title", {}, element("h1", {}, "Queues"), heading), element("div.tools", {}, find), place);
  root.classList.add("fixed");

  const turn = (id) => {
    if (!closed.delete(id)) closed.add(id);
    table.askForSight(true);
  };
  const rowsOf = () => {
    const wanted = (filter.find ?? "").toLowerCase();
    if (wanted) return all.filter((one) => one.queue.name.toLowerCase().includes(wanted)).map((one) => ({...one, depth: 0, children: 0}));
    const hidden = new Set();
    return all.filter((one) => {
      if (one.parent !== null && (hidden.has(one.parent) || closed.has(one.parent))) {
        hidden.add(one.id);
        return false;
      }
      return true;
    }).map((one) => ({...one, open: !closed.has(one.id)}));
  };

  const subscription = client.subscribe({kind: "queues"}, ({queues, error}) => {
    if (!queues) {
      if (table === null) fill(place, element("p.nothing", {}, error ? refusal(error, "queues of the whole cluster") : "…"));
      return;
    }
    all = childrenOf(queues);
    const resources = resourcesOf(queues.flatMap((queue) => queue.cells.map((cell) =>
      ({[cell.resource]: 1 + (cell.limit ?? 0) + (cell.nominal ?? 0) + cell.used + cell.pending})))).slice(0, mostColumns);
    setText(heading, `${count(queues.length)} ${queues.length === 1 ? "queue" : "queues"}`);
    if (table === null || resources.join() !== shown) {
      shown = resources.join();
      table?.close();
      table = makeTable(resources, rowsOf, turn);
      place.replaceWith(table.root);
      place = table.root;
    }
    table.askForSight(true);
  });
  return () => {
    subscription.close();
    table?.close();
  };
}

function makeTable(resources, rowsOf, turn) {
  const table = new Table({
    label: "Queues",
    empty: "There is no queue.",
    columns: [
      {id: "tree", title: "Queue", name: true, show: (row) => nameOf(row, turn)},
      {id: "gangs.number.wide", title: "Run", show: ({queue}) => count(queue.gangs.running + queue.gangs.starting)},
      {id: "gangs.number", title: "Wait", show: ({queue}) => waitText(queue)},
      ...resources.map((resource, i) => ({
        id: i === 0 ? "cell" : "cell.wide",
        title: resource,
        show: ({queue}) => cellBar(sumOfFlavors(queue, resource)),
      })),
    ],
    ask: ({from, count: number}) => table.setPart(rowsOf(), from, number),
  });
  table.root.classList.add("tall");
  return table;
}

function waitText({gangs}) {
  const waiting = gangs.pending + gangs.incomplete;
  return waiting > 0 ? element("strong", {}, count(waiting)) : "0";
}

function nameOf({queue, id, depth, children, open}, turn) {
  const indent = element("span.indent");
  indent.style.setProperty("width", `${depth * 1.1}rem`);
  const button = children > 0
    ? element("button.turn", {type: "button", "aria-expanded": String(open), "aria-label": `${open ? "Close" : "Open"} ${queue.name}`, onclick: () => turn(id)}, open ? "▾" : "▸")
    : element("span.turn");
  const notes = [queue.kind === "queue" ? "" : queue.kind.replace("-", " "), queue.ns, queue.state === "open" ? "" : queue.state].filter(Boolean).join(", ");
  return element("span.branch", {}, indent, button, element("span.leaf", {},
    element("a", {href: queueAddress(queue), title: queue.name}, queue.name),
    queue.problem ? element("span.second.bad", {title: queue.problem}, queue.problem) : element("span.second", {}, notes)));
}
