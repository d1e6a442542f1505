// SPDX-License-Identifier: Apache-2.0
// What happened since the page was opened: the use of each queue, how many gangs waited, and which gang held which node.
// Bars of gangs that ran before begin where the gang became whole.

import {drawAreas, drawBars, Axis, lanesOf, rowHeight} from "../chart.js";
import {colorsOf, onTheme, otherColor, prepare, sheet} from "../colors.js";
import {element, fill, onceAFrame, setText} from "../dom.js";
import {amount, age, clock, compareNames} from "../format.js";
import {amountsText, fillLegend, gangAddress, offerResources, refusal, select} from "../parts.js";
import {Tip} from "../tip.js";

const minute = 60_000;
const spans = [["5", "5 minutes"], ["15", "15 minutes"], ["60", "1 hour"], ["360", "6 hours"]];
const askAgain = 30_000;

export function open(root, context) {
  const view = new TimeView(root, context);
  return () => view.close();
}

class TimeView {
  constructor(root, {client, filter, keep}) {
    this.filter = {...filter};
    this.keep = keep;
    this.seen = null;
    this.nodes = [];
    this.spots = [];
    this.chosen = "";
    this.draw = onceAFrame(() => this.drawNow());
    this.build(root);
    this.tip = new Tip();
    this.endTheme = onTheme(this.draw);
    this.resize = new ResizeObserver(this.draw);
    this.resize.observe(this.scroller);
    this.nodesSubscription = client.subscribe({kind: "nodes"}, ({nodes, error}) => {
      if (nodes) this.takeNodes(nodes);
      else this.refuse(error);
    });
    this.subscription = client.subscribe(this.query(), (seen) => {
      this.seen = seen;
      this.sort();
      this.draw();
    });
    this.again = setInterval(() => this.subscription.ask(this.query()), askAgain);
    this.tick = setInterval(this.draw, 1000);
  }

  close() {
    this.subscription.close();
    this.nodesSubscription.close();
    clearInterval(this.again);
    clearInterval(this.tick);
    this.resize.disconnect();
    this.endTheme();
    this.tip.close();
  }

  span() {
    return Number(this.filter.span || 5) * minute;
  }

  query() {
    return {kind: "time", from: Date.now() - this.span() - askAgain};
  }

  build(root) {
    this.resources = select("Resource", "", [], (value) => {
      this.filter.resource = value;
      this.keep(this.filter);
      this.chooseResource();
    });
    this.span_ = select("Last", this.filter.span || "5", spans, (value) => {
      this.filter.span = value;
      this.keep(this.filter);
      this.subscription.ask(this.query());
    });
    this.heading = element("span.quiet", {});
    this.legend = element("p.legend", {});
    this.areas = element("canvas", {role: "img"});
    this.line = element("canvas", {role: "img"});
    this.bars = element("canvas", {role: "img"});
    this.space = element("div.space");
    this.scroller = element("div.scroller.plan", {tabindex: 0, role: "region", "aria-label": "Bars of gangs, by node"},
      element("div.picture", {}, this.bars), this.space);
    this.scroller.addEventListener("scroll", this.draw, {passive: true});
    this.bars.addEventListener("pointermove", (event) => this.point(event));
    this.bars.addEventListener("pointerleave", () => this.tip.hide());
    this.bars.addEventListener("click", (event) => {
      this.chosen = this.spotAt(event)?.bar.key ?? "";
      this.showChosen();
      this.draw();
    });
    this.chosenLine = element("p.sentence", {role: "status", hidden: true});
    this.areasTitle = element("h2", {}, "Use by queue");
    this.charts = element("div.charts", {},
      element("section.paper.chart", {}, this.areasTitle, this.areas),
      element("section.paper.chart", {}, element("h2", {}, "Gangs that wait"), this.line));
    root.classList.add("fixed");
    fill(root, element("div.title", {}, element("h1", {}, "Time"), this.heading),
      element("div.tools", {}, this.resources.root, this.span_.root), this.legend, this.charts, this.chosenLine, this.scroller);
  }

  refuse(error) {
    if (!error || this.nodes.length > 0) return;
    setText(this.heading, refusal(error, "nodes of the cluster"));
  }

  takeNodes(nodes) {
    this.nodes = nodes;
    this.chooseResource();
  }

  chooseResource() {
    this.resource = offerResources(this.resources, this.nodes, this.filter.resource);
    this.wholes = new Map(this.nodes.map((node) => [node.name, node.allocatable[this.resource] ?? 0]));
    this.sort();
    this.draw();
  }

  // Puts the bars into rows by node.
  sort() {
    if (!this.seen || !this.resource) return;
    const byNode = new Map();
    for (const bar of this.seen.bars) {
      if (!(bar.amounts[this.resource] > 0)) continue;
      if (byNode.has(bar.node)) byNode.get(bar.node).push(bar);
      else byNode.set(bar.node, [bar]);
    }
    this.rows = [...byNode].sort((a, b) => compareNames(a[0], b[0])).map(([node, bars]) => {
      let lanes = null;
      const whole = this.wholes.get(node) || bars.reduce((most, bar) => Math.max(most, bar.amounts[this.resource]), 1);
      return {node, lanes: () => (lanes ??= lanesOf(bars, this.resource, whole))};
    });
    const queues = this.seen.samples.flatMap((sample) => Object.keys(sample.queues));
    this.colors = colorsOf([...queues, ...this.seen.bars.map((bar) => bar.queue)]);
    fillLegend(this.legend, this.colors, [[sheet().quiet, "pods of others"]]);
    setText(this.heading, `Seen since ${clock(this.seen.openedAt)}, when this page was opened`);
    setText(this.areasTitle, `Use of ${this.resource} by queue`);
  }

  drawNow() {
    if (!this.seen || !this.rows) return;
    const until = Date.now(), from = until - this.span();
    const colors = sheet();
    this.drawCharts(from, until, colors);
    const width = this.scroller.clientWidth, height = this.scroller.clientHeight;
    const labels = width < 600 ? 90 : 150;
    const context = prepare(this.bars, width, height);
    this.space.style.setProperty("height", `${Math.max(0, this.rows.length * rowHeight - height)}px`);
    this.spots = drawBars(context, new Axis(from, until, labels + 10, width - labels - 18), {
      top: 0, height, scroll: this.scroller.scrollTop, rows: this.rows, colors, labels: labels - 6, chosen: this.chosen,
      colorOf: (bar) => this.colors.get(bar.queue) ?? otherColor,
    });
    this.bars.setAttribute("aria-label", `${this.rows.length} nodes with gangs. The pages of the gangs and the list of nodes have the same facts.`);
  }

  drawCharts(from, until, colors) {
    const samples = this.seen.samples.filter((sample) => sample.at >= from - minute);
    const last = samples[samples.length - 1];
    const one = (canvas, parts) => {
      const width = canvas.parentElement.clientWidth - 2 * 16, height = 130;
      parts(prepare(canvas, width, height), new Axis(from, until, 52, width - 56), height);
    };
    const used = (sample, queue) => sample.queues[queue]?.[this.resource] ?? 0;
    one(this.areas, (context, axis, height) => drawAreas(context, axis, {
      top: 0, height, samples, colors, show: (value) => amount(this.resource, value),
      layers: [...[...this.colors].map(([queue, color]) => ({color, value: (sample) => used(sample, queue)})),
        {color: colors.quiet, value: (sample) => sample.others[this.resource] ?? 0}],
      line: (sample) => sample.capacity[this.resource] ?? 0,
    }));
    one(this.line, (context, axis, height) => drawAreas(context, axis, {
      top: 0, height, samples, colors, show: String, layers: [{color: colors.warn, value: (sample) => sample.waiting}],
    }));
    if (!last) return;
    const all = Object.keys(last.queues).reduce((sum, queue) => sum + used(last, queue), 0);
    this.areas.setAttribute("aria-label", `Now ${amount(this.resource, all)} of ${amount(this.resource, last.capacity[this.resource] ?? 0)} ${this.resource} are used by gangs`);
    this.line.setAttribute("aria-label", `Now ${last.waiting} gangs wait`);
  }

  spotAt(event) {
    const box = this.bars.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    return this.spots.find((spot) => x >= spot.x && x <= spot.x + Math.max(4, spot.width) && y >= spot.y && y <= spot.y + Math.max(4, spot.height));
  }

  point(event) {
    const spot = this.spotAt(event);
    if (!spot) return this.tip.hide();
    const {bar} = spot;
    this.tip.show(event, element("h2", {}, `${bar.ns}/${bar.name}`),
      element("p", {}, `${bar.pods} ${bar.pods === 1 ? "pod" : "pods"} on ${bar.node}: ${amountsText(bar.amounts)}`),
      element("p.quiet", {}, `${bar.queue ? `Queue ${bar.queue}, ` : ""}${bar.sure ? "from" : "before"} ${clock(bar.from)}, ${bar.runs ? `for ${age(Date.now() - bar.from)} now` : `until ${clock(bar.until)}`}`));
  }

  showChosen() {
    const bars = this.seen.bars.filter((bar) => bar.key === this.chosen);
    this.chosenLine.hidden = bars.length === 0;
    if (bars.length === 0) return;
    const nodes = new Set(bars.map((bar) => bar.node));
    fill(this.chosenLine, element("a", {href: gangAddress(bars[0])}, `${bars[0].ns}/${bars[0].name}`), ` held ${nodes.size} ${nodes.size === 1 ? "node" : "nodes"}. `,
      element("button", {type: "button", onclick: () => {
        this.chosen = "";
        this.showChosen();
        this.draw();
      }}, "Show all alike"));
  }
}
