// What a point means, for who points at it, taps it or goes there with arrow keys: the same texts as in the table.

import { interval, sign, shownIn } from "./figures.js";
import { ends, place } from "./data.js";
import { make } from "./dom.js";

/** @import { Chart, Column, Table } from "./data.js" */
/** @import { Point } from "./series.js" */
/** @typedef {{ x: number, y: number, point: Point, series: string, title: string }} Spot A point, and where it is in its plot. */

/** How far from a point a pointer still means it. */
const REACH = 60;

/**
 * The spot that a pointer means.
 * @param {Spot[]} spots
 * @param {number} x
 * @param {number} y
 * @param {boolean} rows Each row is a line of its own: only the height counts.
 * @returns {Spot|null}
 */
export function nearest(spots, x, y, rows) {
  let [found, best] = [/** @type {Spot|null} */ (null), rows ? 400 : REACH * REACH];
  for (const spot of spots) {
    const far = rows ? (spot.y - y) ** 2 : (spot.x - x) ** 2 + (spot.y - y) ** 2;
    if (far < best) [found, best] = [spot, far];
  }
  return found;
}

/**
 * What is said of a point.
 * @param {Table} table
 * @param {Chart} chart
 * @param {Spot} spot
 * @returns {Node[]}
 */
export function words(table, chart, { point, title }) {
  const row = table.rows[point.row];
  const list = make("dl");
  /** @param {Column} column @param {string} text @param {string} [small] */
  const say = (column, text, small) => {
    const value = make("dd", {}, make("bdi", {}, text));
    if (small) value.append(" ", make("small", {}, small));
    list.append(make("dt", {}, column.title), value);
  };
  /** @type {Set<string|null>} */
  const told = new Set([chart.series]);
  const keys = [chart.x, chart.against ?? null, ...(chart.stack ?? []), chart.y, chart.n, chart.apart];
  if (point.apart) keys.push(...table.columns.filter((column) => column.unit === "text" && !column.hidden).map((column) => column.key));
  for (const key of keys) {
    const at = place(table, key);
    const column = table.columns[at];
    if (at < 0 || told.has(key) || row[at] === null || shownIn(column, row[at]) === point.title) continue;
    told.add(key);
    const both = ends(table, column, row);
    say(column, sign(table, column, row) + shownIn(column, row[at]), both ? interval(column, both) : undefined);
  }
  const name = title && title !== point.title ? `${point.title}, ${title}` : point.title;
  return [make("strong", {}, make("bdi", {}, name)), list];
}
