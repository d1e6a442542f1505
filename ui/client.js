// SPDX-License-Identifier: Apache-2.0
// The page's side of the worker that holds the cluster. The page asks for what is in sight, and is told when that changes.

const script = new URL("worker.js", import.meta.url).href;

// The browser takes the address of a worker from this policy alone; see ui/headers.
const policy = globalThis.trustedTypes?.createPolicy("tutti-worker", {createScriptURL: () => script});

export class Client {
  constructor() {
    this.worker = new Worker(policy ? policy.createScriptURL("") : script, {type: "module", name: "cluster"});
    this.heard = new Map();  // by subscription
    this.last = 0;
    this.worker.addEventListener("message", ({data}) => this.heard.get(data.id)?.(data.result));
  }

  start(base) {
    this.worker.postMessage({do: "start", base});
  }

  signIn(token) {
    this.worker.postMessage({do: "sign-in", token});
  }

  setVisible(visible) {
    this.worker.postMessage({do: "visible", visible});
  }

  // Asks what would become of something. Returns {answer} or {error}.
  whatIf(question) {
    const id = ++this.last;
    return new Promise((resolve) => {
      this.heard.set(id, (result) => {
        this.heard.delete(id);
        resolve(result);
      });
      this.worker.postMessage({do: "what-if", id, question});
    });
  }

  // Asks when the gang could start: its row in the lists says so then. It costs the scheduler a search.
  estimate({key, ns, name, dialect}) {
    this.worker.postMessage({do: "estimate", key, ns, name, dialect});
  }

  // Calls hear(result) now and after each change, until close(). `query` is {kind, ...}; ask() puts another in its place.
  subscribe(query, hear) {
    const id = ++this.last;
    this.heard.set(id, hear);
    const post = (asked) => this.worker.postMessage({do: "ask", id, query: asked});
    if (query) post(query);
    return {
      ask: post,
      close: () => {
        this.heard.delete(id);
        this.worker.postMessage({do: "close", id});
      },
    };
  }
}
