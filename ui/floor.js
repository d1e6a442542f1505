// SPDX-License-Identifier: Apache-2.0
// The plan of a cluster's floor: a block for each domain, a tile for each node, a cell for each unit of a resource.
//
// Only what is in sight is drawn, so 5,000 nodes cost as much as 500.

import {compareNames, isBytes} from "./format.js";

const gap = 14, heading = 18;
const cellSizes = [15, 12, 9, 7];  // the largest is taken with which all is in sight
const mostCells = 16;

// Returns the domain of a node by `levels`, as a text.
export function domainOf(node, levels) {
  return levels.map((level) => node.labels[level] ?? "–").join(" / ");
}

// Leaves out levels that divide no further, such as the host's name.
export function usefulLevels(nodes, levels) {
  return levels.filter((level) => {
    const domains = new Set(nodes.map((node) => node.labels[level] ?? ""));
    return domains.size > 1 && domains.size < Math.max(2, nodes.length);
  });
}

export class Floor {
  // Lays the nodes out for a picture `width` wide, and if it can be `height` high.
  constructor(nodes, levels, resource, width, height) {
    this.resource = resource;
    for (const size of cellSizes) {
      this.lay(nodes, levels, size, width);
      if (this.height <= height) break;
    }
  }

  lay(nodes, levels, size, width) {
    const {resource} = this;
    this.cell = size;
    this.cellGap = size > 9 ? 2 : 1;
    this.tileGap = Math.round(size * 0.45);
    const most = nodes.reduce((all, node) => Math.max(all, node.allocatable[resource] ?? 0), 0);
    this.cells = resource !== "cpu" && !isBytes(resource) && most <= mostCells ? most : 0;
    this.columns = Math.max(1, Math.ceil(this.cells / 2));
    const step = this.cell + this.cellGap;
    this.tileWidth = this.cells ? 2 + this.columns * step : Math.round(3.5 * size);
    this.tileHeight = this.cells ? 2 + Math.ceil(this.cells / this.columns) * step : Math.round(2.2 * size);
    this.blocks = [];
    this.height = 0;
    this.place(nodes, levels, width);
  }

  place(nodes, levels, width) {
    const domains = new Map();
    for (const node of nodes) {
      const domain = domainOf(node, levels);
      if (domains.has(domain)) domains.get(domain).push(node);
      else domains.set(domain, [node]);
    }
    const step = this.tileWidth + this.tileGap;
    const wide = Math.max(1, Math.floor((width - gap) / step));
    const across = domains.size === 1 ? wide : Math.min(8, wide);
    let x = 0, y = 0, tallest = 0;
    this.order = [];  // tiles: {node, x, y}
    for (const [domain, own] of [...domains].sort((a, b) => compareNames(a[0], b[0]))) {
      own.sort((a, b) => compareNames(a.name, b.name));
      const columns = Math.min(across, own.length);
      const blockWidth = Math.max(columns * step, Math.min(110, width));
      const blockHeight = heading + Math.ceil(own.length / columns) * (this.tileHeight + this.tileGap);
      if (x > 0 && x + blockWidth > width) {
        x = 0;
        y += tallest + gap;
        tallest = 0;
      }
      const tiles = own.map((node, i) => ({
        node, x: x + (i % columns) * step, y: y + heading + Math.floor(i / columns) * (this.tileHeight + this.tileGap),
      }));
      this.order.push(...tiles);
      this.blocks.push({domain, x, y, width: blockWidth, height: blockHeight, tiles});
      x += blockWidth + gap;
      tallest = Math.max(tallest, blockHeight);
    }
    this.height = y + tallest + gap;
  }

  // Returns the tile at a point, or undefined.
  at(x, y) {
    const block = this.blocks.find((one) => x >= one.x && x < one.x + one.width && y >= one.y && y < one.y + one.height);
    return block?.tiles.find((tile) => x >= tile.x && x < tile.x + this.tileWidth + this.tileGap && y >= tile.y && y < tile.y + this.tileHeight + this.tileGap);
  }

  // Returns the number of the tile above (-1) or below (1) another; the same one if there is none.
  beyond(number, direction) {
    const from = this.order[number];
    let best = number, least = Infinity;
    this.order.forEach((tile, i) => {
      const down = (tile.y - from.y) * direction;
      if (down <= 0) return;
      const far = down * 4 + Math.abs(tile.x - from.x);
      if (far < least) [best, least] = [i, far];
    });
    return best;
  }

  // Draws the part from `top` on, `height` high. `look` is {colors, sheet, byQueue, room(node), chosen, names}.
  draw(context, top, height, look) {
    context.save();
    context.translate(0, -top);
    for (const block of this.blocks) {
      if (block.y + block.height < top || block.y > top + height) continue;
      context.fillStyle = look.sheet.quiet;
      context.fillText(fit(context, block.domain, block.width), block.x, block.y + heading / 2 - 1);
      for (const tile of block.tiles) this.drawTile(context, tile, look);
    }
    context.restore();
  }

  drawTile(context, {node, x, y}, look) {
    const room = look.room ? look.room(node) : true;
    context.globalAlpha = room ? 1 : 0.25;
    const parts = this.partsOf(node, look);
    if (this.cells) this.drawCells(context, parts, x, y, look);
    else this.drawHeat(context, parts, x, y, look);
    context.globalAlpha = 1;
    if (!node.ready || node.unschedulable) {
      context.strokeStyle = node.ready ? look.sheet.warn : look.sheet.bad;
      context.lineWidth = 1.5;
      context.strokeRect(x - 0.5, y - 0.5, this.tileWidth, this.tileHeight);
      context.beginPath();
      context.moveTo(x, y + this.tileHeight);
      context.lineTo(x + this.tileWidth, y);
      context.stroke();
    }
    if (look.chosen === node.name) {
      context.strokeStyle = look.sheet.ink;
      context.lineWidth = 2.5;
      context.strokeRect(x - 1.5, y - 1.5, this.tileWidth + 2, this.tileHeight + 2);
    }
  }

  // Lists who has what of a node's resource: [{amount, color}], what is free last.
  partsOf(node, look) {
    const parts = node.holders.filter((holder) => holder.amounts[this.resource] > 0)
      .map((holder) => ({amount: holder.amounts[this.resource], color: look.byQueue ? look.colors.get(holder.queue) : look.sheet.full}));
    if (look.byQueue) parts.sort((a, b) => (a.color < b.color ? -1 : 1));
    const free = Math.max(0, node.free[this.resource] ?? 0);
    const rest = (node.allocatable[this.resource] ?? 0) - free - parts.reduce((sum, part) => sum + part.amount, 0);
    if (rest > 0) parts.push({amount: rest, color: look.sheet.quiet});
    parts.push({amount: free, color: look.byQueue ? look.sheet.line : look.sheet.empty});
    return parts;
  }

  drawCells(context, parts, x, y, look) {
    const colors = parts.flatMap((part) => Array(Math.max(0, Math.round(part.amount))).fill(part.color));
    if (colors.length === 0) {
      context.strokeStyle = look.sheet.line;
      context.lineWidth = 1;
      context.strokeRect(x + 0.5, y + 0.5, this.tileWidth - 2, this.tileHeight - 2);
    }
    colors.slice(0, mostCells).forEach((color, i) => {
      context.fillStyle = color;
      const step = this.cell + this.cellGap;
      context.fillRect(x + (i % this.columns) * step, y + Math.floor(i / this.columns) * step, this.cell, this.cell);
    });
  }

  drawHeat(context, parts, x, y, look) {
    const all = parts.reduce((sum, part) => sum + part.amount, 0);
    context.fillStyle = look.byQueue ? look.sheet.line : look.sheet.empty;
    context.fillRect(x, y, this.tileWidth - 1, this.tileHeight - 1);
    let at = x;
    for (const part of parts) {
      const width = all > 0 ? ((this.tileWidth - 1) * part.amount) / all : 0;
      context.fillStyle = part.color;
      context.fillRect(at, y, width, this.tileHeight - 1);
      at += width;
    }
  }
}

// Shortens a text until it is no wider than `width`.
export function fit(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return `${text.slice(0, low)}…`;
}
