// How a series looks: a service has one colour, one symbol and one dash in all charts of a page. Neighbours differ in the
// first two, so that a reader who sees no difference between two colours sees one between two symbols.

import { svg } from "./dom.js";

/** @import { Tone } from "./data.js" */
/** @typedef {{ color: string, symbol: string, dash: "solid"|number[] }} Look `symbol` is a path of relative steps. */

const COLORS = 7;

/** Paths of relative steps around a point: a chart and a legend draw the same. */
const SYMBOLS = [
  "m-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z",
  "m0,-4.5l4.5,8.3h-9z",
  "m-3.6,-3.6h7.2v7.2h-7.2z",
  "m0,-5l5,5l-5,5l-5,-5z",
  "m0,4.5l4.5,-8.3h-9z",
  "m-1.4,-4.4h2.8v3h3v2.8h-3v3h-2.8v-3h-3v-2.8h3z",
];

/** @type {("solid"|number[])[]} */
const DASHES = ["solid", [6, 3], [2, 3]];

/**
 * What is no service but what came out of a comparison: the same colour and symbol in every page, in tables as in charts.
 * @type {Record<Tone, Look>}
 */
const OF_TONE = {
  good: { color: "var(--good)", symbol: SYMBOLS[0], dash: "solid" },
  bad: { color: "var(--bad)", symbol: SYMBOLS[1], dash: "solid" },
  open: { color: "var(--muted)", symbol: SYMBOLS[2], dash: "solid" },
};

/** Of no service and of no outcome: for legends of what a hollow symbol and a grey line mean. @type {Look} */
export const NO_LOOK = { color: "var(--muted)", symbol: SYMBOLS[0], dash: "solid" };

/**
 * Of a part of a bar, by its place: the colours that are told apart most easily.
 * @param {number} at
 * @returns {Look}
 */
export function partLook(at) {
  return { color: `var(--s${at % COLORS})`, symbol: SYMBOLS[2], dash: "solid" };
}

/**
 * @param {string[]} order Names in the order of the main table: the first ones are told apart most easily.
 * @param {Map<string, Tone>} [tones] Of the words that say how something came out.
 */
export function looks(order, tones = new Map()) {
  const places = new Map(order.map((name, at) => [name, at]));
  /** @param {string} name @returns {Look} */
  return (name) => {
    let at = places.get(name);
    const tone = at === undefined ? tones.get(name) : undefined;
    if (tone) return OF_TONE[tone];
    if (at === undefined) {
      at = places.size;
      places.set(name, at);
    }
    return {
      color: `var(--s${at % COLORS})`,
      symbol: SYMBOLS[at % SYMBOLS.length],
      dash: DASHES[Math.floor(at / COLORS) % DASHES.length],
    };
  };
}

/**
 * A piece of a series, for a legend.
 * @param {Look} look
 * @param {boolean} line
 * @param {boolean|null} [hollow] Null has no symbol.
 */
export function swatch(look, line, hollow = false) {
  const path = `M0,0${look.symbol}`;
  const picture = svg("svg", { width: line ? 22 : 11, height: 11, "aria-hidden": "true", viewBox: line ? "-11 -5.5 22 11" : "-5.5 -5.5 11 11" });
  if (line) {
    const dash = look.dash === "solid" ? "none" : look.dash.join(" ");
    picture.append(svg("line", { x1: -11, x2: 11, stroke: look.color, "stroke-width": 2, "stroke-dasharray": dash }));
  }
  if (hollow !== null) picture.append(svg("path", hollow ? { d: path, fill: "var(--paper)", stroke: look.color, "stroke-width": 1.5 } : { d: path, fill: look.color }));
  return picture;
}
