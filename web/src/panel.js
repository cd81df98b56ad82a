// Everything that the document has on one service, beside the page: its row of each section, with a link there.

import { ends, names, place } from "./data.js";
import { button, make } from "./dom.js";
import { interval, sign, shownIn } from "./figures.js";
import { copied, told } from "./save.js";

/** @import { Column, Doc, Section, Table, Value } from "./data.js" */

/** What stays first, whatever is chosen. @typedef {{ may: (name: string) => boolean, has: (name: string) => boolean, toggle: (name: string) => void }} Pins */

/** Rows of a section up to which the panel has them itself; of more it says how many there are. */
const ROWS_MAX = 8;
/** Keys of addresses elsewhere, and what a link to them is called. */
const PLACES = { homepage: "Website", source: "Source", package_page: "Its package, as the registry shows it" };

/**
 * @param {Doc} data
 * @param {{ closed: () => void, compare: ((name: string) => void)|null, pins: Pins }} doing
 * @returns {{ open: (name: string) => boolean, close: () => void, end: () => void }}
 */
export function panel(data, { closed, compare, pins }) {
  const dialog = make("dialog", { class: "panel", "aria-labelledby": "panel-title" });
  dialog.addEventListener("close", closed);
  // Beside it, which is the backdrop of the dialog itself.
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);

  function open(/** @type {string} */ name) {
    /** @type {Set<string>} */
    const seen = new Set();
    const parts = data.sections.flatMap((section) => part(section, name, seen, () => dialog.close()));
    if (parts.length === 0) return false;
    const copier = button("Copy link", async () => told(copier, await copied(location.href)));
    const tools = make("div", { class: "tools" }, copier);
    if (compare) tools.prepend(button("Compare", () => {
      dialog.close();
      compare(name);
    }));
    if (pins.may(name)) {
      const pin = button("", () => {
        pins.toggle(name);
        say();
      });
      const say = () => (pin.textContent = pins.has(name) ? "Unpin" : "Pin");
      say();
      tools.prepend(pin);
    }
    const inSite = pageOf(name);
    if (inSite) tools.append(make("a", { href: inSite, class: "button" }, "In all experiments"));
    tools.append(button("Close", () => dialog.close()));
    const head = make("header", {}, make("h2", { id: "panel-title" }, make("bdi", {}, name)), tools);
    dialog.replaceChildren(head, make("div", { class: "parts", tabindex: "0", role: "region", "aria-label": "What is known of it" }, ...parts));
    if (!dialog.open) dialog.showModal();
    return true;
  }
  return { open, close: () => dialog.open && dialog.close(), end: () => dialog.remove() };
}

/**
 * Where a site has the page of a service; a page alone knows none.
 * @param {string} name
 * @returns {string|undefined}
 */
function pageOf(name) {
  const pages = document.getElementById("site-services")?.textContent;
  return pages ? JSON.parse(pages)[name] : undefined;
}

/**
 * A section's part of it; none if it has nothing on the service.
 * @param {Section} section
 * @param {string} name
 * @param {Set<string>} seen Keys of what was said before; it is said once.
 * @param {() => void} leave
 */
function part(section, name, seen, leave) {
  const table = section.table;
  if (!table) return [];
  const at = place(table, "label") < 0 ? place(table, "service") : place(table, "label");
  const rows = table.rows.filter((row) => at >= 0 && row[at] === name);
  if (rows.length === 0) return [];
  const link = make("a", { href: `#${section.id}` }, section.title);
  link.addEventListener("click", leave);
  return [make("section", {}, make("h3", {}, link), ...ofRows(table, rows, at, seen, section, leave))];
}

/**
 * @param {Table} table
 * @param {Value[][]} rows
 * @param {number} at
 * @param {Set<string>} seen
 * @param {Section} section
 * @param {() => void} leave
 */
function ofRows(table, rows, at, seen, section, leave) {
  const has = (/** @type {number} */ place) => rows.some((row) => row[place] !== null && row[place] !== "");
  const columns = table.columns.map((column, place) => ({ column, place })).filter(({ column, place }) => place !== at && !column.hidden && has(place));
  if (rows.length === 1) {
    const fresh = columns.filter(({ column }) => !seen.has(column.key));
    for (const { column } of columns) seen.add(column.key);
    return [list(table, rows[0], fresh), ...elsewhere(table, rows[0])];
  }
  if (rows.length <= ROWS_MAX) return [grid(table, rows, columns)];
  const filter = new URLSearchParams({ find: String(rows[0][at]) });
  // With the page before it: what begins with "#" is taken for the name of a part of the page.
  const link = make("a", { href: `${location.href.split("#")[0]}#${section.id}?${filter}` }, `${rows.length} rows`);
  link.addEventListener("click", leave);
  return [make("p", {}, link)];
}

/**
 * @param {Table} table
 * @param {Value[]} row
 * @param {{ column: Column, place: number }} of
 */
function cell(table, row, { column, place }) {
  const value = row[place] ?? null;
  const both = typeof value === "number" ? ends(table, column, row) : null;
  const text = make("bdi", {}, value === null ? "-" : sign(table, column, row) + shownIn(column, value));
  return both ? [text, " ", make("small", {}, interval(column, both))] : [text];
}

/**
 * @param {Table} table
 * @param {Value[]} row
 * @param {{ column: Column, place: number }[]} columns
 */
function list(table, row, columns) {
  return make("dl", {}, ...columns.map((of) =>
    make("div", {}, make("dt", { title: of.column.help ?? false }, of.column.title), make("dd", {}, ...cell(table, row, of)))));
}

/**
 * @param {Table} table
 * @param {Value[][]} rows
 * @param {{ column: Column, place: number }[]} columns
 */
function grid(table, rows, columns) {
  const first = names(table);
  const head = make("tr", {}, ...columns.map(({ column }) => make("th", { scope: "col" }, column.title)));
  const lines = rows.map((row) => make("tr", {}, ...columns.map((of) =>
    make("td", { class: of.place !== first && of.column.unit !== "text" && "number" }, ...cell(table, row, of)))));
  const box = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": table.caption });
  box.append(make("table", {}, make("thead", {}, head), make("tbody", {}, ...lines)));
  return box;
}

/**
 * What the run knows of its places on the network: nothing is asked of them before a reader follows a link.
 * @param {Table} table
 * @param {Value[]} row
 */
function elsewhere(table, row) {
  const links = Object.entries(PLACES).flatMap(([key, title]) => {
    const to = row[place(table, key)];
    if (typeof to !== "string" || !/^https?:\/\//.test(to)) return [];
    return [make("a", { href: to, rel: "noreferrer noopener", target: "_blank" }, title)];
  });
  return links.length === 0 ? [] : [make("p", { class: "places" }, ...links)];
}
