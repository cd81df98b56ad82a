// From the rows of a table to what a chart draws. Pure: whatever is drawn is a value of the table.

import { coordinate } from "./axis.js";
import { ends, names, number, place } from "./data.js";
import { shownIn } from "./figures.js";

/** @import { Chart, Column, Scale, Table, Value } from "./data.js" */
/**
 * @typedef {object} Point
 * @property {number} row Its place in the table.
 * @property {string} name In the data.
 * @property {string} title For people.
 * @property {number} x A coordinate, as those that follow.
 * @property {number} y
 * @property {[number, number]|null} xEnds
 * @property {[number, number]|null} yEnds
 * @property {number|null} bound On the horizontal axis.
 * @property {[number|null, number|null]|null} band From where to where on the horizontal axis; an end that is null is open.
 * @property {number|null} against What was published, on the horizontal axis.
 * @property {number[]|null} parts Of a bar, in the order of the chart; 0 is one that is not known.
 * @property {boolean} apart
 */
/** @typedef {{ name: string, title: string, points: Point[] }} Series With its name in the data, and for people. */
/**
 * @typedef {object} Drawing
 * @property {Series[]} series
 * @property {string[]} categories
 * @property {number} points
 * @property {Map<number, number>|null} steps Where coordinates are counted, such as rounds: the place of each that the table has.
 */

/**
 * @param {Table} table
 * @param {Chart} chart
 * @param {number[]} rows Those that pass the filters.
 * @returns {Drawing}
 */
export function drawing(table, chart, rows) {
  const at = {
    x: place(table, chart.x), y: place(table, chart.y), series: place(table, chart.series), apart: place(table, chart.apart),
    bound: place(table, chart.bound), against: place(table, chart.against),
  };
  const band = chart.band?.map((key) => place(table, key));
  const stack = chart.stack?.map((key) => place(table, key));
  const [only, text] = chart.only ?? [null, null];
  const onlyAt = place(table, only);
  const nameAt = names(table);
  /** @type {Map<string, number>} */
  const categories = new Map();
  /** @type {Map<string, Series>} */
  const all = new Map();
  let count = 0;
  if (at.x < 0 || at.y < 0) return { series: [], categories: [], points: 0, steps: null };
  const [columnX, columnY] = [table.columns[at.x], table.columns[at.y]];
  for (const row of chart.against ? greatestFirst(table, rows, at.x) : rows) {
    const values = table.rows[row];
    if (onlyAt >= 0 && values[onlyAt] !== text) continue;
    const x = where(chart.x_scale, columnX, values[at.x], categories);
    const y = x === null ? null : where(chart.y_scale, columnY, values[at.y], categories);
    if (x === null || y === null) continue;
    const name = at.series < 0 ? "" : String(values[at.series] ?? "-");
    let series = all.get(name);
    if (!series) all.set(name, (series = { name, title: textOf(table.columns[at.series], name), points: [] }));
    series.points.push({
      row,
      name: nameAt < 0 ? name : String(values[nameAt] ?? "-"),
      title: nameAt < 0 ? series.title : textOf(table.columns[nameAt], values[nameAt]),
      x,
      y,
      xEnds: span(table, columnX, values, chart.x_scale),
      yEnds: span(table, columnY, values, chart.y_scale),
      bound: bound(chart.x_scale, number(values, at.bound)),
      against: bound(chart.x_scale, number(values, at.against)),
      band: band ? claimed(chart.x_scale, band.map((at) => number(values, at))) : null,
      parts: stack ? stack.map((at) => number(values, at) ?? 0) : null,
      apart: at.apart >= 0 && values[at.apart] === true,
    });
    count += 1;
  }
  const isCounted = chart.shape === "lines" && chart.x_scale === "linear" && columnX.unit === "count";
  const steps = isCounted ? stepsOf(table, at.x, (values) => onlyAt < 0 || values[onlyAt] === text) : null;
  return { series: [...all.values()], categories: [...categories.keys()], points: count, steps };
}

/**
 * Every coordinate that a row has, whether it is shown or not: a line that leaves one out was not measured there.
 * @param {Table} table
 * @param {number} at
 * @param {(values: Value[]) => boolean} isDrawn
 */
function stepsOf(table, at, isDrawn) {
  const found = new Set(table.rows.filter(isDrawn).map((values) => number(values, at)).filter((one) => one !== null));
  return new Map([...found].sort((one, other) => one - other).map((one, place) => [one, place]));
}

/**
 * @param {Table} table
 * @param {number[]} rows
 * @param {number} at
 */
function greatestFirst(table, rows, at) {
  const of = (/** @type {number} */ row) => number(table.rows[row], at) ?? -Infinity;
  return [...rows].sort((one, other) => of(other) - of(one) || 0);
}

/**
 * Names such as `hyper, N=1000, C=28` without the parts that all of them have: a legend of them takes half the room.
 * @param {string[]} names
 */
export function shortened(names) {
  const all = names.map((name) => name.split(", "));
  const isAlike = (/** @type {string} */ part, /** @type {number} */ at) => names.length > 1 && all.every((parts) => parts[at] === part);
  return all.map((parts, at) => parts.filter((part, place) => !isAlike(part, place)).join(", ") || names[at]);
}

/** A text as people read it. @param {Column|undefined} column @param {Value} value */
function textOf(column, value) {
  const text = String(value ?? "-");
  return column ? shownIn(column, text) : text;
}

/**
 * @param {Scale} scale
 * @param {Column} column
 * @param {Value} value
 * @param {Map<string, number>} categories
 * @returns {number|null}
 */
function where(scale, column, value, categories) {
  if (scale === "names") {
    const name = textOf(column, value);
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
 * The smallest and the largest coordinate: bounds, published figures and ends of bands included, and of whiskers no more than goes
 * `reach` beyond them, lest one interval that says nothing make all others a dot.
 * @param {Series[]} series
 * @param {"x"|"y"} way
 * @param {number} [reach]
 * @returns {[number, number]}
 */
export function extent(series, way, reach = Infinity) {
  let [low, high, least, most] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const { points } of series) {
    for (const point of points) {
      const both = way === "x" ? point.xEnds : point.yEnds;
      const marks = way === "x" ? [point.bound, point.against, ...(point.band ?? [])].filter((mark) => mark !== null) : [];
      low = Math.min(low, point[way], ...marks);
      high = Math.max(high, point[way], ...marks);
      least = Math.min(least, both?.[0] ?? Infinity);
      most = Math.max(most, both?.[1] ?? -Infinity);
    }
  }
  return [Math.min(low, Math.max(least, low - reach)), Math.max(high, Math.min(most, high + reach))];
}
