// Which rows of a table are shown, and in which order. Pure.

import { names } from "./data.js";

/** @import { Table, Value } from "./data.js" */
/** @typedef {{ place: number, down: boolean }} Sorting */

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

/**
 * Rows by a column. What has no value stands at the end, whichever way; among equals, the order of the table remains.
 * @param {Table} table
 * @param {number[]} rows
 * @param {Sorting} sorting
 */
export function sorted(table, rows, { place, down }) {
  const ranks = ranked(table, rows, place);
  const way = down ? -1 : 1;
  const known = rows.filter((row) => !Number.isNaN(ranks[row]));
  known.sort((one, other) => (ranks[one] - ranks[other]) * way || one - other);
  return [...known, ...rows.filter((row) => Number.isNaN(ranks[row]))];
}

/**
 * A number for each row, by which it is sorted: texts are compared once each, however many rows have them.
 * @param {Table} table
 * @param {number[]} rows
 * @param {number} place
 */
function ranked(table, rows, place) {
  const texts = new Set(rows.map((row) => table.rows[row][place]).filter((value) => typeof value === "string"));
  const places = new Map([...texts].sort(collator.compare).map((text, at) => [text, at]));
  const ranks = new Float64Array(table.rows.length);
  for (const row of rows) {
    const value = table.rows[row][place] ?? NaN;
    ranks[row] = typeof value === "string" ? (places.get(value) ?? NaN) : Number(value);
  }
  return ranks;
}

/**
 * Does a row have that text anywhere that is shown? Of services it is what they are: who looks for one means no word of a warning.
 * @param {Table} table
 * @param {Value[]} row
 * @param {string} text In lower case.
 * @param {boolean} ofServices
 */
export function has(table, row, text, ofServices) {
  const nameAt = names(table);
  return table.columns.some((column, at) => {
    const value = row[at];
    const isWhat = at === nameAt || column.facet || column.key === "label" || column.key === "title";
    if (column.hidden || !(isWhat || !ofServices) || typeof value !== "string") return false;
    return [value, column.names?.[value] ?? ""].some((one) => one.toLowerCase().includes(text));
  });
}
