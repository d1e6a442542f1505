// SPDX-License-Identifier: Apache-2.0
// Which resources of a cluster are shown first: accelerators, then cpu and memory.

const last = ["cpu", "memory", "ephemeral-storage", "pods"];

function rank(resource) {
  const at = last.indexOf(resource);
  return at < 0 ? (resource.startsWith("hugepages-") || resource.startsWith("attachable-volumes-") ? 9 : resource.includes("/") ? 0 : 1) : at + 2;
}

// Sorts names of resources, the most interesting first; `sizes` decides between several accelerators.
export function ordered(names, sizes = {}) {
  return [...names].sort((a, b) => rank(a) - rank(b) || (sizes[b] ?? 0) - (sizes[a] ?? 0) || (a < b ? -1 : 1));
}

// Lists the resources that some of the amounts have.
export function resourcesOf(list) {
  const sizes = {};
  for (const amounts of list) for (const [name, value] of Object.entries(amounts)) sizes[name] = (sizes[name] ?? 0) + value;
  return ordered(Object.keys(sizes).filter((name) => sizes[name] > 0), sizes);
}
