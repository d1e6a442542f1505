// SPDX-License-Identifier: Apache-2.0
// The line: which gangs wait, in which place, for what, and what is short.

import {element} from "../dom.js";
import {age, count} from "../format.js";
import {fitBar, gangLink, kinds, shortText} from "../parts.js";
import {openList} from "./list.js";

// Leaves out "gang NAMESPACE/NAME", which stands beside it.
function withoutName(message, ns, name) {
  const start = `gang ${ns}/${name} `;
  const rest = message.startsWith(start) ? message.slice(start.length) : message;
  return rest.charAt(0).toUpperCase() + rest.slice(1);
}

export const columns = {
  position: {id: "position", title: "#", sorts: true, show: ({position, line}) =>
    position > 0 ? element("span", {title: `Number ${position} of ${line} in its queue`}, position) : ""},
  gang: {id: "gang", title: "Gang", name: true, sorts: true, show: (gang) => [gangLink(gang),
    element("span.second.narrow", {}, shortText(gang.short, gang.never) || kinds[gang.kind])]},
  queue: {id: "queue.wide", title: "Queue", sorts: true, show: ({queue}) => element("span", {title: queue}, queue)},
  priority: {id: "priority.number.wide", title: "Priority", sorts: true, show: ({priority}) => priority},
  fits: {id: "fits", title: "Fit", sorts: true, show: ({fit}) => fitBar(fit)},
  message: {id: "message.wide", title: "Why", show: ({ns, name, message, short, never}) => {
    const lacks = shortText(short, never);
    return [element("span", {title: message}, withoutName(message, ns, name)), lacks && element("span.second", {title: lacks}, lacks)];
  }},
  since: {id: "since", title: "Since", sorts: true, show: ({since}) =>
    since > 0 ? element("time", {datetime: new Date(since).toISOString(), title: new Date(since).toLocaleString()}, age(Date.now() - since)) : ""},
};

// When the gang could start. It is asked for one gang at a time, for each answer is a search.
function startColumn(client) {
  return {id: "start.wide", title: "Could start", show: (gang) => {
    const text = !gang.start ? "when?" : gang.start.at > 0 ? `in ${age(Math.max(0, gang.start.at - Date.now()))}` : "not known";
    const label = gang.start ? `${text}: ask again when ${gang.name} could start` : `Ask when ${gang.name} could start`;
    return element("button.link", {type: "button", title: gang.start?.message ?? "", "aria-label": label, onclick: () => client.estimate(gang)}, text);
  }};
}

export function open(root, context) {
  return openList(root, context, {
    title: "Waiting",
    group: "waiting",
    sort: "position",
    columns: [columns.position, columns.gang, columns.queue, columns.priority, columns.fits, columns.message,
      startColumn(context.client), columns.since],
    empty: "No gang waits.",
    summary: ({total, oldest}) =>
      total === 0 ? "" : `${count(total)} ${total === 1 ? "gang waits" : "gangs wait"}, the oldest for ${age(Date.now() - oldest)}`,
  });
}
