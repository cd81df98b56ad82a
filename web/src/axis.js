// Axes. A chart is drawn in coordinates in which all of them run in equal steps; here a number becomes such a coordinate,
// and it is found out which numbers stand at an axis. Pure.

import { show, tick } from "./figures.js";

/** @import { Scale, Unit } from "./data.js" */
/** @typedef {{ min: number, max: number, ticks: { at: number, text: string }[] }} Axis */

/** What stands at an axis of nines. It begins at the median: what is below it is quick with every service. */
const NINES = [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999];

/** What stands between powers of ten, where there is room. */
const FACTORS = [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 5, 7], [1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9]];

/** What is at most as far from 1 as this is drawn there, lest 100% be at the end of the world. */
const NINES_MAX = 7;

/**
 * The coordinate of a number; null where the axis has no place for it.
 * @param {Scale} scale
 * @param {number} value
 * @returns {number|null}
 */
export function coordinate(scale, value) {
  if (scale === "log") return value > 0 ? Math.log10(value) : null;
  if (scale === "percentile") {
    if (value < NINES[0] || value >= 1) return null;
    return Math.min(-Math.log10(1 - value), NINES_MAX);
  }
  return value;
}

/**
 * A step of 1, 2 or 5 with zeros; of bytes, a power of two.
 * @param {number} about
 * @param {Unit} unit
 */
function step(about, unit) {
  if (unit === "bytes") return 2 ** Math.ceil(Math.log2(about));
  const ten = 10 ** Math.floor(Math.log10(about));
  const factor = [1, 2, 5, 10].find((one) => one * ten >= about * 0.999) ?? 10;
  return unit === "count" ? Math.max(1, factor * ten) : factor * ten;
}

/**
 * @param {number} low
 * @param {number} high
 * @param {Unit} unit
 * @param {number} count
 * @returns {Axis}
 */
function linear(low, high, unit, count) {
  // What is all positive begins at nothing, unless that would make everything a line at the top, or is counted from one.
  const isCounted = unit === "count" && low === 1 && high <= count;
  let [min, max] = [low > 0 && low < high * 0.6 && !isCounted ? 0 : low, high];
  if (min === max) [min, max] = [min > 0 ? 0 : min - 1, max > 0 ? max * 1.05 : max + 1];
  const one = step((max - min) / count, unit);
  const [first, last] = [Math.floor(min / one + 1e-9), Math.ceil(max / one - 1e-9)];
  const ticks = [];
  for (let at = first; at <= last; at += 1) ticks.push({ at: at * one, text: tick(unit, at * one) });
  return { min: first * one, max: last * one, ticks };
}

/**
 * @param {number} low As a logarithm, as `high`.
 * @param {number} high
 * @param {Unit} unit
 * @param {number} count
 * @returns {Axis}
 */
function log(low, high, unit, count) {
  const pad = Math.max((high - low) * 0.04, 0.03);
  const [min, max] = [low - pad, high + pad];
  const base = Math.log10(unit === "bytes" ? 2 : 10);
  const inside = (/** @type {number[]} */ factors) => {
    const found = [];
    for (let power = Math.floor(min / base); power <= Math.ceil(max / base); power += 1) {
      found.push(...factors.map((factor) => power * base + Math.log10(factor)));
    }
    return found.filter((at) => at >= min && at <= max);
  };
  const sets = unit === "bytes" ? [[1]] : FACTORS;
  const finest = sets.map(inside).findLast((ticks) => ticks.length <= count * 1.5);
  let chosen = finest ?? inside([1]);
  while (chosen.length > count * 1.5) chosen = chosen.filter((_, at) => at % 2 === 0);
  // Two services that are nearly alike are less than a factor apart: equal steps are nearly equal factors there.
  if (chosen.length < 3 && max - min < 0.5) {
    const { ticks } = linear(10 ** min, 10 ** max, unit, count);
    chosen = ticks.map((one) => Math.log10(one.at)).filter((at) => at >= min && at <= max);
  }
  return { min, max, ticks: chosen.map((at) => ({ at, text: tick(unit, 10 ** at) })) };
}

/**
 * @param {number} high
 * @returns {Axis}
 */
function nines(high) {
  const max = Math.max(high, 1);
  const ticks = NINES.map((share) => ({ at: -Math.log10(1 - share), text: show("percentile", share) }));
  return { min: ticks[0].at, max, ticks: ticks.filter((one) => one.at <= max + 1e-9) };
}

/**
 * An axis for coordinates from `low` to `high`, with about `count` numbers at it.
 * @param {Scale} scale
 * @param {Unit} unit
 * @param {number} low
 * @param {number} high
 * @param {number} count
 * @returns {Axis}
 */
export function axis(scale, unit, low, high, count) {
  if (!(low <= high)) return { min: 0, max: 1, ticks: [] };
  if (scale === "log") return log(low, high, unit, count);
  if (scale === "percentile") return nines(high);
  return linear(low, high, unit, count);
}
