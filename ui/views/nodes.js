// SPDX-License-Identifier: Apache-2.0
// The nodes: as a plan of the floor, or as a list. With a gang: which nodes have room for one of its pods.

import {colorsOf, onTheme, prepare, sheet} from "../colors.js";
import {element, fill, onceAFrame, setText} from "../dom.js";
import {count} from "../format.js";
import {domainOf, Floor, usefulLevels} from "../floor.js";
import {nodePaper, nodeText, tipOf} from "../node_parts.js";
import {nodeTable} from "../node_table.js";
import {fillLegend, offerResources, refusal, select} from "../parts.js";
import {Room} from "../room.js";
import {Tip} from "../tip.js";

export function open(root, context) {
  const view = new NodesView(root, context);
  return () => view.close();
}

class NodesView {
  constructor(root, {client, filter, keep}) {
    this.filter = {...filter};
    this.keep = keep;
    this.nodes = null;
    this.levels = [];
    this.floor = null;
    this.table = null;
    this.draw = onceAFrame(() => this.drawNow());
    this.makeTools();
    this.makeCanvas();
    this.detail = element("aside.detail", {"aria-label": "Node", hidden: true});
    this.listPlace = element("div.stack", {hidden: true});
    this.heading = element("span.quiet", {role: "status"});
    this.spoken = element("p.unseen", {"aria-live": "polite"});
    root.classList.add("fixed");
    fill(root, element("div.title", {}, element("h1", {}, "Nodes"), this.heading), this.tools, this.room?.root, this.legend,
      element("div.beside", {}, this.scroller, this.listPlace, this.detail), this.spoken);
    this.tip = new Tip();
    this.endTheme = onTheme(this.draw);
    this.resize = new ResizeObserver(() => this.lay());
    this.resize.observe(this.scroller);
    this.room?.follow(client, () => {
      this.sayRoom();
      this.draw();
    });
    this.subscription = client.subscribe({kind: "nodes"}, (result) => this.take(result));
  }

  close() {
    this.subscription.close();
    this.room?.close();
    this.resize.disconnect();
    this.table?.close();
    this.endTheme();
    this.tip.close();
  }

  makeTools() {
    const set = (name) => (value) => {
      this.filter[name] = value;
      this.keep(this.filter);
      this.lay();
    };
    this.resources = select("Resource", "", [], set("resource"));
    this.colorBy = select("Colour", this.filter.color ?? "", [["", "free or taken"], ["queue", "by queue"]], set("color"));
    this.views = ["map", "list"].map((name) => element("button", {
      type: "button",
      onclick: () => {
        this.filter.as = name === "map" ? "" : name;
        this.keep(this.filter);
        this.lay();
      },
    }, name === "map" ? "Map" : "List"));
    this.tools = element("div.tools", {}, element("span.choice", {role: "group", "aria-label": "Show as"}, this.views), this.resources.root, this.colorBy.root);
    this.legend = element("p.legend", {});
    if (this.filter.gang) this.room = new Room(this.filter, () => {
      const {gang: _, dialect: __, role: ___, ...rest} = this.filter;
      location.hash = `#/nodes?${new URLSearchParams(rest)}`;
    });
  }

  makeCanvas() {
    this.canvas = element("canvas", {
      tabindex: 0,
      role: "application",
      "aria-label": "Map of the nodes. Arrow keys go from node to node, Enter shows one. The list has the same facts.",
    });
    this.picture = element("div.picture", {}, this.canvas);
    this.space = element("div.space");
    this.scroller = element("div.scroller.plan", {}, this.picture, this.space);
    this.scroller.addEventListener("scroll", () => {
      this.tip?.hide();
      this.draw();
    }, {passive: true});
    const tileAt = (event) => {
      const box = this.canvas.getBoundingClientRect();
      return this.floor?.at(event.clientX - box.left - pad, event.clientY - box.top + this.scroller.scrollTop - pad);
    };
    this.canvas.addEventListener("pointermove", (event) => {
      const tile = tileAt(event);
      if (tile) this.tip.show(event, tipOf(tile.node, this.resource, this.levels, this.room));
      else this.tip.hide();
    });
    this.canvas.addEventListener("pointerleave", () => this.tip.hide());
    this.canvas.addEventListener("click", (event) => {
      const tile = tileAt(event);
      this.choose(tile ? tile.node.name : "");
    });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
  }

  take({nodes, levels, error}) {
    if (!nodes) {
      setText(this.heading, "");
      fill(this.listPlace, element("p.nothing", {}, refusal(error, "nodes of the cluster")));
      this.listPlace.hidden = false;
      this.scroller.hidden = true;
      return;
    }
    this.nodes = nodes;
    this.levels = usefulLevels(nodes, levels);
    this.resource = offerResources(this.resources, nodes, this.filter.resource);
    this.lay();
    this.sayRoom();
    const full = nodes.filter((node) => (node.free[this.resource] ?? 0) <= 0 && node.allocatable[this.resource] > 0).length;
    const away = nodes.filter((node) => !node.ready).length, closed = nodes.filter((node) => node.unschedulable).length;
    setText(this.heading, [`${count(nodes.length)} ${nodes.length === 1 ? "node" : "nodes"}`, `${count(full)} without free ${this.resource}`,
      away > 0 && `${count(away)} not ready`, closed > 0 && `${count(closed)} closed`].filter(Boolean).join(", "));
  }

  sayRoom() {
    if (this.nodes) this.room?.count(this.nodes);
  }

  lay() {
    if (!this.nodes) return;
    if (this.filter.resource) this.resource = this.filter.resource;
    const list = this.filter.as === "list";
    this.views.forEach((button, i) => button.setAttribute("aria-pressed", String((i === 1) === list)));
    this.scroller.hidden = list;
    this.listPlace.hidden = !list;
    this.legend.hidden = list;
    this.colorBy.root.hidden = list;
    if (list) {
      if (!this.table) {
        this.table = nodeTable(() => ({nodes: this.nodes, levels: this.levels, resource: this.resource, room: this.room}), (name) => this.choose(name));
        fill(this.listPlace, this.table.root);
      }
      this.table.showResource(this.resource);
    } else if (this.scroller.clientWidth > 0) {
      this.floor = new Floor(this.nodes, this.levels, this.resource, this.scroller.clientWidth - 2 * pad, this.scroller.clientHeight - 2 * pad);
      this.colors = colorsOf(this.nodes.flatMap((node) => node.holders.map((holder) => holder.queue)));
      this.showLegend();
      this.draw();
    }
    this.showDetail();
  }

  showLegend() {
    const colors = sheet();
    const byQueue = this.filter.color === "queue";
    const others = [[colors.quiet, "taken by pods of others"]];
    if (byQueue) fillLegend(this.legend, this.colors, [[colors.line, "free"], ...others]);
    else fillLegend(this.legend, new Map(), [[colors.full, "taken"], [colors.empty, "free"], ...others]);
  }

  drawNow() {
    if (!this.floor || this.scroller.hidden) return;
    const width = this.scroller.clientWidth, height = this.scroller.clientHeight;
    const context = prepare(this.canvas, width, height);
    // The canvas stays in sight while the space below it gives the scroller its length.
    this.space.style.setProperty("height", `${Math.max(0, this.floor.height + 2 * pad - height)}px`);
    context.translate(pad, pad);
    this.floor.draw(context, this.scroller.scrollTop, height, {
      colors: this.colors, sheet: sheet(), byQueue: this.filter.color === "queue", chosen: this.filter.node,
      room: this.room?.ready() ? (node) => this.room.lacks(node).length === 0 : null,
    });
  }

  choose(name) {
    this.filter.node = name;
    this.keep(this.filter);
    this.showDetail();
    this.draw();
  }

  showDetail() {
    const node = this.nodes?.find((one) => one.name === this.filter.node);
    this.detail.hidden = !this.filter.node;
    if (!this.filter.node) return;
    fill(this.detail, node ? nodePaper(node, this.levels, this.room, () => this.choose("")) : element("p.paper", {}, `There is no node ${this.filter.node}.`));
  }

  key(event) {
    if (!this.floor || this.floor.order.length === 0) return;
    const order = this.floor.order;
    const now = order.findIndex((tile) => tile.node.name === this.filter.node);
    const at = Math.max(0, now);
    const next = now < 0 && event.key.startsWith("Arrow") ? 0
      : {ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: this.floor.beyond(at, 1), ArrowUp: this.floor.beyond(at, -1), Home: 0, End: order.length - 1}[event.key];
    if (event.key === "Escape") this.choose("");
    if (next === undefined) return;
    event.preventDefault();
    const tile = order[Math.min(order.length - 1, Math.max(0, next))];
    this.choose(tile.node.name);
    const top = tile.y, room = this.scroller.clientHeight - 4 * pad;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = Math.max(0, top - 20);
    else if (top > this.scroller.scrollTop + room) this.scroller.scrollTop = top - room;
    setText(this.spoken, nodeText(tile.node, this.resource, domainOf(tile.node, this.levels)));
  }
}

const pad = 12;
