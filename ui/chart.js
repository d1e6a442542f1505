// SPDX-License-Identifier: Apache-2.0
// Pictures over time on a canvas: stacked areas, one line, and bars by node. All share their axis of time.

import {fit} from "./floor.js";
import {clock} from "./format.js";

const axisHeight = 18;
export const rowHeight = 26;

// The axis: pixels of times.
export class Axis {
  constructor(from, until, left, width) {
    Object.assign(this, {from, until, left, width});
  }

  x(time) {
    const share = (time - this.from) / Math.max(1, this.until - this.from);
    return this.left + this.width * Math.min(1, Math.max(0, share));
  }

  // Returns times at which the axis has a mark, a round number of seconds apart.
  marks() {
    const most = Math.max(2, Math.floor(this.width / 90));
    const step = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400].map((one) => one * 1000)
      .find((one) => (this.until - this.from) / one <= most) ?? 28_800_000;
    const times = [];
    for (let at = Math.ceil(this.from / step) * step; at <= this.until; at += step) times.push(at);
    return times;
  }
}

function drawAxis(context, axis, y, colors) {
  context.fillStyle = colors.quiet;
  context.textAlign = "center";
  for (const at of axis.marks()) {
    const x = axis.x(at);
    if (x - axis.left < 25 || axis.left + axis.width - x < 25) continue;
    context.fillText(clock(at), x, y + axisHeight / 2);
  }
  context.textAlign = "left";
}

function drawGrid(context, axis, top, height, colors) {
  context.strokeStyle = colors.line;
  context.lineWidth = 1;
  for (const at of axis.marks()) {
    const x = Math.round(axis.x(at)) + 0.5;
    context.beginPath();
    context.moveTo(x, top);
    context.lineTo(x, top + height);
    context.stroke();
  }
}

// Draws areas on top of each other, as steps: each value holds until the next sample. `layers` are
// [{color, value(sample)}], `line(sample)` is a line above them. `show(n)` writes a value.
export function drawAreas(context, axis, {top, height, samples, layers, line, show, colors}) {
  const most = Math.max(1, ...samples.map((sample) => Math.max(line ? line(sample) : 0, layers.reduce((sum, layer) => sum + layer.value(sample), 0))));
  const bottom = top + height - axisHeight;
  const y = (value) => bottom - ((bottom - top - 8) * value) / most;
  drawGrid(context, axis, top, bottom - top, colors);
  const below = samples.map(() => 0);
  const end = (i) => axis.x(i + 1 < samples.length ? samples[i + 1].at : axis.until);
  for (const layer of layers) {
    context.fillStyle = layer.color;
    samples.forEach((sample, i) => {
      const value = layer.value(sample);
      if (value <= 0) return;
      const x = axis.x(sample.at);
      context.fillRect(x, y(below[i] + value), Math.max(0.5, end(i) - x + 0.3), y(below[i]) - y(below[i] + value));
      below[i] += value;
    });
  }
  if (line) {
    context.strokeStyle = colors.ink;
    context.lineWidth = 1.5;
    context.beginPath();
    samples.forEach((sample, i) => {
      context.lineTo(axis.x(sample.at), y(line(sample)));
      context.lineTo(end(i), y(line(sample)));
    });
    context.stroke();
  }
  context.strokeStyle = colors.line;
  context.beginPath();
  context.moveTo(axis.left, bottom + 0.5);
  context.lineTo(axis.left + axis.width, bottom + 0.5);
  context.stroke();
  context.fillStyle = colors.quiet;
  context.textAlign = "right";
  context.fillText(show(most), axis.left - 6, y(most) + 4);
  context.fillText("0", axis.left - 6, bottom - 2);
  context.textAlign = "left";
  drawAxis(context, axis, bottom, colors);
}

// Gives the bars of one node their place across its row: each gets {from, size} of 1. `whole` is what the node has.
export function lanesOf(bars, resource, whole) {
  const placed = [];
  for (const bar of [...bars].sort((a, b) => a.from - b.from || (a.key < b.key ? -1 : 1))) {
    const size = Math.min(1, bar.amounts[resource] / whole);
    const beside = placed.filter((one) => one.bar.until > bar.from).sort((a, b) => a.at - b.at);
    let at = 0;
    for (const one of beside) {
      if (one.at - at >= size - 1e-9) break;
      at = Math.max(at, one.at + one.size);
    }
    placed.push({bar, at: Math.min(at, 1 - size), size});
  }
  return placed;
}

// Draws the rows in sight. `rows` are [{node, lanes()}]. Returns what is where: [{x, y, width, height, bar}].
export function drawBars(context, axis, {top, height, scroll, rows, colorOf, colors, chosen, labels}) {
  const spots = [];
  const first = Math.max(0, Math.floor(scroll / rowHeight));
  context.save();
  context.beginPath();
  context.rect(0, top, axis.left + axis.width, height);
  context.clip();
  drawGrid(context, axis, top, height, colors);
  for (let i = first; i < rows.length && i * rowHeight - scroll < height; ++i) {
    const y = top + i * rowHeight - scroll;
    context.fillStyle = colors.ink;
    context.fillText(fit(context, rows[i].node, labels), 8, y + rowHeight / 2);
    for (const {bar, at, size} of rows[i].lanes()) {
      const from = axis.x(bar.from), until = axis.x(bar.runs ? axis.until : bar.until);
      const spot = {x: from, y: y + 2 + at * (rowHeight - 4), width: Math.max(1.5, until - from), height: Math.max(1.5, size * (rowHeight - 4) - 1), bar};
      context.globalAlpha = chosen && chosen !== bar.key ? 0.2 : 1;
      context.fillStyle = colorOf(bar);
      context.fillRect(spot.x, spot.y, spot.width, spot.height);
      if (spot.width > 50 && spot.height > 11) {
        context.fillStyle = "#ffffff";
        context.fillText(fit(context, bar.name, spot.width - 10), spot.x + 5, spot.y + spot.height / 2 + 0.5);
      }
      spots.push(spot);
    }
    context.globalAlpha = 1;
    context.strokeStyle = colors.line;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(0, y + rowHeight - 0.5);
    context.lineTo(axis.left + axis.width, y + rowHeight - 0.5);
    context.stroke();
  }
  context.restore();
  return spots;
}
