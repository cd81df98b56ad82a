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
export function ratio(pairs, { row, inverse: isInverse }, key) {
  const at = place(pairs, key);
  const value = number(row, at);
  if (value === null) return null;
  const range = ends(pairs, pairs.columns[at], row);
  const bound = /** @type {Bound} */ (row[place(pairs, `${key}_bound`)] ?? null);
  const found = { value, ends: range, bound };
  return isInverse ? inverse(found) : found;
}

/**
 * @param {Ratio} of
 * @returns {Ratio}
 */
function inverse({ value, ends, bound }) {
  return { value: 1 / value, ends: ends && [1 / ends[1], 1 / ends[0]], bound: bound && INVERSE[bound] };
}

/** `12.0x`, `at least 12.0x`. @param {Ratio} of */
function times({ value, bound }) {
  return `${bound === null ? "" : `${bound.replace("-", " ")} `}${show("times", value)}`;
}

/** ` (11.6 .. 12.4x)`; nothing without an interval. @param {Ratio} of */
function interval({ ends }) {
  return ends ? ` (${both("times", ends, " .. ")})` : "";
}

/**
 * @param {Ratio} of
 * @param {string} other
 * @param {string} what
 */
const timesOf = (of, other, what) => `${times(of)} ${other}'s ${what}${interval(of)}`;

/**
 * The share of the lesser by which two services may still differ.
 * @param {Ratio|null} of
 */
function leftOpen(of) {
  return of?.ends ? Math.max(of.ends[1], 1 / of.ends[0]) - 1 : null;
}

/**
 * What is said of two services; nothing if they are no pair of the run. The one that needs more CPU time stands first, whichever was
 * asked for first: a ratio is the larger figure over the smaller.
 * @param {Table} main
 * @param {Table} pairs
 * @param {[string, string]} names
 */
export function sentence(main, pairs, names) {
  let found = rowOf(pairs, names);
  if (!found) return null;
  const { key } = costOf(main);
  const costs = names.map((name) => own(main, name, key));
  const asked = ratio(pairs, found, key);
  const isLess = asked ? asked.value < 1 : costs[0] !== null && costs[1] !== null && costs[0].value < costs[1].value;
  if (isLess) {
    names = [names[1], names[0]];
    costs.reverse();
    found = { row: found.row, inverse: !found.inverse };
  }
  const [cpu, throughput] = [ratio(pairs, found, key), ratio(pairs, found, "throughput_ratio")];
  const separated = found.row[place(pairs, "separated")];
  return [
    answer(main, names, cpu, costs, separated),
    ...more(main, names, cpu, throughput, number(found.row, place(pairs, "blocks")), separated),
    ...(separated === false ? excluded(pairs, found.row, cpu, throughput) : []),
    ...beside(main, names),
  ].join(" ");
}

/** What services are compared by: the CPU time of their database counts too, where they have one. @param {Table} main */
function costOf(main) {
  const hasDatabase = place(main, "total_cpu_ratio") >= 0;
  return hasDatabase ? { key: "total_cpu_ratio", what: "CPU time per request with the database" } : { key: "cpu_ratio", what: "CPU time per request" };
}

/**
 * @param {Table} main
 * @param {[string, string]} names
 * @param {Ratio|null} cpu
 * @param {(Ratio|null)[]} costs What both need of the reference.
 * @param {Value} separated
 */
function answer(main, [one, other], cpu, costs, separated) {
  const [first, second] = costs;
  const { what } = costOf(main);
  let figures = `There is no valid ratio of the ${what} of ${one} and ${other}`;
  if (cpu) figures = `${one} needs ${timesOf(cpu, other, what)}`;
  else if (first && second) figures = `${one} needs ${timesOf(first, reference(main), what)}, and ${other} ${times(second)}${interval(second)}`;
  return `${separated === false ? `The data do not separate ${one} and ${other}: ` : ""}${figures}.`;
}

/**
 * The ratio of throughputs, and why there is no interval.
 * @param {Table} main
 * @param {[string, string]} names
 * @param {Ratio|null} cpu
 * @param {Ratio|null} throughput
 * @param {number|null} blocks
 * @param {Value} separated
 */
function more(main, names, cpu, throughput, blocks, separated) {
  const lines = [];
  if (throughput) {
    const [faster, slower] = throughput.value >= 1 ? names : [names[1], names[0]];
    lines.push(`${faster} has ${timesOf(throughput.value >= 1 ? throughput : inverse(throughput), slower, "throughput")}.`);
  }
  if (separated === null) lines.push("There are too few blocks to say whether they differ.");
  if (!cpu?.ends) lines.push(...without(main, names, cpu, blocks));
  if (!throughput && names.some((name) => own(main, name, "requests_per_second") === null)) {
    lines.push("There is no valid ratio of their throughputs.");
  }
  return lines;
}

/**
 * Why a pair has no interval, and what gives it one: as `without` of parts/site/src/words.rs.
 * @param {Table} main
 * @param {[string, string]} names
 * @param {Ratio|null} cpu
 * @param {number|null} blocks
 */
function without(main, names, cpu, blocks) {
  const { key, what } = costOf(main);
  const lacking = cpu ? [] : names.filter((name) => own(main, name, key) === null);
  if (lacking.length > 0) {
    return [`${lacking.join(" and ")} ${lacking.length > 1 ? "have" : "has"} no valid ${what}, so there is no ratio of the pair.`,
      "It takes a run in which both have one."];
  }
  const reason = ["No block had both of them, so there is no interval of the pair.", "One block had both of them, and an interval takes two."][blocks ?? -1];
  const few = cpu ? "Too few starts had both of them for an interval." : "A block of both lacks the CPU time of one of them.";
  return [reason ?? few, "A run of these two alone puts both into every block."];
}

/** The service that ratios are related to. @param {Table} main */
function reference(main) {
  const row = main.rows.find((row) => row[place(main, "is_reference")] === true && number(row, place(main, costOf(main).key)) === 1);
  return String(row?.[place(main, "label")] ?? "the reference");
}

/**
 * A figure of one service.
 * @param {Table} main
 * @param {string} name
 * @param {string} key
 * @returns {Ratio|null}
 */
function own(main, name, key) {
  const [label, at] = [place(main, "label"), place(main, key)];
  const row = main.rows.find((row) => row[label] === name);
  const value = row ? number(row, at) : null;
  return row && value !== null ? { value, ends: ends(main, main.columns[at], row), bound: null } : null;
}

/**
 * What both have of their own.
 * @param {Table} main
 * @param {[string, string]} names
 */
function beside(main, names) {
  const of = (/** @type {string} */ key, /** @type {string} */ title) => {
    const unit = main.columns[place(main, key)]?.unit;
    const texts = names.map((name) => {
      const figure = own(main, name, key);
      return figure && `${name} ${show(unit, figure.value)}`;
    });
    return texts.includes(null) ? [] : [`${title}: ${texts.join(", ")}.`];
  };
  return [...of("latency_ns_p99", "p99"), ...of("rss_bytes_peak", "Peak memory")];
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
