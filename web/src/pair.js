// What the page answers of two services: a sentence of the values of the document. Pure.

import { ends, number, place } from "./data.js";
import { both, show } from "./figures.js";

/** @import { Table, Value } from "./data.js" */
/** @typedef {"at-least"|"at-most"|null} Bound */
/**
 * What one service is of another one.
 * @typedef {object} Ratio
 * @property {number} value
 * @property {[number, number]|null} ends
 * @property {Bound} bound
 */

/** The ids of the section with the pairs, and the column of the main table that names services. */
export const PAIRS = "pairs";

/** @type {Record<string, Bound>} */
const INVERSE = { "at-least": "at-most", "at-most": "at-least" };

/**
 * The row of a pair, and whether the services stand in it the other way round.
 * @param {Table} pairs
 * @param {[string, string]} names
 */
function rowOf(pairs, [one, other]) {
  const [first, second] = [place(pairs, "first"), place(pairs, "second")];
  const is = (/** @type {Value[]} */ row, /** @type {string} */ a, /** @type {string} */ b) => row[first] === a && row[second] === b;
  const row = pairs.rows.find((row) => is(row, one, other) || is(row, other, one));
  return row ? { row, inverse: !is(row, one, other) } : null;
}

/**
 * @param {Table} pairs
 * @param {{ row: Value[], inverse: boolean }} of
 * @param {string} key
 * @returns {Ratio|null}
 */
export function ratio(pairs, { row, inverse }, key) {
  const at = place(pairs, key);
  const value = number(row, at);
  if (value === null) return null;
  const range = ends(pairs, pairs.columns[at], row);
  const bound = /** @type {Bound} */ (row[place(pairs, `${key}_bound`)] ?? null);
  if (!inverse) return { value, ends: range, bound };
  return { value: 1 / value, ends: range && [1 / range[1], 1 / range[0]], bound: bound && INVERSE[bound] };
}

/** @param {Ratio} of */
function told({ value, ends, bound }) {
  const word = bound === null ? "" : `${bound.replace("-", " ")} `;
  return `${word}${show("times", value)}${ends ? ` (${both("times", ends, " .. ")})` : ""}`;
}

/**
 * The share of the lesser by which two services may still differ.
 * @param {Ratio|null} of
 */
function leftOpen(of) {
  return of?.ends ? Math.max(of.ends[1], 1 / of.ends[0]) - 1 : null;
}

/**
 * What is said of two services; nothing if they are no pair of the run.
 * @param {Table} main
 * @param {Table} pairs
 * @param {[string, string]} names
 */
export function sentence(main, pairs, names) {
  const found = rowOf(pairs, names);
  if (!found) return null;
  const [cpu, throughput] = [ratio(pairs, found, "cpu_ratio"), ratio(pairs, found, "throughput_ratio")];
  const lines = [`${figures(names, cpu, throughput)}${beside(main, names)}.`];
  const separated = found.row[place(pairs, "separated")];
  if (separated === false) lines.unshift(`The data do not separate ${names[0]} and ${names[1]}.`);
  if (separated === null) lines.unshift("There are too few blocks to say whether they differ.");
  if (separated === false) lines.push(...excluded(pairs, found.row, cpu, throughput));
  return lines.join(" ");
}

/**
 * @param {[string, string]} names
 * @param {Ratio|null} cpu
 * @param {Ratio|null} throughput
 */
function figures([one, other], cpu, throughput) {
  if (cpu && throughput) return `${one} needs ${told(cpu)} of ${other}'s CPU per request, at ${told(throughput)} of its throughput`;
  if (cpu) return `${one} needs ${told(cpu)} of ${other}'s CPU per request; there is no valid ratio of their throughputs`;
  if (throughput) return `${one} has ${told(throughput)} of ${other}'s throughput; there is no valid ratio of their CPU per request`;
  return `There is no valid ratio of ${one} to ${other}`;
}

/**
 * What both have of their own.
 * @param {Table} main
 * @param {[string, string]} names
 */
function beside(main, names) {
  const label = place(main, "label");
  const rows = names.map((name) => main.rows.find((row) => row[label] === name) ?? []);
  const of = (/** @type {string} */ key, /** @type {string} */ title) => {
    const at = place(main, key);
    const [one, other] = rows.map((row) => number(row, at));
    return one === null || other === null ? "" : `; ${title} ${both(main.columns[at].unit, [one, other], " against ")}`;
  };
  return of("latency_ns_p99", "p99") + of("rss_bytes_peak", "peak memory");
}

/**
 * What the data exclude of a pair that they do not separate, and what more blocks would do: an interval is as wide as one over the
 * root of their number. How many would separate two services is not known, since they may be equal.
 * @param {Table} pairs
 * @param {Value[]} row
 * @param {Ratio|null} cpu
 * @param {Ratio|null} throughput
 */
function excluded(pairs, row, cpu, throughput) {
  const ofAll = number(row, place(pairs, "differ_most"));
  const decides = row[place(pairs, "separated_by")] === "throughput" ? throughput : cpu;
  const most = ofAll ?? leftOpen(decides);
  const blocks = number(row, place(pairs, "blocks"));
  if (most === null || blocks === null) return [];
  const held = ofAll === null ? "for this pair alone" : "for all pairs together";
  const isApart = decides?.ends && (decides.ends[0] > 1 || decides.ends[1] < 1);
  return [
    ...(isApart ? ["As a pair alone they would be apart; with all pairs of the run allowed for they are not."] : []),
    `A difference of more than ${show("share", most)} is excluded (95% ${held}).`,
    `Four times as many blocks, ${4 * blocks}, would about halve that.`,
  ];
}
