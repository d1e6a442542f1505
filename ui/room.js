// SPDX-License-Identifier: Apache-2.0
// Which nodes have room for one pod of a waiting gang, by what is free there. Taints, affinity and other rules may still
// refuse a node: the gang's own page tells of these.

import {element, fill, setText} from "./dom.js";
import {amountsText, gangAddress, select} from "./parts.js";
import {count} from "./format.js";

export class Room {
  // `filter` is {gang: "ns/name", dialect, role}. Calls leave() when the user has seen enough.
  constructor(filter, leave) {
    const slash = filter.gang.indexOf("/");
    this.gang = {ns: filter.gang.slice(0, slash), name: filter.gang.slice(slash + 1), dialect: filter.dialect ?? ""};
    this.kinds = [];  // of waiting pods: {role, requests, pods}
    this.chosen = 0;
    this.text = element("span", {role: "status"}, "…");
    this.pods = select("Pod", "0", [], (value) => {
      this.chosen = Number(value);
      this.changed();
    });
    this.root = element("div.paper.room", {},
      element("div.tools", {}, element("strong", {}, "Room for one pod of ", element("a", {href: gangAddress(this.gang)}, filter.gang)), this.pods.root,
        element("button", {type: "button", onclick: leave}, "Show all nodes")),
      this.text);
  }

  follow(client, changed) {
    this.changed = changed;
    this.subscription = client.subscribe({kind: "gang", ...this.gang}, ({gang, error}) => {
      if (error && !gang) setText(this.text, error.message);
      if (gang) this.take(gang);
      changed();
    });
  }

  close() {
    this.subscription.close();
  }

  take({memberList}) {
    const kinds = new Map();
    for (const member of memberList) {
      if (member.state !== "waits" && member.state !== "promised") continue;
      const id = JSON.stringify([member.role, member.requests]);
      if (kinds.has(id)) kinds.get(id).pods += 1;
      else kinds.set(id, {role: member.role, requests: member.requests, pods: 1});
    }
    this.kinds = [...kinds.values()];
    if (this.chosen >= this.kinds.length) this.chosen = 0;
    this.pods.set(this.kinds.map((one, i) => [String(i), `${one.pods} × ${one.role ? `${one.role}: ` : ""}${amountsText(one.requests)}`]), String(this.chosen));
    this.pods.root.hidden = this.kinds.length < 2;
  }

  ready() {
    return this.kinds.length > 0;
  }

  // Lists what a node lacks for the pod: texts; none: it has room.
  lacks(node) {
    const one = this.kinds[this.chosen];
    const lacks = [];
    if (!node.ready) lacks.push("it is not ready");
    if (node.unschedulable) lacks.push("it is closed (cordoned)");
    if ("pods" in node.allocatable && (node.free.pods ?? 0) < 1) lacks.push("it has its most pods");
    for (const [resource, asked] of Object.entries(one.requests)) {
      if (resource === "pods") continue;
      const free = Math.max(0, node.free[resource] ?? 0);
      if (asked > free) lacks.push(`short of ${amountsText({[resource]: asked - free})}`);
    }
    return lacks;
  }

  count(nodes) {
    if (!this.ready()) return;
    const one = this.kinds[this.chosen];
    const room = nodes.filter((node) => this.lacks(node).length === 0).length;
    fill(this.text, `${count(room)} of ${count(nodes.length)} nodes have ${amountsText(one.requests)} free. `,
      element("span.quiet", {}, "This is by free resources alone: taints, affinity and other rules may still refuse a node."));
  }
}
