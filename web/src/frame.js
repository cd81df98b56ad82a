// Where a chart has its axes, and what stands at them. Every axis runs in equal steps in the coordinates of `axis.js`, so
// that a place in the picture is found by the rule of three.

import { axis } from "./axis.js";
import { svg } from "./dom.js";
import { extent } from "./series.js";
import { broken, cut, textWidth } from "./text.js";

/** @import { Axis } from "./axis.js" */
/** @import { Chart, Column, Scale, Table, Unit } from "./data.js" */
/** @import { Look } from "./looks.js" */
/** @import { Drawing, Series } from "./series.js" */
/**
 * @typedef {object} Request
 * @property {Table} table
 * @property {Chart} chart
 * @property {Column} x
 * @property {Column} y
 * @property {Drawing} drawing
 * @property {Series[]} series Those that have a colour.
 * @property {Series[]} others Those that are grey, behind them.
 * @property {Series[]} neighbours Of other charts with the same axes.
 * @property {(name: string) => Look} look
 * @property {number} width
 */
/**
 * @typedef {object} Frame
 * @property {number} left Of the rectangle between the axes.
 * @property {number} top
 * @property {number} right
 * @property {number} bottom
 * @property {number} high Of the whole picture.
 * @property {Axis} x
 * @property {Axis} y
 * @property {(x: number) => number} toX Pixels of a coordinate.
 * @property {(y: number) => number} toY
 * @property {number} row Pixels from one name at the vertical axis to the next.
 * @property {Map<string, string[]>} names The lines of each of them.
 * @property {number} room Pixels for names at the ends of lines.
 */

/** Up to here, lines have their names at the end. */
const END_LABELS_MAX = 12;
/** As wide may all of them be, and as a share of a wide chart: names of cells begin alike. */
const END_LABEL_WIDTH = { least: 96, share: 0.28 };
/** Whiskers may go this many powers of ten beyond all points. */
const WHISKER_DECADES = 0.5;
/** Pixels of a line of a name at an axis. */
const NAME_HEIGHT = 14;
/** Pixels of a row of points, with names above and below it. */
const POINTS_HEIGHT = 30;
/** Pixels of numbers and of the title below the horizontal axis. */
const BELOW = 46;
/** Pixels above the plot: the title of the vertical axis, where it has one. */
const ABOVE = 26;
/** Pixels between numbers at an axis, and from the axis. */
const GAP = 8;
/** Pixels that a number at the horizontal axis has. */
const TICK_WIDTH = 96;
const SIZE = 12;
const TEXT = { fill: "var(--muted)", "font-size": SIZE };
/** Pixels of names at the ends of lines. */
export const END_SIZE = 11;

/** Whose length is a figure: such an axis begins at nothing. @param {Chart} chart */
const isLength = ({ shape, against }) => shape === "bars" || against !== undefined;

/**
 * How high a plot is.
 * @param {Request} request
 */
export function height({ chart, drawing, series, width }) {
  if (chart.y_scale !== "names") return width < 520 ? 300 : 340;
  // Bars of several series stand below each other; points of them in one line.
  const each = series.length > 1 && chart.shape === "bars" ? 12 * series.length + 8 : chart.shape === "points" ? POINTS_HEIGHT : 18;
  return Math.max(drawing.categories.length, 1) * Math.max(each, named(drawing, width).lines * NAME_HEIGHT + 4) + 6 + BELOW;
}

/**
 * How wide names at an axis are, and in how many lines each is: two, where one would take the room of the plot.
 * @param {Drawing} drawing
 * @param {number} width
 */
function named({ categories }, width) {
  const most = width < 520 ? Math.max(92, width * 0.4) : Math.min(Math.max(190, width * 0.3), 340);
  const longest = Math.max(0, ...categories.map((name) => textWidth(name, SIZE)));
  // Where a word ends is not where a line is full.
  const wide = longest <= most * 0.8 ? longest + 2 : Math.min(most, Math.max(92, longest / 2 + 24));
  const names = new Map(categories.map((name) => [name, broken(name, wide, SIZE)]));
  return { wide: Math.ceil(wide), names, lines: Math.max(1, ...[...names.values()].map((lines) => lines.length)) };
}

/**
 * The numbers at an axis of a request, about as many.
 * @param {Request} request
 * @param {"x"|"y"} way
 * @param {number} count
 * @returns {Axis}
 */
function axisOf({ chart, x, y, drawing, series, others, neighbours }, way, count) {
  const [scale, unit] = way === "x" ? [chart.x_scale, x.unit] : [chart.y_scale, y.unit];
  if (scale === "names") {
    const ticks = drawing.categories.map((text, at) => ({ at, text }));
    return { min: -0.5, max: Math.max(ticks.length, 1) - 0.5, ticks };
  }
  let [low, high] = extent([...series, ...others, ...neighbours], way, scale === "log" ? WHISKER_DECADES : Infinity);
  if (isLength(chart) && scale === "linear") [low, high] = [Math.min(0, low), Math.max(0, high)];
  return axis(scale, unit, low, high, count);
}

/**
 * @param {Request} request
 * @returns {Frame}
 */
export function frame(request) {
  const { chart, drawing, series, width } = request;
  const high = height(request);
  const y = axisOf(request, "y", 6);
  const hasNames = chart.y_scale === "names";
  const { wide, names } = named(hasNames ? drawing : { ...drawing, categories: [] }, width);
  const left = 4 + GAP + Math.ceil(hasNames ? wide : Math.max(0, ...y.ticks.map((one) => textWidth(one.text, SIZE))));
  const ends = width > 640 && chart.shape === "lines" && chart.series !== null && series.length > 0 && series.length <= END_LABELS_MAX;
  const longest = ends ? Math.max(...series.map((one) => textWidth(one.title, END_SIZE))) : 0;
  const room = ends ? Math.min(Math.ceil(longest) + 2, Math.max(END_LABEL_WIDTH.least, Math.floor(width * END_LABEL_WIDTH.share))) : 0;
  const right = width - (ends ? room + 26 : isLength(chart) ? 64 : 22);
  const x = axisOf(request, "x", Math.max(2, Math.floor((right - left) / TICK_WIDTH)));
  const [top, bottom] = [hasNames ? 6 : ABOVE, high - BELOW];
  const toX = (/** @type {number} */ at) => left + ((at - x.min) / (x.max - x.min)) * (right - left);
  const part = (/** @type {number} */ at) => ((at - y.min) / (y.max - y.min)) * (bottom - top);
  // Names run from the top, as the rows of a table.
  const toY = (/** @type {number} */ at) => (hasNames ? top + part(at) : bottom - part(at));
  const row = hasNames ? (bottom - top) / Math.max(drawing.categories.length, 1) : 0;
  return { left, top, right, bottom, high, x, y, toX, toY, row, names, room };
}

/** A place in the picture: a tenth of a pixel is not seen. @param {number} number */
export const round = (number) => Math.round(number * 10) / 10;

/**
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {Record<string, string|number>} [more]
 */
export function words(text, x, y, more = {}) {
  return svg("text", { ...TEXT, "dominant-baseline": "central", x: round(x), y: round(y), ...more }, document.createTextNode(text));
}

/**
 * Of the numbers at an axis those that have room, beginning with the first.
 * @param {Axis["ticks"]} ticks
 * @param {(at: number) => number} to
 * @param {number} width Of the picture.
 */
function spaced(ticks, to, width) {
  let free = -Infinity;
  return ticks.flatMap(({ at, text }) => {
    const half = textWidth(text, SIZE) / 2;
    const middle = Math.min(Math.max(to(at), half + 1), width - half - 1);
    if (middle - half < free) return [];
    free = middle + half + GAP;
    return [{ at, text, middle }];
  });
}

/** What all are related to, at an axis of ratios. @type {Partial<Record<Unit, string>>} */
const REFERENCES = { times: "1x", change: "+0%", share: "100%" };

/**
 * Whether it is that: shares in equal steps are of a whole.
 * @param {Column} column
 * @param {Scale} scale
 * @param {string} text
 */
const isReference = ({ unit }, scale, text) => REFERENCES[unit] === text && (unit !== "share" || scale === "log");

/**
 * Both axes with their titles, and lines at their numbers.
 * @param {Request} request
 * @param {Frame} of
 */
export function axes({ chart, x, y, width }, of) {
  const { left, top, right, bottom, toX, toY } = of;
  /** @type {Element[]} */
  const texts = [];
  const [faint, strong, related] = [/** @type {string[]} */ ([]), [`M${left},${bottom}H${right}`], /** @type {string[]} */ ([])];
  if (chart.y_scale === "names") {
    strong.push(`M${left},${top}V${bottom}`);
    for (const { at, text } of of.y.ticks) {
      const lines = of.names.get(text) ?? [text];
      const first = toY(at) - ((lines.length - 1) / 2) * NAME_HEIGHT;
      const look = { fill: "var(--ink)", "text-anchor": "end" };
      texts.push(...lines.map((line, place) => words(cut(line, left - GAP, SIZE), left - GAP, first + place * NAME_HEIGHT, look)));
    }
  } else {
    for (const { at, text } of of.y.ticks) {
      (isReference(y, chart.y_scale, text) ? related : faint).push(`M${left},${round(toY(at))}H${right}`);
      texts.push(words(text, left - GAP, toY(at), { "text-anchor": "end" }));
    }
    texts.push(words(cut(y.title, width - 8, SIZE), 4, 9, { "font-weight": 600 }));
  }
  if (chart.x_scale === "names") texts.push(...below(of, width));
  else {
    for (const { at, text } of of.x.ticks) (isReference(x, chart.x_scale, text) ? related : faint).push(`M${round(toX(at))},${top}V${bottom}`);
    for (const { at, text, middle } of spaced(of.x.ticks, toX, width)) {
      strong.push(`M${round(toX(at))},${bottom}v5`);
      texts.push(words(text, middle, bottom + 15, { "text-anchor": "middle" }));
    }
  }
  texts.push(words(cut(x.title, width - 8, SIZE), right, bottom + 35, { "text-anchor": "end", "font-weight": 600 }));
  const line = (/** @type {string[]} */ d, /** @type {object} */ more) => svg("path", { d: d.join(""), fill: "none", ...more });
  return svg("g", {}, line(faint, { stroke: "var(--line)" }), line(related, { stroke: "var(--strong-line)", "stroke-dasharray": "3 3" }),
    line(strong, { stroke: "var(--strong-line)" }), ...texts);
}

/**
 * Names at the horizontal axis: in two lines where one has no room, and not all of them where two have none.
 * @param {Frame} of
 * @param {number} width Of the picture.
 */
function below({ left, right, bottom, x, toX }, width) {
  const each = (right - left) / Math.max(x.ticks.length, 1);
  const longest = Math.max(0, ...x.ticks.flatMap((one) => one.text.split(" ")).map((word) => textWidth(word, SIZE)));
  const step = Math.max(1, Math.ceil((Math.min(longest, 120) + GAP) / each));
  return x.ticks.filter((_, place) => place % step === 0).flatMap(({ at, text }) => {
    const room = Math.min(each * step - GAP / 2, 2 * toX(at), 2 * (width - toX(at)));
    const [first, ...rest] = broken(text, room - GAP / 2, SIZE);
    const lines = rest.length === 0 ? [first] : [first, rest.join(" ")];
    return lines.map((line, place) =>
      words(cut(line, room, SIZE), toX(at), bottom + 11 + place * 12, { fill: "var(--ink)", "text-anchor": "middle" }));
  });
}
