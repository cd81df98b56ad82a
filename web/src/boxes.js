// The boxes of a flame graph: what calls what, where each is, and how it looks. Pure.

import { ends, number, place } from "./data.js";
import { interval, shown } from "./figures.js";

/** @import { Chart, Column, Table } from "./data.js" */
/**
 * A function that is called in one way.
 * @typedef {object} Box
 * @property {number} row
 * @property {string} name
 * @property {number} depth
 * @property {number} now ns of a request of the candidate.
 * @property {number} old ns of a request of the baseline.
 * @property {Box|null} caller
 * @property {Box[]} calls
 * @property {number|null} moved By how much its function differs, whoever calls it.
 * @property {[number, number]|null} ends The interval of that.
 */
/** @typedef {"now"|"old"} Width Whose time is the width of a box. */
/** @typedef {{ box: Box, x: number, width: number }} Placed In shares of the whole width. */

/**
 * The rows of a table as a tree: each row has a level, and follows its caller. The first row is the whole.
 * @param {Table} table
 * @param {Chart} chart
 * @returns {Box[]}
 */
export function boxes(table, chart) {
  const at = (/** @type {string|null|undefined} */ key) => place(table, key);
  const [name, level, now, old, of] = [chart.y, "level", chart.x, chart.against, "function_ns"].map(at);
  /** Callers of the next row, each with its level. @type {[number, Box][]} */
  const path = [];
  return table.rows.map((values, row) => {
    const deep = number(values, level) ?? 0;
    while (path.length > 0 && path[path.length - 1][0] >= deep) path.pop();
    const caller = path[path.length - 1]?.[1] ?? null;
    /** @type {Box} */
    const box = {
      row,
      name: String(values[name] ?? ""),
      depth: path.length,
      now: number(values, now) ?? 0,
      old: number(values, old) ?? 0,
      caller,
      calls: [],
      moved: number(values, of),
      ends: of < 0 ? null : ends(table, table.columns[of], values),
    };
    caller?.calls.push(box);
    path.push([deep, box]);
    return box;
  });
}

/** @param {Box} box */
export function callers(box) {
  const found = [];
  for (let one = box.caller; one; one = one.caller) found.unshift(one);
  return found;
}

/**
 * Where boxes are if the chart shows `shown`: that box and its callers are as wide as the chart.
 * @param {Box} shown
 * @param {Width} by
 * @param {number} least Narrower boxes are not drawn.
 * @returns {Placed[]}
 */
export function placed(shown, by, least) {
  const found = [...callers(shown), shown].map((box) => ({ box, x: 0, width: 1 }));
  const waiting = [found[found.length - 1]];
  for (let one = waiting.pop(); one; one = waiting.pop()) {
    const { box, width } = one;
    let x = one.x;
    const sum = box.calls.reduce((sum, call) => sum + call[by], 0);
    // Rounded parts may be more than the whole.
    const whole = Math.max(box[by], sum);
    for (const call of box.calls) {
      const of = { box: call, x, width: whole > 0 ? (width * call[by]) / whole : 0 };
      x += of.width;
      if (of.width < least) continue;
      found.push(of);
      waiting.push(of);
    }
  }
  return found;
}

/** Steps of a colour, as shares of the greatest difference. */
const STEPS = [0.03, 0.15, 0.5];

/** The greatest difference of a call; that of the whole is another question. @param {Box[]} all */
export function greatest(all) {
  return all.slice(1).reduce((most, box) => Math.max(most, Math.abs(box.now - box.old)), 0);
}

/**
 * How strongly a box is coloured: from -3, much cheaper, to 3, much dearer.
 * @param {Box} box
 * @param {number} most
 */
export function shade(box, most) {
  const by = box.now - box.old;
  const step = STEPS.filter((step) => Math.abs(by) >= step * most).length;
  return most > 0 ? Math.sign(by) * step : 0;
}

/** Whether the interval of its function is not on the side of 0 on which the box is. @param {Box} box */
export function isUnsure({ ends, now, old }) {
  return !ends || (now < old ? ends[1] >= 0 : ends[0] <= 0);
}

/**
 * @param {Box[]} all
 * @param {string} text
 * @param {Width} by
 * @returns {{ boxes: Set<Box>, share: number }} What is called so, and its share of a request: what is within another counts once.
 */
export function search(all, text, by) {
  const wanted = text.trim().toLowerCase();
  const found = new Set(wanted === "" ? [] : all.slice(1).filter((box) => box.name.toLowerCase().includes(wanted)));
  const outer = [...found].filter((box) => !callers(box).some((caller) => found.has(caller)));
  return { boxes: found, share: outer.reduce((sum, box) => sum + box[by], 0) / (all[0]?.[by] || 1) };
}

/** @param {number} ns */
const signed = (ns) => (ns > 0 ? "+" : "") + shown("nanoseconds", ns);

/**
 * What is said of a box, beside its name.
 * @param {Box} box
 * @param {Box} whole
 * @param {Column|undefined} column Of the function's difference.
 */
export function words(box, whole, column) {
  const share = (/** @type {Width} */ by) => `${shown("nanoseconds", box[by])} (${shown("share", box[by] / (whole[by] || 1))} of a request)`;
  const here = `candidate ${share("now")}, baseline ${share("old")}: ${signed(box.now - box.old)}.`;
  if (box.moved === null || !box.ends || !column) return `${here} Too few samples for an interval of this function.`;
  const of = `${signed(box.moved)} (${interval(column, box.ends)})`;
  const what = box.caller ? "Its function, whoever calls it" : "With its interval";
  return `${here} ${what}: ${of}${box.ends[0] <= 0 && box.ends[1] >= 0 ? ", no sure difference" : ""}.`;
}

/**
 * The box that an arrow leads to.
 * @param {Box} box
 * @param {string} key
 * @param {Width} by
 * @returns {Box|null}
 */
export function next(box, key, by) {
  const seen = (/** @type {Box[]} */ calls) => calls.filter((call) => call[by] > 0);
  if (key === "ArrowUp") return box.caller;
  if (key === "ArrowDown") return seen(box.calls)[0] ?? null;
  const beside = seen(box.caller?.calls ?? []);
  const at = beside.indexOf(box);
  if (key === "ArrowLeft") return beside[at - 1] ?? null;
  return key === "ArrowRight" ? (beside[at + 1] ?? null) : null;
}
