// SPDX-License-Identifier: Apache-2.0
// The worker: holds all that is known of the cluster, so that the page's own thread only draws what is in sight.
//
// The page asks {do: "ask", id, query}; the worker posts {id, result} at once, and again when the result has changed.
// The kinds of query:
//   status   {connection, version, counts, choices}
//   gangs    {group, ns, queue, reason, find, sort, from, count} → {total, from, rows, kinds, oldest}
//   gang     {ns, name, dialect} → {gang, history, error}
//   queues   {} → {queues, error}
//   nodes    {} → {nodes, levels, error}
//   time     {from} → {bars, samples, openedAt, error}
// A question {do: "what-if", id, question} has one answer: {answer} or {error}. After {do: "estimate", key, ns, name, dialect} the
// gang's row has `start`.

import {Api} from "./api.js";
import {Connection} from "./connection.js";
import {Gangs} from "./gangs.js";
import {readHistory, readNode, readOutlook, readQueue, readWholeGang} from "./model.js";
import {Poll} from "./poll.js";
import {Record} from "./record.js";

// The views are told of changes at most so often, and at most a fifth of the time goes into it.
const pace = 250, restFor = 4;
const queuesPace = 3000, nodesPace = 5000, recordPace = 60_000, gangPace = 1500;

const gangs = new Gangs();
const asked = new Map();  // subscriptions: id → {query, posted}
let api = null, connection = null, record = null, queues = null, nodes = null, visible = true;
let due = null, cost = 0;
let sorted = {key: "", version: -1, list: null};

const answers = {
  status: () => ({
    connection: connection.state,
    version: connection.version,
    counts: gangs.count(),
    choices: gangs.choices(),
  }),
  gangs: ({from, count, ...filter}) => {
    const key = JSON.stringify(filter);
    if (sorted.key !== key || sorted.version !== gangs.version) sorted = {key, version: gangs.version, list: gangs.list(filter)};
    const {rows, kinds, oldest} = sorted.list;
    const first = Math.max(0, Math.min(from, rows.length - 1));
    return {total: rows.length, from: first, rows: gangs.cut(rows, first, count), kinds, oldest, listed: connection.state.listed};
  },
  gang: (_, one) => one.poll?.result,
  queues: () => queues.result,
  nodes: () => nodes.result,
  time: ({from}) => ({
    bars: record.bars(from, Infinity),
    samples: record.samples.filter((sample) => sample.at >= from),
    openedAt: record.openedAt,
    error: nodes.result?.error,
  }),
};

// What a result depends on: it is made again only if that has changed.
const versions = {
  status: () => NaN,
  gangs: () => gangs.version,
  gang: (one) => one.poll?.version,
  queues: () => queues.version,
  nodes: () => nodes.version,
  time: () => record.version,
};

function answer(id, one, always) {
  const version = versions[one.query.kind](one);
  if (!always && version === one.version) return;
  one.version = version;
  const result = answers[one.query.kind](one.query, one);
  if (result === undefined) return;
  // Small results that are as before are not posted again.
  const text = one.query.kind === "nodes" || one.query.kind === "time" ? null : JSON.stringify(result);
  if (!always && text !== null && text === one.posted) return;
  one.posted = text;
  postMessage({id, result});
}

function changed() {
  if (due !== null) return;
  due = setTimeout(() => {
    due = null;
    const began = performance.now();
    for (const [id, one] of asked) answer(id, one, false);
    cost = performance.now() - began;
  }, Math.max(pace, restFor * cost));
}

const gangPath = ({ns, name}) => `gangs/${encodeURIComponent(ns)}/${encodeURIComponent(name)}`;

async function wholeGang(named) {
  return readWholeGang(await api.get(gangPath(named), {dialect: named.dialect, estimate: true}));
}

function gangPoll(named) {
  return new Poll(async () => {
    const [gang, history] = await Promise.all([
      wholeGang(named),
      api.get(`${gangPath(named)}/history`, {dialect: named.dialect}).catch(() => null),
    ]);
    return {gang, history: history && readHistory(history)};
  }, changed);
}

function ask(id, query) {
  const before = asked.get(id);
  const one = {query, posted: null, version: undefined, poll: before?.poll};
  asked.set(id, one);
  if (query.kind === "gang" && before === undefined) one.poll = gangPoll(query);
  answer(id, one, true);
  turn();
}

async function whatIf(id, question) {
  try {
    postMessage({id, result: {answer: readOutlook(await api.ask("whatif", question))}});
  } catch (error) {
    postMessage({id, result: {error: {status: error.status ?? 0, message: error.message}}});
  }
}

async function estimate({key, ...named}) {
  let start;
  try {
    ({start} = await wholeGang(named));
  } catch (error) {
    start = {at: 0, message: error.message};
  }
  if (start) gangs.setStart(key, start);
  changed();
}

function isAsked(kind) {
  return [...asked.values()].some((one) => one.query.kind === kind);
}

// Asks again for what is not streamed, where it is in sight and may have changed.
function turn() {
  if (connection === null || !visible || connection.state.phase !== "live") return;
  const sequence = connection.sequence;
  if (isAsked("queues")) queues.ask(sequence, queuesPace);
  nodes.ask(sequence, isAsked("nodes") || isAsked("time") ? nodesPace : recordPace);
  for (const one of asked.values()) one.poll?.ask(sequence, gangPace);
}

function start(base) {
  api = new Api(base);
  connection = new Connection(api, gangs, changed);
  record = new Record(Date.now());
  queues = new Poll(async () => ({queues: ((await api.get("queues")).queues ?? []).map(readQueue)}), changed);
  nodes = new Poll(async () => {
    const list = await api.get("nodes");
    const levels = list.levels ?? [];
    const read = (list.nodes ?? []).map((node) => readNode(node, levels));
    record.take(read, Date.now(), gangs.count().waiting, (key) => {
      const gang = gangs.byKey.get(key);
      return gang?.group === "whole" ? gang.since : 0;
    });
    return {nodes: read, levels};
  }, changed);
  setInterval(turn, 500);
  connection.run();
}

onmessage = ({data}) => {
  if (data.do === "start") start(data.base);
  else if (data.do === "sign-in") connection.signIn(data.token);
  else if (data.do === "ask") ask(data.id, data.query);
  else if (data.do === "what-if") whatIf(data.id, data.question);
  else if (data.do === "estimate") estimate(data);
  else if (data.do === "close") asked.delete(data.id);
  else if (data.do === "visible") visible = data.visible;
};
