// SPDX-License-Identifier: Apache-2.0
// The scheduler's JSON door: one answer, or a stream of Server-Sent Events. It works in a page and in a worker.
//
// A stream is read with fetch(), because the browser's own EventSource sends no token.

export class ApiError extends Error {
  // `status` is that of HTTP; 0: no answer came.
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export class Api {
  // `base` ends with "/apis/tutti/v1/". If more stands before that, a proxy does, which keeps the header Authorization
  // for itself.
  constructor(base) {
    this.base = base;
    this.header = new URL(base).pathname === "/apis/tutti/v1/" ? "Authorization" : "X-Tutti-Authorization";
    this.token = "";
  }

  // `question`: what is posted; undefined: nothing is.
  async open(path, parameters, signal, question) {
    const url = new URL(path, this.base);
    for (const [name, value] of Object.entries(parameters ?? {})) {
      if (value !== undefined && value !== "") url.searchParams.set(name, value);
    }
    const headers = this.token ? {[this.header]: `Bearer ${this.token}`} : {};
    const posted = question === undefined ? {} : {method: "POST", body: JSON.stringify(question)};
    if (posted.body) headers["Content-Type"] = "application/json";
    let answer;
    try {
      answer = await fetch(url, {...posted, headers, signal, cache: "no-store", credentials: "same-origin", redirect: "error"});
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new ApiError(0, "the scheduler does not answer");
    }
    if (!answer.ok) throw new ApiError(answer.status, sentence(answer.status, await answer.text().catch(() => "")));
    return answer;
  }

  async get(path, parameters, signal) {
    return (await this.open(path, parameters, signal)).json();
  }

  // Asks a question that is too long for an address. It changes nothing.
  async ask(path, question) {
    return (await this.open(path, {}, undefined, question)).json();
  }

  // Calls opened() once there is a stream, alive() for whatever comes, and hear({event, data, id}) for each event, until
  // the stream ends. Throws an ApiError if there is none.
  async watch(path, parameters, signal, {opened, alive, hear}) {
    const answer = await this.open(path, parameters, signal);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    const split = new EventSplitter(hear);
    opened();
    for (;;) {
      let part;
      try {
        part = await reader.read();
      } catch (error) {
        if (signal?.aborted) throw error;
        throw new ApiError(0, "the connection was lost");
      }
      if (part.done) return;
      alive();
      split.take(part.value);
    }
  }
}

// Returns what a refusal says: the answer's own sentence if it has one.
function sentence(status, text) {
  let said = text.trim();
  try {
    said = JSON.parse(text).message ?? said;
  } catch {
    // It is plain text.
  }
  return said.length > 0 && said.length < 500 ? said : `the scheduler answers ${status}`;
}

// Cuts the text of a stream into events, by the rules of Server-Sent Events.
class EventSplitter {
  constructor(hear) {
    this.hear = hear;
    this.rest = "";
    this.begin();
  }

  begin() {
    this.event = {event: "message", id: "", data: []};
  }

  take(text) {
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop();
    for (const line of lines) this.line(line.endsWith("\r") ? line.slice(0, -1) : line);
  }

  line(line) {
    if (line === "") {
      const {event, id, data} = this.event;
      if (data.length > 0) this.hear({event, id, data: data.join("\n")});
      this.begin();
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return;  // a comment, which keeps the connection open
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    if (field === "data") this.event.data.push(value);
    else if (field === "event" || field === "id") this.event[field] = value;
  }
}
