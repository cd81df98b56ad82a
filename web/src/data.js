// The document of a page, as crates/report writes it, and how to find one's way in it.

/** @typedef {"text"|"flag"|"count"|"number"|"per-second"|"nanoseconds"|"bytes"|"share"|"times"|"change"|"percentile"} Unit */
/** @typedef {null|string|number|boolean} Value */
/** @typedef {"linear"|"log"|"percentile"|"names"} Scale */
/**
 * @typedef {object} Column
 * @property {string} key
 * @property {string} title
 * @property {Unit} unit
 * @property {string} [help]
 * @property {[string, string]} [interval]
 * @property {boolean} [bar]
 * @property {boolean} [facet]
 * @property {boolean} [hidden]
 */
/** @typedef {"good"|"open"|"bad"} Tone */
/** @typedef {{ caption: string, columns: Column[], rows: Value[][], tones?: Record<string, Tone> }} Table */
/**
 * @typedef {object} Chart
 * @property {string} title
 * @property {"bars"|"points"|"lines"|"flame"} shape
 * @property {string} x
 * @property {string} y
 * @property {Scale} x_scale
 * @property {Scale} y_scale
 * @property {string|null} series
 * @property {string|null} n
 * @property {string|null} bound
 * @property {[string, string]} [band]
 * @property {string} [against]
 * @property {string[]} [stack] Parts of `x`, one behind the other.
 * @property {boolean} [alike]
 * @property {string|null} apart
 * @property {[string, string]|null} only
 * @property {number|null} first
 * @property {boolean} [grey] Whether the other series are drawn too, in grey.
 * @property {string} alt
 */
/** @typedef {{ id: string, title: string, charts: Chart[], table: Table|null }} Section */
/** @typedef {{ title: string, began: string, sections: Section[] }} Doc */

/**
 * The place of a column; -1 where there is none.
 * @param {Table} table
 * @param {string|null|undefined} key
 */
export function place(table, key) {
  return key == null ? -1 : table.columns.findIndex((column) => column.key === key);
}

/**
 * The column that names rows: the first one of text that is shown.
 * @param {Table} table
 */
export function names(table) {
  return table.columns.findIndex((column) => column.unit === "text" && !column.hidden);
}

/**
 * A number, or null.
 * @param {Value[]} row
 * @param {number} at
 */
export function number(row, at) {
  const value = at < 0 ? null : row[at];
  return typeof value === "number" ? value : null;
}

/**
 * The ends of the interval of a value, where both are known.
 * @param {Table} table
 * @param {Column} column
 * @param {Value[]} row
 * @returns {[number, number]|null}
 */
export function ends(table, column, row) {
  if (!column.interval) return null;
  const low = number(row, place(table, column.interval[0]));
  const high = number(row, place(table, column.interval[1]));
  return low === null || high === null ? null : [low, high];
}
