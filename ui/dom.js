// SPDX-License-Identifier: Apache-2.0
// Makes elements. Text becomes text nodes, never markup: names in a cluster are written by anybody.

// Makes an element: element("a.quiet", {href: "#/gangs"}, "Gangs"). A child may be a node, a text, a list, or null.
export function element(tag, properties, ...children) {
  const [name, ...classes] = tag.split(".");
  const made = document.createElement(name);
  if (classes.length > 0) made.className = classes.join(" ");
  for (const [key, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...nodes(children));
  return made;
}

function nodes(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : document.createTextNode(String(child))));
}

// Puts `children` in place of what `parent` holds.
export function fill(parent, ...children) {
  parent.replaceChildren(...nodes(children));
}

// Calls `draw` at most once a frame, however often the returned function is called.
export function onceAFrame(draw) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      draw();
    });
  };
}

// Sets the text only if it differs, so that a screen reader is told of changes alone.
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
