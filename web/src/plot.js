// A chart as an SVG: its axes, what is between them, and the names of its lines.

import { svg } from "./dom.js";
import { END_SIZE, axes, frame, round, words } from "./frame.js";
import { bands, bars, bounds, greyLine, labels, line, points, published } from "./marks.js";
import { cut } from "./text.js";

/** @import { Frame, Request } from "./frame.js" */
/** @import { Point } from "./series.js" */
/**
 * @typedef {object} Plot
 * @property {SVGElement} picture
 * @property {(point: Point) => [number, number]} at Where a point is.
 * @property {Map<string, Element>} lines What is drawn of each series, by its name.
 */

/** Pixels from the name of a line to the next. */
const LABEL_HEIGHT = 13;

/**
 * @param {Request} request
 * @returns {Plot}
 */
export function plot(request) {
  const { chart, series, others, width } = request;
  const of = frame(request);
  /** @type {Map<string, Element>} */
  const lines = new Map();
  const noted = (/** @type {string} */ name, /** @type {Element[]} */ parts) => {
    const group = svg("g", {}, ...parts);
    lines.set(name, group);
    return group;
  };
  const drawn = { bars, lines: line, points, flame: points }[chart.shape];
  const picture = svg(
    "svg",
    { width, height: of.high, viewBox: `0 0 ${width} ${of.high}`, "aria-hidden": "true" },
    ...bands(request, of),
    axes(request, of),
    ...others.map((one) => noted(one.name, [greyLine(request, of, one)])),
    ...(chart.shape === "bars" ? [] : bounds(request, of)),
    ...series.map((one, at) => noted(one.name, drawn(request, of, one, at))),
    ...(chart.shape === "bars" ? bounds(request, of) : []),
    ...published(request, of),
    ...labels(request, of),
    ...(of.room > 0 ? endLabels(request, of) : []),
  );
  return { picture, at: (point) => [of.toX(point.x), of.toY(point.y)], lines };
}

/**
 * The name of each line beside the plot, as high as it ends, or as near as other names allow; then a thin line leads there.
 * @param {Request} request
 * @param {Frame} frame
 * @returns {Element[]}
 */
function endLabels({ series, look }, { right, top, bottom, toX, toY, room }) {
  const ends = series.flatMap((one) => {
    const last = one.points.findLast((point) => !point.apart);
    return last ? [{ name: one.name, title: one.title, x: toX(last.x), y: toY(last.y), at: 0 }] : [];
  });
  ends.sort((one, other) => one.y - other.y);
  let free = top;
  for (const one of ends) {
    one.at = Math.max(one.y, free);
    free = one.at + LABEL_HEIGHT;
  }
  // Up again, where that went below the axis.
  free = bottom;
  for (const one of [...ends].reverse()) {
    one.at = Math.min(one.at, free);
    free = one.at - LABEL_HEIGHT;
  }
  return ends.flatMap(({ name, title, x, y, at }) => {
    const text = words(cut(title, room, END_SIZE), right + 22, at, { fill: "var(--ink)", "font-size": END_SIZE });
    const d = `M${round(x + 6)},${round(y)}H${round(Math.max(right, x) + 6)}L${right + 19},${round(at)}`;
    return [svg("path", { d, fill: "none", stroke: look(name).color, "stroke-width": 1, opacity: 0.55, "stroke-dasharray": "1 2" }), text];
  });
}
