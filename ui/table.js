// SPDX-License-Identifier: Apache-2.0
// A table of any length: only the rows in sight are in the document.
//
// Its owner is asked for a window of rows (`ask`) and gives it with set(). Rows have one height, which style.css sets.
// A screen reader is told the whole number of rows and the number of each.

import {element, fill, onceAFrame} from "./dom.js";

const beyond = 8;  // rows above and below those in sight

// A column: {id, title, show(row), sorts, name}. The id may have more classes: "queue.wide". `show` returns what
// element() takes. `name`: it names the row, and its link is where the keyboard stands.
export class Table {
  constructor({columns, label, ask, empty, sort}) {
    this.columns = columns.map((column) => ({...column, classes: column.id, id: column.id.split(".")[0]}));
    this.ask = ask;
    this.sort = sort;
    this.from = 0;
    this.total = 0;
    this.shown = [];  // the JSON of each row in the document
    this.wanted = "";
    this.focus = -1;  // the row whose link has the keyboard; -1: none
    this.above = element("td");
    this.below = element("td");
    this.body = element("tbody");
    this.head = element("tr", {"aria-rowindex": 1});
    this.table = element("table.list", {"aria-label": label},
      element("thead", {}, this.head),
      element("tbody.space", {"aria-hidden": "true"}, element("tr", {}, this.above)),
      this.body,
      element("tbody.space", {"aria-hidden": "true"}, element("tr", {}, this.below)));
    this.nothing = element("p.nothing", {hidden: true}, empty);
    this.root = element("div.scroller", {tabindex: 0, role: "region", "aria-label": label}, this.table, this.nothing);
    this.showHead();
    this.root.addEventListener("scroll", onceAFrame(() => this.askForSight()), {passive: true});
    this.root.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("focusin", (event) => {
      this.focus = this.from + [...this.body.children].indexOf(event.target.closest("tr"));
    });
    this.root.addEventListener("focusout", ({relatedTarget: next}) => {
      if (next && next !== this.root && !this.body.contains(next)) this.focus = -1;
    });
    this.size = new ResizeObserver(() => this.askForSight());
    this.size.observe(this.root);
  }

  close() {
    this.size.disconnect();
  }

  rowHeight() {
    return parseFloat(getComputedStyle(this.root).getPropertyValue("--row")) || 36;
  }

  showHead() {
    fill(this.head, this.columns.map((column) => {
      if (!column.sorts) return element(`th.${column.classes}`, {scope: "col"}, column.title);
      const sorted = this.sort === column.id ? "ascending" : this.sort === `-${column.id}` ? "descending" : "none";
      const turn = () => {
        this.sort = sorted === "ascending" ? `-${column.id}` : column.id;
        this.showHead();
        this.askForSight(true);
      };
      const mark = {ascending: "▲", descending: "▼", none: ""}[sorted];
      return element(`th.${column.classes}`, {scope: "col", "aria-sort": sorted},
        element("button", {type: "button", onclick: turn}, column.title, element("span.mark", {"aria-hidden": "true"}, mark)));
    }));
  }

  // Asks for the rows in sight, if they are others than before, or `always`.
  askForSight(always = false) {
    const height = this.rowHeight();
    const first = Math.max(0, Math.floor(this.root.scrollTop / height) - beyond);
    const count = Math.ceil(this.root.clientHeight / height) + 2 * beyond;
    const wanted = `${first} ${count} ${this.sort}`;
    if (wanted === this.wanted && !always) return;
    this.wanted = wanted;
    this.ask({from: first, count, sort: this.sort});
  }

  // Goes back to the first row: the list is another one.
  toTop() {
    this.root.scrollTop = 0;
  }

  set({total, from, rows}) {
    const height = this.rowHeight();
    this.total = total;
    this.from = from;
    this.table.setAttribute("aria-rowcount", total + 1);
    this.above.style.setProperty("height", `${from * height}px`);
    this.below.style.setProperty("height", `${Math.max(0, total - from - rows.length) * height}px`);
    this.table.hidden = total === 0;
    this.nothing.hidden = total !== 0;
    while (this.body.children.length > rows.length) this.body.lastChild.remove();
    rows.forEach((row, i) => this.setRow(i, row));
    this.shown.length = rows.length;
    if (this.focus >= 0) this.focusRow(this.focus);
  }

  // Shows a part of all rows.
  setPart(rows, from, count) {
    const first = Math.max(0, Math.min(from, rows.length - 1));
    this.set({total: rows.length, from: first, rows: rows.slice(first, first + count)});
  }

  setRow(i, row) {
    const text = JSON.stringify(row);
    const number = this.from + i + 2;
    let line = this.body.children[i];
    if (!line) {
      line = element("tr");
      this.body.append(line);
      this.shown[i] = null;
    }
    if (line.getAttribute("aria-rowindex") !== String(number)) line.setAttribute("aria-rowindex", number);
    if (this.shown[i] === text) return;
    this.shown[i] = text;
    fill(line, this.columns.map((column) =>
      element(`${column.name ? "th" : "td"}.${column.classes}`, column.name ? {scope: "row"} : {}, column.show(row))));
  }

  // A row that is not in the document yet gets the keyboard when it comes. Until then the list itself has it, so that no
  // key is lost.
  focusRow(number) {
    const target = this.body.children[number - this.from]?.querySelector("a,button") ?? this.root;
    if (document.activeElement !== target) target.focus({preventScroll: true});
  }

  key(event) {
    const step = {ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity}[event.key];
    if (step === undefined || this.focus < 0) return;
    event.preventDefault();
    this.focus = Math.min(this.total - 1, Math.max(0, this.focus + step));
    const height = this.rowHeight(), top = this.focus * height, room = this.root.clientHeight - 2 * height;
    if (top < this.root.scrollTop) this.root.scrollTop = top;
    else if (top > this.root.scrollTop + room) this.root.scrollTop = top - room;
    this.askForSight();
    this.focusRow(this.focus);
  }
}
