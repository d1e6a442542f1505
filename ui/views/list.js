// SPDX-License-Identifier: Apache-2.0
// A list of gangs with filters: what the views Waiting and Gangs have in common.

import {element, fill, setText} from "../dom.js";
import {count} from "../format.js";
import {kinds, search, select} from "../parts.js";
import {Table} from "../table.js";

// `view` is {title, columns, sort, group, groups, empty, summary(result)}. `group` is fixed, or `groups` are chosen from.
export function openList(root, {client, filter: given, keep}, view) {
  const filter = {...given};
  const heading = element("span.quiet", {role: "status"});
  const title = element("div.title", {}, element("h1", {}, view.title), heading);

  const set = (name) => (value) => {
    filter[name] = value;
    keep(filter);
    table.toTop();
    table.askForSight(true);
  };
  const find = search("Find a name", filter.find ?? "", set("find"));
  const ns = select("Namespace", filter.ns, [], set("ns"));
  const queue = select("Queue", filter.queue, [], set("queue"));
  const group = view.groups && select("State", filter.group ?? "", view.groups, set("group"));
  const kind = view.group === "waiting" && select("Waits for", filter.kind, [], set("kind"));
  const tools = element("div.tools", {role: "search"}, find, ns.root, queue.root, group && group.root, kind && kind.root);

  const table = new Table({
    columns: view.columns,
    label: view.title,
    sort: filter.sort ?? view.sort,
    empty: "…",
    ask: ({from, count: rows, sort}) => {
      if (sort !== (filter.sort ?? view.sort)) {
        filter.sort = sort === view.sort ? "" : sort;
        keep(filter);
      }
      subscription.ask({kind: "gangs", ...filter, ...asked(), sort, from, count: rows});
    },
  });
  // "kind" names the query, so the filter has another name there.
  const asked = () => ({kind: "gangs", group: view.group ?? filter.group, reason: filter.kind});

  const subscription = client.subscribe(null, (result) => {
    table.set(result);
    setText(heading, result.listed ? view.summary(result) : "");
    setText(table.nothing, !result.listed ? "…" : isFiltered(filter) ? "Nothing matches the filter." : view.empty);
    if (kind) {
      const found = Object.entries(result.kinds).sort((a, b) => b[1] - a[1]);
      kind.set([["", "anything"], ...found.map(([one, number]) => [one, `${kinds[one] ?? one} (${count(number)})`])], filter.kind ?? "");
    }
  });
  const status = client.subscribe({kind: "status"}, ({choices}) => {
    ns.set([["", "all"], ...choices.namespaces.map((one) => [one, one])], filter.ns ?? "");
    queue.set([["", "all"], ...choices.queues.map((one) => [one, one])], filter.queue ?? "");
  });

  root.classList.add("fixed");
  fill(root, title, tools, table.root);
  return () => {
    subscription.close();
    status.close();
    table.close();
  };
}

function isFiltered(filter) {
  return ["find", "ns", "queue", "group", "kind"].some((name) => filter[name]);
}
