// SPDX-License-Identifier: Apache-2.0
// The frame: the views' names, which one is open, the connection's state, and the token.
//
// The address after "#" says what is shown, so that it can be kept and sent: #/waiting?queue=a

import {Client} from "./client.js";
import {element, fill, setText} from "./dom.js";
import {count} from "./format.js";
import {SignIn} from "./sign_in.js";
import * as gang from "./views/gang.js";
import * as gangs from "./views/gangs.js";
import * as nodes from "./views/nodes.js";
import * as plan from "./views/plan.js";
import * as queue from "./views/queue.js";
import * as queues from "./views/queues.js";
import * as time from "./views/time.js";
import * as waiting from "./views/waiting.js";

const views = [
  {path: "waiting", title: "Waiting", view: waiting, number: (counts) => counts.waiting},
  {path: "gangs", title: "Gangs", view: gangs, one: gang, number: (counts) => counts.all},
  {path: "queues", title: "Queues", view: queues, one: queue},
  {path: "nodes", title: "Nodes", view: nodes},
  {path: "time", title: "Time", view: time},
  {path: "what-if", title: "What if", view: plan},
];

const main = document.getElementById("view");
const connection = document.getElementById("connection");
const banner = document.getElementById("banner");
const client = new Client();
const signIn = new SignIn((token) => client.signIn(token));
let close = () => {};

// Reads "#/gangs/NS/NAME?find=x": {path, parts, filter}.
function address() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [first, ...parts] = path.split("/").filter(Boolean).map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  return {path: first ?? "", parts, filter: Object.fromEntries(new URLSearchParams(query))};
}

// Keeps the filter in the address, without a new entry in the browser's history.
function keep(filter) {
  const set = Object.entries(filter).filter(([, value]) => value);
  const path = location.hash.replace(/^#\/?/, "").split("?")[0];
  history.replaceState(null, "", `#/${path}${set.length > 0 ? `?${new URLSearchParams(set)}` : ""}`);
}

function show() {
  const {path, parts, filter} = address();
  const entry = views.find((one) => one.path === path);
  if (!entry) {
    location.replace("#/waiting");
    return;
  }
  close();
  fill(main);
  main.className = "";
  const view = parts.length > 0 && entry.one ? entry.one : entry.view;
  close = view.open(main, {client, parts, filter, keep}) ?? (() => {});
  document.title = `${parts.length > 0 ? parts[parts.length - 1] : entry.title} – Tutti`;
  for (const link of document.querySelectorAll("#views a")) {
    if (link.dataset.path === path) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

function showConnection(status) {
  const {phase, message, retryAt, listed} = status.connection;
  const again = retryAt > 0 ? ` Another attempt comes in ${Math.max(1, Math.round((retryAt - Date.now()) / 1000))} s.` : "";
  const words = {
    connecting: ["Connecting", ""],
    live: ["Live", ""],
    lost: ["Connection lost", `${message[0]?.toUpperCase()}${message.slice(1)}.${listed ? " What is shown is old." : ""}${again}`],
    standby: ["Standby", `${message}.${again}`],
    unavailable: ["Not available", `${message}.${again}`],
    "sign-in": ["Not signed in", ""],
    refused: ["No access", `${message}${again}`],
  }[phase];
  setText(connection, words[0]);
  connection.className = `connection ${phase === "live" ? "live" : phase === "connecting" ? "" : "lost"}`;
  connection.title = status.version ? `Tutti ${status.version.version ?? ""}` : "";
  setText(banner, words[1]);
  banner.hidden = words[1] === "";
  signIn.show(phase === "sign-in", message);
  for (const one of views) {
    if (one.number) setText(document.querySelector(`#views a[data-path="${one.path}"] .number`), listed ? count(one.number(status.counts)) : "");
  }
}

fill(document.getElementById("views"), views.map((one) =>
  element("li", {}, element("a", {href: `#/${one.path}`, "data-path": one.path}, one.title, one.number && element("span.number")))));

client.start(new URL("../apis/tutti/v1/", document.baseURI).href);
let status = null;
client.subscribe({kind: "status"}, (result) => {
  status = result;
  showConnection(status);
});
// Counts the seconds until the next attempt.
setInterval(() => {
  if (status?.connection.retryAt > 0) showConnection(status);
}, 1000);

addEventListener("hashchange", () => {
  show();
  main.focus();
});
document.addEventListener("visibilitychange", () => client.setVisible(!document.hidden));
show();
