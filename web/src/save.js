// What a reader takes along: a command, the data, a table. From disk as well as from a server.

import { button, make } from "./dom.js";
import { ends } from "./data.js";
import { interval, plain, sign, shownIn } from "./figures.js";

/** @import { Table } from "./data.js" */

/**
 * Text that no spreadsheet takes for a formula: a port of `text` of write/csv.rs.
 * @param {string} of
 */
export function harmless(of) {
  const hidden = /^[\s\p{Cc}\u200b-\u200f\u2060\ufeff]*/u;
  const isFormula = /^[\t\r\n]/.test(of) || /^[=+\-@＝＋－＠]/u.test(of.replace(hidden, ""));
  return isFormula ? `'${of}` : of;
}

/**
 * All of a table, with the keys of its columns, as RFC 4180 has it.
 * @param {Table} table
 */
export function csv(table) {
  const field = (/** @type {string} */ text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = table.rows.map((row) => row.map((value) => {
    if (value === null) return "";
    return typeof value === "number" ? plain(value) : field(harmless(String(value)));
  }));
  return [table.columns.map((column) => field(column.key)), ...lines].map((line) => `${line.join(",")}\r\n`).join("");
}

/**
 * Rows as they are shown, for a pull request or a README.
 * @param {Table} table
 * @param {number[]} places Of the columns.
 * @param {number[]} rows
 */
export function markdown(table, places, rows) {
  const escaped = (/** @type {string} */ text) => text.replace(/[\\`*_[\]<>|#~]/g, "\\$&").replace(/\s+/g, " ");
  const cell = (/** @type {number} */ row, /** @type {number} */ at) => {
    const [column, values] = [table.columns[at], table.rows[row]];
    const both = typeof values[at] === "number" ? ends(table, column, values) : null;
    return sign(table, column, values) + shownIn(column, values[at] ?? null) + (both ? ` (${interval(column, both)})` : "");
  };
  const line = (/** @type {string[]} */ cells) => `| ${cells.join(" | ")} |\n`;
  const isNumber = (/** @type {number} */ at) => !["text", "flag"].includes(table.columns[at].unit);
  return [
    line(places.map((at) => escaped(table.columns[at].title))),
    line(places.map((at) => (isNumber(at) ? "---:" : "---"))),
    ...rows.map((row) => line(places.map((at) => escaped(cell(row, at))))),
  ].join("");
}

/** What files begin with, so that those of two runs are told apart in one folder. */
let prefix = "tare";

/**
 * From now on files carry the name of this document: the first words of its title, and its day.
 * @param {{ title: string, began?: string }} of
 */
export function filesOf({ title, began }) {
  const words = title.split(":")[0].toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const day = /^\d{4}-\d\d-\d\d/.exec(began ?? "")?.[0];
  prefix = [...words.slice(0, 6).map((word) => word.slice(0, 20)), ...(day ? [day] : [])].join("-") || "tare";
}

/** @param {string} name */
export function fileName(name) {
  return `${prefix}-${name}`;
}

/**
 * Rows for a spreadsheet that is pasted into: titles, and whole numbers in base units.
 * @param {Table} table
 * @param {number[]} places Of the columns.
 * @param {number[]} rows
 */
export function tsv(table, places, rows) {
  const cell = (/** @type {string|number|boolean|null} */ value) => {
    if (value === null) return "";
    return typeof value === "number" ? plain(value) : harmless(String(value)).replace(/\s+/g, " ");
  };
  const head = places.map((at) => table.columns[at].key);
  const lines = rows.map((row) => places.map((at) => cell(table.rows[row][at] ?? null)));
  return [head, ...lines].map((line) => `${line.join("\t")}\n`).join("");
}

/**
 * @param {string} name
 * @param {string} type
 * @param {string} text
 */
export function save(name, type, text) {
  saveBlob(name, new Blob([text], { type: `${type};charset=utf-8` }));
}

/**
 * @param {string} name
 * @param {Blob} blob
 */
export function saveBlob(name, blob) {
  const address = URL.createObjectURL(blob);
  make("a", { href: address, download: fileName(name) }).click();
  // The browser has read it by then; until then it must not be gone.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/**
 * Buttons that copy what is meant to be pasted elsewhere.
 * @param {ParentNode} root
 */
export function copiers(root) {
  for (const code of root.querySelectorAll(".facts .code code")) {
    const label = code.closest("div")?.querySelector("dt")?.textContent ?? "";
    const copier = button("Copy", async () => {
      told(copier, await copy(code), "Selected");
    }, { class: "copy", "aria-label": `Copy: ${label}` });
    code.closest("dd")?.append(copier);
  }
}

/**
 * A button that copies rows, or saves them where the browser lets nothing into the clipboard.
 * @param {string} text
 * @param {string} name Of the file.
 * @param {string} type
 * @param {() => string} rows
 */
export function copyButton(text, name, type, rows) {
  const copier = button(text, async () => {
    const done = await copied(rows());
    if (!done) save(name, type, rows());
    told(copier, done, "Saved");
  });
  return copier;
}

/**
 * Into the clipboard where the browser lets us; else it is at least selected.
 * @param {Element} code
 */
async function copy(code) {
  const done = await copied(code.textContent ?? "");
  if (!done) getSelection()?.selectAllChildren(code);
  return done;
}

/**
 * A button says for a while what it did.
 * @param {HTMLElement} control
 * @param {boolean} done
 * @param {string} [instead] What it did where it could not copy.
 */
export function told(control, done, instead = "Not allowed") {
  const before = control.dataset.text ?? control.textContent ?? "";
  control.dataset.text = before;
  control.textContent = done ? "Copied" : instead;
  setTimeout(() => (control.textContent = before), 2000);
}

/** @param {string} text */
export async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
