// SPDX-License-Identifier: Apache-2.0
// The page of one gang: why it waits, what it lacks and which gangs hold that, its members, and what happened to it.

import {element, fill} from "../dom.js";
import {age, clock} from "../format.js";
import {amountsText, badge, bar, facts, fitBar, gangAddress, shortText, startText, stateBadge} from "../parts.js";

const steps = {
  "waits": "Waits",
  "bound": "Bound",
  "started": "Whole",
  "undone": "Undone",
  "evicted": "Evicted",
  "gone": "Gone",
  "quota-reserved": "Has quota",
  "quota-admitted": "Admitted",
  "quota-evicted": "Loses its quota",
  "quota-released": "Quota given back",
};
const memberStates = {
  bound: ["bound", "good"],
  reserved: ["reserved", "busy"],
  waits: ["waits", "warn"],
  promised: ["no pod yet", ""],
  finished: ["finished", ""],
};
const mostMembers = 500;

export function open(root, {client, parts: [ns, name], filter}) {
  const heading = element("div.title", {}, element("h1", {}, name), element("span.quiet", {}, ns));
  const badge = element("span", {role: "status"});
  heading.append(badge);
  const content = element("div.parts", {}, element("p.quiet", {}, "…"));
  fill(root, heading, content);
  const subscription = client.subscribe({kind: "gang", ns, name: name ?? "", dialect: filter.dialect}, ({gang, history, error}) => {
    if (error) {
      fill(badge, element("span.badge.bad", {}, error.status === 404 ? "gone" : "not read"));
      if (!gang || error.status !== 404) fill(content, element("p.paper.all", {}, error.message));
      return;
    }
    fill(badge, stateBadge(gang.state));
    fill(content, why(gang), summary(gang), holders(gang), roles(gang), members(gang), past(history));
  });
  return () => subscription.close();
}

function paper(title, ...children) {
  return element("section.paper", {}, element("h2", {}, title), ...children);
}

function why(gang) {
  if (gang.message === "" && gang.short.length === 0) return null;
  const lacks = shortText(gang.short, gang.never);
  const refused = Object.entries(gang.why?.nodes?.refused ?? {}).sort((a, b) => b[1] - a[1]);
  const section = paper("Why",
    gang.message.split("\n").map((line) => element("p.sentence", {}, line)),
    lacks && element("p.sentence", {}, element("span.badge.bad", {}, lacks)),
    startText(gang.start),
    gang.fit.need > 0 && gang.group === "waiting" && element("p.sentence", {}, fitBar(gang.fit)),
    refused.length > 0 && element("p.sentence.quiet", {}, "The first pod that finds no node is refused by: ",
      refused.map(([reason, number]) => `${number} × ${reason}`).join("; ")),
    gang.why?.nodes && element("p.sentence", {}, element("a", {
      href: `#/nodes?${new URLSearchParams({gang: `${gang.ns}/${gang.name}`, dialect: gang.dialect})}`,
    }, "Show the nodes that have room for one of its pods")));
  section.classList.add("all");
  return section;
}

function summary(gang) {
  const quota = gang.quota;
  return paper("Gang", facts([
    ["Kind", gang.dialect],
    ["Queue", gang.queue && element("a", {href: `#/queues/${encodeURIComponent(gang.queue)}`}, gang.queue)],
    ["Place in line", gang.position > 0 ? `${gang.position} of ${gang.line}` : ""],
    ["Priority", gang.priority],
    ["Minimum", gang.minMember],
    ["Members", `${gang.bound} of ${gang.members} bound${gang.finished > 0 ? `, ${gang.finished} finished` : ""}`],
    ["Asks for", amountsText(gang.requests)],
    ["Scheduler", gang.scheduler],
    ["Since", gang.since > 0 ? `${new Date(gang.since).toLocaleString()} (${age(Date.now() - gang.since)})` : ""],
    ["Created", gang.created > 0 ? new Date(gang.created).toLocaleString() : ""],
    ["Quota", quota && `${quota.state ?? ""}${quota.queue ? ` in ${quota.queue}` : ""}${quota.message ? `: ${quota.message}` : ""}`],
  ]));
}

function holders({holders: list}) {
  if (list.length === 0) return null;
  const section = paper("These hold what it lacks", element("div.wide-table", {}, element("table.plain", {},
    element("thead", {}, element("tr", {}, ["Gang", "Queue", "Priority", "Holds"].map((title) => element(title === "Priority" ? "th.number" : "th", {scope: "col"}, title)))),
    element("tbody", {}, list.map((one) => element("tr", {},
      element("th", {scope: "row"}, element("a", {href: gangAddress(one)}, `${one.ns}/${one.name}`)),
      element("td", {}, one.queue),
      element("td.number", {}, one.priority),
      element("td", {}, amountsText(one.amounts))))))));
  section.classList.add("two");
  return section;
}

function roles({roles: list}) {
  if (list.length < 2) return null;
  return paper("Roles", element("table.plain", {}, element("tbody", {}, list.map((role) => element("tr", {},
    element("th", {scope: "row"}, role.name || "–"),
    element("td", {}, bar(role.bound, role.members, `${role.bound} of ${role.members} bound`, {tone: role.bound >= role.members ? "good" : "warn"})))))));
}

function members({memberList}) {
  if (memberList.length === 0) return null;
  const rest = memberList.length - mostMembers;
  const section = paper("Members", element("div.wide-table", {}, element("table.plain", {"aria-label": "Members"},
    element("thead", {}, element("tr", {}, ["Pod", "Role", "State", "Node", "Asks for", "Message"].map((title) => element("th", {scope: "col"}, title)))),
    element("tbody", {}, memberList.slice(0, mostMembers).map((member) => element("tr", {},
      element("th", {scope: "row"}, member.name || "–"),
      element("td", {}, member.role),
      element("td", {}, badge(...memberStates[member.state])),
      element("td", {}, member.node && element("a", {href: `#/nodes?${new URLSearchParams({node: member.node})}`}, member.node)),
      element("td", {}, amountsText(member.requests)),
      element("td", {}, member.state === "waits" ? member.message : "")))))),
    rest > 0 && element("p.quiet", {}, `${rest} more members are not shown.`));
  section.classList.add("all");
  return section;
}

function past(history) {
  if (!history || history.events.length === 0) return null;
  const section = paper("History",
    history.wholeFrom > 0 && element("p.quiet", {}, `Everything since ${new Date(history.wholeFrom).toLocaleString()} is known.`),
    element("ol.history", {}, [...history.events].reverse().map((event) => element("li", {},
      element("time", {datetime: new Date(event.last).toISOString(), title: new Date(event.last).toLocaleString()}, clock(event.last)),
      element("div", {}, element("strong", {}, steps[event.step] ?? event.step), " ", what(event))))));
  section.classList.add("all");
  return section;
}

function what(event) {
  const parts = [];
  if (event.pod) parts.push(event.node ? `${event.pod} on ${event.node}` : event.pod);
  if (event.queue) parts.push(`in queue ${event.queue}`);
  if (event.step === "started") parts.push(`${event.members} members, ${Math.round(event.seconds * 10) / 10} s after they all existed`);
  if (event.by) parts.push(`for ${event.by.ns}/${event.by.name}`);
  if (event.message || event.reason) parts.push(event.message || event.reason);
  if (event.times > 1) parts.push(`${event.times} times since ${clock(event.at)}`);
  return parts.join("; ");
}
