// SPDX-License-Identifier: Apache-2.0
// What if: whether manifests would start now, where, and who would leave for them; where the gangs of a node would go if
// it were drained; and which gangs of a queue would start if it had another limit. Nothing comes of the question.

import {element, fill} from "../dom.js";
import {parseAmount} from "../format.js";
import {badge, facts, startText} from "../parts.js";

const verdicts = {
  "fits": ["would start now", "good"],
  "needs-victims": ["would start once others leave", "busy"],
  "waits-for-queue": ["would wait for its queue", "warn"],
  "waits-for-nodes": ["would wait for nodes", "warn"],
  "waits-for-members": ["would wait for members", "warn"],
  "never": ["could never start", "bad"],
  "undecided": ["not known", ""],
};
const mostShown = 200;  // of places, pods and gangs each
// What was asked last, so that it is still there when the view is opened again.
const asked = {manifests: "", ns: "", node: "", queue: "", limits: "", dialect: ""};

export function open(root, {client, filter}) {
  if (filter.node) asked.node = filter.node;
  let number = 0;  // of the last question: an answer to an earlier one is not shown
  const answer = element("div.parts", {role: "status"});
  const refuse = (message) => fill(answer, element("p.paper.all.bad", {}, message));
  const put = async (question, about) => {
    const mine = ++number;
    fill(answer, element("p.quiet", {}, "…"));
    const result = await client.whatIf(question);
    if (mine !== number) return;
    if (result.error) refuse(result.error.message);
    else fill(answer, ...outlook(result.answer, about));
  };

  const text = element("textarea.code", {
    "aria-label": "Manifests", rows: 14, spellcheck: "false", autocomplete: "off", placeholder: "Paste manifests: pods, jobs, RayClusters, …",
    oninput: () => { asked.manifests = text.value; },
  });
  text.value = asked.manifests;
  const ns = field("Namespace, if the manifests name none", "default", asked.ns, (value) => { asked.ns = value; });
  const node = field("Node", "", asked.node, (value) => { asked.node = value; });
  const queue = field("Queue, of Volcano's or of those like it", "", asked.queue, (value) => { asked.queue = value; });
  const limits = field("What it may have at most; other resources keep their limits", "cpu=64 nvidia.com/gpu=8", asked.limits, (value) => { asked.limits = value; });
  const dialect = field("Its dialect, if several have a queue of this name", "volcano", asked.dialect, (value) => { asked.dialect = value; });
  const putLimit = () => {
    const {amounts, wrong} = readLimits(limits.input.value);
    if (!wrong) return put({limit: {queue: queue.input.value, dialect: dialect.input.value, amounts}}, "No gang that you may see waits in that queue.");
    number += 1;
    refuse(`${wrong}: write RESOURCE=QUANTITY, such as cpu=64`);
  };
  fill(root, element("div.title", {}, element("h1", {}, "What if?"), element("span.quiet", {}, "Nothing comes of a question.")),
    element("div.parts", {},
      form("These were applied now", "Ask", () => put({manifests: text.value, namespace: ns.input.value}, "No pod would come of these manifests."),
        text, ns.root),
      form("A node were drained", "Ask", () => put({drain: node.input.value}, "No gang that you may see has pods there."), node.root),
      form("A queue had another limit", "Ask", putLimit, queue.root, limits.root, dialect.root)),
    answer);
  return () => { number = -1; };
}

// Reads "cpu=64 spot:nvidia.com/gpu=8": amounts in the resources' own units, as text; or the first part that is wrong.
function readLimits(text) {
  const amounts = {};
  const parts = text.split(/[\s,]+/).filter(Boolean);
  for (const part of parts) {
    const [, name, resource, quantity] = /^((?:[^=:]+:)?([^=:]+))=(.*)$/.exec(part) ?? [];
    const amount = resource ? parseAmount(resource, quantity) : null;
    if (amount === null) return {wrong: part};
    amounts[name] = String(amount);
  }
  return parts.length > 0 ? {amounts} : {wrong: "No limit"};
}

function field(label, placeholder, value, change) {
  const input = element("input", {type: "text", placeholder, spellcheck: "false", autocomplete: "off", oninput: () => change(input.value)});
  input.value = value;
  return {root: element("label", {}, label, input), input};
}

function form(title, button, ask, ...fields) {
  return element("section.paper", {}, element("form.question", {
    method: "dialog",
    "aria-label": title,
    onsubmit: (event) => {
      event.preventDefault();
      ask();
    },
  }, element("h2", {}, title), ...fields, element("div.tools", {}, element("button.main", {type: "submit"}, button))));
}

function outlook({prospects, notes, others, othersWait}, nothing) {
  const rest = prospects.length - mostShown;
  return [
    prospects.length === 0 && others === 0 && element("p.paper.all", {}, nothing),
    ...prospects.slice(0, mostShown).map(card),
    rest > 0 && element("p.quiet", {}, `${rest} more gangs are not shown.`),
    others > 0 && element("p.paper.all", {}, `Gangs of namespaces that you may not see: ${others}; of these, ${othersWait} would wait.`),
    notes.length > 0 && element("section.paper.all", {}, element("h2", {}, "Notes"), notes.map((note) => element("p.sentence.quiet", {}, note))),
  ];
}

function card(prospect) {
  const section = element("section.paper", {},
    element("h2", {}, `${prospect.ns}/${prospect.name} `, badge(...(verdicts[prospect.verdict] ?? [prospect.verdict])),
      prospect.breaks && badge("its gang breaks", "bad")),
    prospect.message.split("\n").filter(Boolean).map((line) => element("p.sentence", {}, line)),
    startText(prospect.start),
    facts([["Queue", prospect.queue], ["Priority", prospect.priority], ["Members", `${prospect.members}, of which ${prospect.minMember} start together`]]),
    list("Would run on", prospect.places.map(({role, node, pods}) => [role, node ? nodeLink(node) : "nodes", `${pods} ${pods === 1 ? "pod" : "pods"}`])),
    list("Would leave", [
      ...prospect.victims.map(({ns, pod, gang, node, reclaim}) => [`${ns}/${pod}`, node && nodeLink(node),
        `${gang === pod ? "" : `of ${gang}; `}${reclaim ? "its queue has more than its share" : "its priority is lower"}`]),
      ...(prospect.otherVictims > 0 ? [[`${prospect.otherVictims} pods`, "", "in namespaces that you may not see"]] : []),
    ]),
    prospect.notes.map((note) => element("p.sentence.quiet", {}, note)));
  section.classList.add("two");
  return section;
}

function nodeLink(node) {
  return element("a", {href: `#/nodes?${new URLSearchParams({node})}`}, node);
}

function list(title, rows) {
  if (rows.length === 0) return null;
  const rest = rows.length - mostShown;
  return [element("h3", {}, title), element("table.plain", {"aria-label": title}, element("tbody", {},
    rows.slice(0, mostShown).map((cells) => element("tr", {}, cells.map((cell) => element("td", {}, cell)))))),
  rest > 0 && element("p.quiet", {}, `${rest} more are not shown.`)];
}
