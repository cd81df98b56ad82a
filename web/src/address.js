// What a reader did with a table, in the fragment of the address, so that a link shows it to others:
// `#ranks?sort=-p99&find=hyper&only.language=rust&pin=flask&compare=hyper,axum`. A page that is opened from disk may change no other
// part of it. Pure.

import { nothingChosen } from "./filter.js";

/** @import { Table } from "./data.js" */
/** @import { Chosen } from "./filter.js" */
/** @import { Sorting } from "./order.js" */
/** @typedef {{ chosen: Chosen, sorting: Sorting|null }} Seen */
/** @typedef {{ pair: [string, string]|null, service: string|null }} Asked Services that are compared; one that is looked at. */

/** Before the key of a column whose values are chosen. */
const ONLY = "only.";

/**
 * The id that an address leads to, and what is said of it. One that is written wrongly leads nowhere.
 * @param {string} hash
 */
export function parts(hash) {
  const [id, query] = hash.slice(1).split(/\?(.*)/s);
  try {
    return { id: decodeURIComponent(id), query: new URLSearchParams(query ?? "") };
  } catch {
    return { id: "", query: new URLSearchParams() };
  }
}

/**
 * @param {string} id
 * @param {Table} table
 * @param {Seen} seen
 * @param {Asked} [asked]
 */
export function address(id, table, { chosen, sorting }, asked) {
  const query = new URLSearchParams();
  if (sorting) query.append("sort", (sorting.down ? "-" : "") + table.columns[sorting.place].key);
  if (chosen.text !== "") query.append("find", chosen.text);
  for (const [key, values] of chosen.facets) for (const value of values) query.append(ONLY + key, value);
  for (const name of chosen.pinned) query.append("pin", name);
  // By hand: a comma between two names can be read in a link, and one within a name is written differently.
  const more = [];
  if (asked?.pair) more.push(`compare=${asked.pair.map(encodeURIComponent).join(",")}`);
  if (asked?.service != null) more.push(`service=${encodeURIComponent(asked.service)}`);
  const text = [query.toString(), ...more].filter((part) => part !== "").join("&");
  return text === "" ? `#${encodeURIComponent(id)}` : `#${encodeURIComponent(id)}?${text}`;
}

/**
 * What an address says of a table. Columns that it does not have are left out.
 * @param {Table} table
 * @param {URLSearchParams} query
 * @returns {Seen}
 */
export function recalled(table, query) {
  const chosen = nothingChosen();
  chosen.text = query.get("find") ?? "";
  for (const [name, value] of query) {
    const column = name.startsWith(ONLY) && table.columns.find((one) => one.facet && ONLY + one.key === name);
    if (column) chosen.facets.set(column.key, (chosen.facets.get(column.key) ?? new Set()).add(value));
  }
  for (const name of query.getAll("pin")) chosen.pinned.add(name);
  const sort = query.get("sort") ?? "";
  const place = table.columns.findIndex((column) => !column.hidden && column.key === sort.replace(/^-/, ""));
  return { chosen, sorting: place < 0 ? null : { place, down: sort.startsWith("-") } };
}

/**
 * The services that an address asks for.
 * @param {string} hash
 * @returns {Asked}
 */
export function askedFor(hash) {
  const query = hash.split(/\?(.*)/s)[1] ?? "";
  const raw = (/** @type {string} */ name) => query.split("&").find((part) => part.startsWith(`${name}=`))?.slice(name.length + 1);
  try {
    const pair = raw("compare") ?? "";
    // What carries a link may have written its comma as it writes one within a name.
    const names = pair.includes(",") ? pair.split(",").map(decodeURIComponent) : decodeURIComponent(pair).split(",");
    const service = raw("service");
    return {
      pair: names.length === 2 ? [names[0], names[1]] : null,
      service: service === undefined ? null : decodeURIComponent(service),
    };
  } catch {
    return { pair: null, service: null };
  }
}
