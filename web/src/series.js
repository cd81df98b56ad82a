// From the rows of a table to what a chart draws. Pure: whatever is drawn is a value of the table.

import { coordinate } from "./axis.js";
import { ends, names, number, place } from "./data.js";

/** @import { Chart, Column, Scale, Table, Value } from "./data.js" */
/**
 * @typedef {object} Point
 * @property {number} row Its place in the table.
 * @property {string} name
 * @property {number} x A coordinate, as those that follow.
 * @property {number} y
 * @property {[number, number]|null} xEnds
 * @property {[number, number]|null} yEnds
 * @property {number|null} bound On the horizontal axis.
 * @property {[number|null, number|null]|null} band From where to where on the horizontal axis; an end that is null is open.
 * @property {boolean} apart
 */
/** @typedef {{ name: string, points: Point[] }} Series */
/** @typedef {{ series: Series[], categories: string[], points: number }} Drawing */

/**
 * @param {Table} table
 * @param {Chart} chart
 * @param {number[]} rows Those that pass the filters.
 * @returns {Drawing}
 */
export function drawing(table, chart, rows) {
  const at = { x: place(table, chart.x), y: place(table, chart.y), series: place(table, chart.series), apart: place(table, chart.apart), bound: place(table, chart.bound) };
  const band = chart.band?.map((key) => place(table, key));
  const [only, text] = chart.only ?? [null, null];
  const onlyAt = place(table, only);
  const nameAt = names(table);
  /** @type {Map<string, number>} */
  const categories = new Map();
  /** @type {Map<string, Series>} */
  const all = new Map();
  let count = 0;
  if (at.x < 0 || at.y < 0) return { series: [], categories: [], points: 0 };
  const [columnX, columnY] = [table.columns[at.x], table.columns[at.y]];
  for (const row of rows) {
    const values = table.rows[row];
    if (onlyAt >= 0 && values[onlyAt] !== text) continue;
    const x = where(chart.x_scale, values[at.x], categories);
    const y = x === null ? null : where(chart.y_scale, values[at.y], categories);
    if (x === null || y === null) continue;
    const name = at.series < 0 ? "" : String(values[at.series] ?? "-");
    let series = all.get(name);
    if (!series) all.set(name, (series = { name, points: [] }));
    series.points.push({
      row,
      name: nameAt < 0 ? name : String(values[nameAt] ?? "-"),
      x,
      y,
      xEnds: span(table, columnX, values, chart.x_scale),
      yEnds: span(table, columnY, values, chart.y_scale),
      bound: bound(chart.x_scale, number(values, at.bound)),
      band: band ? claimed(chart.x_scale, band.map((at) => number(values, at))) : null,
      apart: at.apart >= 0 && values[at.apart] === true,
    });
    count += 1;
  }
  return { series: [...all.values()], categories: [...categories.keys()], points: count };
}

/**
 * @param {Scale} scale
 * @param {Value} value
 * @param {Map<string, number>} categories
 * @returns {number|null}
 */
function where(scale, value, categories) {
  if (scale === "names") {
    const name = String(value ?? "-");
    const known = categories.get(name);
    if (known !== undefined) return known;
    categories.set(name, categories.size);
    return categories.size - 1;
  }
  return typeof value === "number" ? coordinate(scale, value) : null;
}

/**
 * @param {Scale} scale
 * @param {number|null} value
 */
function bound(scale, value) {
  return value === null ? null : coordinate(scale, value);
}

/**
 * @param {Scale} scale
 * @param {(number|null)[]} both
 * @returns {[number|null, number|null]|null} Null where both ends are open.
 */
function claimed(scale, both) {
  const [low, high] = both.map((end) => bound(scale, end));
  return low === null && high === null ? null : [low, high];
}

/**
 * @param {Table} table
 * @param {Column} column
 * @param {Value[]} row
 * @param {Scale} scale
 * @returns {[number, number]|null}
 */
function span(table, column, row, scale) {
  const both = ends(table, column, row);
  if (!both) return null;
  // A low end of nothing has no place on a logarithmic axis: its whisker begins at the value.
  const low = coordinate(scale, both[0]) ?? coordinate(scale, number(row, table.columns.indexOf(column)) ?? both[1]);
  const high = coordinate(scale, both[1]);
  return low === null || high === null ? null : [low, high];
}

/**
 * The smallest and the largest coordinate, whiskers, bounds and ends of bands included.
 * @param {Series[]} series
 * @param {"x"|"y"} way
 * @returns {[number, number]}
 */
export function extent(series, way) {
  let [low, high] = [Infinity, -Infinity];
  for (const { points } of series) {
    for (const point of points) {
      const both = way === "x" ? point.xEnds : point.yEnds;
      const marks = way === "x" ? [point.bound, ...(point.band ?? [])].filter((mark) => mark !== null) : [];
      low = Math.min(low, point[way], both?.[0] ?? Infinity, ...marks);
      high = Math.max(high, point[way], both?.[1] ?? -Infinity, ...marks);
    }
  }
  return [low, high];
}
