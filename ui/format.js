// SPDX-License-Identifier: Apache-2.0
// Writes amounts and times for people. Amounts are in the resource's own unit, as in the API: thousandths of a cpu, bytes, units.

const bytes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

export function isBytes(resource) {
  return resource === "memory" || resource === "ephemeral-storage" || resource.startsWith("hugepages-");
}

function short(value) {
  if (value >= 100) return String(Math.round(value));
  return String(Math.round(value * 10) / 10);
}

export function amount(resource, value) {
  if (resource === "cpu") return short(value / 1000);
  if (!isBytes(resource)) return String(value);
  let unit = 0;
  while (Math.abs(value) >= 1024 && unit < bytes.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return short(value) + bytes[unit];
}

const factors = {n: 1e-9, u: 1e-6, m: 1e-3, "": 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50};

// Reads a quantity such as "64", "500m" or "8Gi": the amount in the resource's own unit; null: it is none.
export function parseAmount(resource, text) {
  const found = /^(\d+(?:\.\d*)?|\.\d+)(?:[eE](\d{1,2})|([numkMGTP]|[KMGTP]i)?)$/.exec(text);
  if (!found) return null;
  const units = Number(found[1]) * (found[2] ? 10 ** Number(found[2]) : factors[found[3] ?? ""]);
  const value = Math.ceil(resource === "cpu" ? units * 1000 : units);
  return value <= Number.MAX_SAFE_INTEGER ? value : null;
}

// Writes "gpu" for "nvidia.com/gpu": the domain is in the title.
export function shortResource(resource) {
  return resource.slice(resource.lastIndexOf("/") + 1);
}

// Writes how long ago something was: "12 s", "5 min", "3 h", "8 d".
export function age(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 100) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 100) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} d`;
}

export function count(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

export function clock(milliseconds) {
  return new Date(milliseconds).toLocaleTimeString([], {hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false});
}

// Compares names as people sort them: node-2 comes before node-10.
export const compareNames = new Intl.Collator("en", {numeric: true}).compare;
