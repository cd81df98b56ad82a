// What a reader takes along: a command, the data, a table. From disk as well as from a server.

import { button, make } from "./dom.js";
import { plain } from "./figures.js";

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
 * @param {string} name
 * @param {string} type
 * @param {string} text
 */
export function save(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  make("a", { href: address, download: name }).click();
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
      const done = await copy(code);
      copier.textContent = done ? "Copied" : "Selected";
      setTimeout(() => (copier.textContent = "Copy"), 2000);
    }, { class: "copy", "aria-label": `Copy: ${label}` });
    code.closest("dd")?.append(copier);
  }
}

/**
 * Into the clipboard where the browser lets us; else it is at least selected.
 * @param {Element} code
 */
async function copy(code) {
  try {
    await navigator.clipboard.writeText(code.textContent ?? "");
    return true;
  } catch {
    getSelection()?.selectAllChildren(code);
    return false;
  }
}
