// The document of a page, as crates/report writes it, and how to find one's way in it.

/** @typedef {"text"|"flag"|"count"|"number"|"per-second"|"nanoseconds"|"bytes"|"share"|"times"|"change"|"percentile"|"probability"} Unit */
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
 * @property {Record<string, string>} [names] What people read in place of a text.
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
 * A column in its shortest form, as write/html/packed.rs makes it.
 * @typedef {Value[]|{ runs: Value[] }|{ from: number, steps: number[] }|{ words: Value[], of: Packed }} Packed
 */

/**
 * The document of a page, whose tables have columns there, and rows here.
 * @param {string} json
 * @returns {Doc}
 */
export function read(json) {
  const doc = JSON.parse(json);
  for (const { table } of doc.sections) {
    if (!table?.packed) continue;
    const columns = table.packed.map(values);
    table.rows = Array.from({ length: table.count }, (_, row) => columns.map((/** @type {Value[]} */ column) => column[row]));
    delete table.packed;
    delete table.count;
  }
  return doc;
}

/**
 * @param {Packed} packed
 * @returns {Value[]}
 */
function values(packed) {
  if (Array.isArray(packed)) return packed;
  if ("words" in packed) return values(packed.of).map((at) => packed.words[Number(at)]);
  if ("runs" in packed) return unrolled(packed.runs);
  let now = packed.from;
  return [now, ...unrolled(packed.steps).map((step) => (now += Number(step)))];
}

/**
 * @param {Value[]} runs How often, and what, by turns.
 * @returns {Value[]}
 */
function unrolled(runs) {
  return runs.flatMap((value, at) => (at % 2 === 0 ? [] : Array.from({ length: Number(runs[at - 1]) }, () => value)));
}

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
