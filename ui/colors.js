// SPDX-License-Identifier: Apache-2.0
// Colours of canvas pictures: those of the sheet, and one for each queue.

// White text can be read on each of them.
const palette = ["#33669c", "#c8414f", "#1f7a30", "#8a6d00", "#1b7f9f", "#96306a", "#b3571f", "#6464c4", "#2a8577", "#8f5a38"];
export const otherColor = "#8a8f99";

// Gives each name a colour, by its place in the sorted list.
export function colorsOf(names) {
  const colors = new Map();
  [...new Set(names)].sort().forEach((name, i) => colors.set(name, name === "" ? otherColor : palette[i % palette.length]));
  return colors;
}

// Returns the sheet's colours as they are now, light or dark.
export function sheet() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    ground: get("ground"), paper: get("paper"), ink: get("ink"), quiet: get("quiet"), line: get("line"), shade: get("shade"),
    accent: get("accent"), good: get("good"), warn: get("warn"), bad: get("bad"), empty: get("empty"), full: get("full"),
  };
}

// Calls draw() when the user turns from light to dark or back. Returns a function that ends that.
export function onTheme(draw) {
  const media = matchMedia("(prefers-color-scheme: dark)");
  media.addEventListener("change", draw);
  return () => media.removeEventListener("change", draw);
}

// Makes a canvas `width` by `height` sharp on this screen, and returns its context, cleared.
export function prepare(canvas, width, height) {
  const scale = devicePixelRatio || 1;
  const w = Math.max(1, Math.round(width * scale)), h = Math.max(1, Math.round(height * scale));
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.setProperty("width", `${width}px`);
    canvas.style.setProperty("height", `${height}px`);
  }
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  context.textBaseline = "middle";
  return context;
}
