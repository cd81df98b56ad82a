// What a chart draws between its axes.

import { svg } from "./dom.js";
import { show } from "./figures.js";
import { round, words } from "./frame.js";
import { partLook } from "./looks.js";
import { textWidth } from "./text.js";

/** @import { Frame, Request } from "./frame.js" */
/** @import { Look } from "./looks.js" */
/** @import { Drawing, Point, Series } from "./series.js" */
/** @typedef {Record<string, string|number>} Style */

/** Up to here, every point of a line has its symbol. */
const SYMBOLS_MAX = 30;
/** From here on, points are small. */
const SMALL_MIN = 500;
/** Up to here, whiskers can be told apart. */
const WHISKERS_MAX = 400;
/** Up to here, points are labelled where there is room. */
const LABELS_MAX = 120;
/** Pixels of the mark across a row: nearly all of it. */
const BOUND_HEIGHT = 20;
/** Pixels of a bar; of less, where several stand below each other. */
const BAR_HEIGHT = 14;
/** Pixels of figures beside what they are of. */
const FIGURE = { fill: "var(--ink)", "font-size": 11 };
const LABEL_SIZE = 11.5;
/** How much larger a symbol is than in a legend. */
const LARGE = 1.15;

/**
 * @param {string} d
 * @param {Style} style
 */
const path = (d, style) => svg("path", { d, fill: "none", ...style });

/** @param {number} x @param {number} y */
const to = (x, y) => `${round(x)},${round(y)}`;

/**
 * Symbols of points, as one path: thousands of elements would be slow.
 * @param {Frame} frame
 * @param {Point[]} points
 * @param {Look} look
 * @param {{ scale?: number, hollow?: boolean, small?: boolean }} [more]
 * @returns {Element[]}
 */
function symbols({ toX, toY }, points, { color, symbol }, { scale = 1, hollow = false, small = false } = {}) {
  const shape = small ? "m-2.5,0a2.5,2.5 0 1,0 5,0a2.5,2.5 0 1,0 -5,0z" : scaled(symbol, scale);
  /** @type {Style} */
  const style = hollow ? { fill: "var(--paper)", stroke: color, "stroke-width": 1.75 } : { fill: color };
  const d = points.map((point) => `M${to(toX(point.x), toY(point.y))}${shape}`).join("");
  return points.length === 0 ? [] : [path(d, { class: "symbols", ...style })];
}

/**
 * A path of relative steps, larger.
 * @param {string} symbol
 * @param {number} by
 */
function scaled(symbol, by) {
  // Flags of arcs stay as they are.
  return symbol.replace(/ 0 1,0 |-?[\d.]+/g, (found) => (found.startsWith(" ") ? found : String(round(Number(found) * by))));
}

/**
 * The line through points, interrupted where something between two of them was not measured.
 * @param {Frame} frame
 * @param {Point[]} points
 * @param {Drawing["steps"]} steps
 */
function joined({ toX, toY }, points, steps) {
  const place = (/** @type {Point} */ point) => steps?.get(point.x) ?? 0;
  return points.map((point, at) => {
    const [before, after] = [points[at - 1], points[at + 1]];
    const begins = !before || (steps !== null && place(point) - place(before) > 1);
    const ends = !after || (steps !== null && place(after) - place(point) > 1);
    const [x, y] = [toX(point.x), toY(point.y)];
    // One that stands alone would be a line without length.
    if (begins && ends) return `M${to(x - 1.5, y)}h3`;
    return `${begins ? "M" : "L"}${to(x, y)}`;
  }).join("");
}

/**
 * @param {Request} request
 * @param {Frame} frame
 * @param {Series} series
 * @returns {Element[]}
 */
export function line(request, frame, series) {
  const look = request.look(series.name);
  const [solid, apart] = [series.points.filter((point) => !point.apart), series.points.filter((point) => point.apart)];
  const total = request.series.reduce((sum, one) => sum + one.points.length, 0);
  // Some points of a long series have a symbol: they tell it from others, without hiding it.
  const every = solid.length <= SYMBOLS_MAX ? 1 : Math.ceil(solid.length / 10);
  const marked = solid.filter((_, at) => at % every === Math.floor(every / 2));
  const width = solid.length > 100 ? 1.25 : 2;
  /** @type {Style} */
  const style = { class: "line", stroke: look.color, "stroke-width": width, "stroke-linejoin": "round" };
  if (look.dash !== "solid") style["stroke-dasharray"] = look.dash.join(" ");
  return [
    ...(total <= WHISKERS_MAX ? whiskers(request, frame, series, look.color) : []),
    path(joined(frame, solid, request.drawing.steps), style),
    ...symbols(frame, marked, look, { scale: 0.9 }),
    ...symbols(frame, apart, look, { hollow: true }),
  ];
}

/**
 * A line that is there to compare with.
 * @param {Request} request
 * @param {Frame} frame
 * @param {Series} series
 */
export function greyLine(request, frame, series) {
  const d = joined(frame, series.points.filter((point) => !point.apart), request.drawing.steps);
  return path(d, { class: "line", stroke: "var(--strong-line)", "stroke-width": 1, opacity: 0.6 });
}

/**
 * @param {Request} request
 * @param {Frame} frame
 * @param {Series} series
 * @returns {Element[]}
 */
export function points(request, frame, series) {
  const total = request.drawing.points;
  // Without series, a point is a service, and looks as it does elsewhere.
  const isAlone = series.name === "" && total <= WHISKERS_MAX;
  const groups = isAlone ? series.points.map((point) => ({ name: point.name, title: point.title, points: [point] })) : [series];
  return groups.flatMap((group) => {
    const look = request.look(group.name);
    const [solid, apart] = [group.points.filter((point) => !point.apart), group.points.filter((point) => point.apart)];
    const size = { scale: LARGE, small: total > SMALL_MIN };
    return [
      ...(total <= WHISKERS_MAX ? whiskers(request, frame, group, look.color) : []),
      ...symbols(frame, solid, look, size),
      ...symbols(frame, apart, look, { hollow: true }),
    ];
  });
}

/**
 * @param {Request} request
 * @param {Frame} frame
 * @param {Series} series
 * @param {number} at Which of several bars of a row.
 * @returns {Element[]}
 */
export function bars(request, frame, series, at) {
  const { chart, x } = request;
  const { toX, toY } = frame;
  const alone = request.series.length === 1;
  const isLog = chart.x_scale === "log";
  const color = alone ? `var(--${isLog ? "accent" : "bar"})` : request.look(series.name).color;
  const { high, shift } = bar(request, frame, at);
  const base = toX(0);
  const made = series.points.flatMap((point) => {
    const [end, y] = [toX(point.x), toY(point.y) + shift];
    const drawn = [];
    // The length of a bar means nothing on an axis that does not begin at nothing: there, the place of a point does.
    if (isLog) drawn.push(...symbols(frame, [point], { color, symbol: CIRCLE, dash: "solid" }, { scale: LARGE, hollow: point.apart }));
    else if (point.parts) drawn.push(...stacked(frame, point.parts, y - high / 2, high));
    else drawn.push(rectangle(base, end, y - high / 2, high, point.apart ? { ...DASHED, stroke: color } : { fill: color }));
    const edge = isLog ? end + 4 : Math.max(end, base);
    if ((alone || point.parts) && !point.xEnds) drawn.push(figure(edge, y, show(x.unit, value(request, point))));
    return drawn;
  });
  return [...made, ...whiskers(request, frame, series, "var(--whisker)", shift, alone || chart.stack !== undefined)];
}

const CIRCLE = "m-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z";
const DASHED = { fill: "var(--paper)", "stroke-width": 1.5, "stroke-dasharray": "4 3" };

/**
 * How high a bar is, and how far from the middle of its row.
 * @param {Request} request
 * @param {Frame} frame
 * @param {number} at
 */
function bar({ series: { length } }, { row }, at) {
  const gap = 1.15;
  const high = Math.min(BAR_HEIGHT, (row * 0.8) / (1 + (length - 1) * gap));
  return { high, shift: (at - (length - 1) / 2) * high * gap };
}

/**
 * @param {number} from
 * @param {number} end
 * @param {number} y
 * @param {number} high
 * @param {Style} style
 */
function rectangle(from, end, y, high, style) {
  const width = round(Math.max(Math.abs(end - from), 0.5));
  return svg("rect", { x: round(Math.min(from, end)), y: round(y), width, height: round(high), ...style });
}

/**
 * The parts of a bar, one behind the other.
 * @param {Frame} frame
 * @param {number[]} parts
 * @param {number} y
 * @param {number} high
 */
function stacked({ toX }, parts, y, high) {
  let sum = 0;
  return parts.flatMap((part, at) => {
    const from = sum;
    sum += part;
    return part === 0 ? [] : [rectangle(toX(from), toX(sum), y, high, { fill: partLook(at).color })];
  });
}

/**
 * @param {Request} request
 * @param {Point} point
 */
function value({ table, x }, point) {
  const found = table.rows[point.row][table.columns.indexOf(x)];
  return typeof found === "number" ? found : 0;
}

/**
 * A figure beside what it is of.
 * @param {number} x
 * @param {number} y
 * @param {string} text
 */
const figure = (x, y, text) => words(text, x + 7, y, FIGURE);

/**
 * Intervals as lines with ends.
 * @param {Request} request
 * @param {Frame} frame
 * @param {Series} series
 * @param {string} color
 * @param {number} [shift] How much lower.
 * @param {boolean} [isNamed] Whether its figure stands beside each.
 * @returns {Element[]}
 */
function whiskers(request, { left, right, toX, toY }, series, color, shift = 0, isNamed = false) {
  const isBar = request.chart.shape === "bars";
  const [whole, cuts, heads] = [/** @type {string[]} */ ([]), /** @type {string[]} */ ([]), /** @type {string[]} */ ([])];
  /** @type {Element[]} */
  const figures = [];
  for (const point of series.points) {
    const [x, y] = [toX(point.x), toY(point.y) + shift];
    if (point.xEnds) {
      const [from, end] = point.xEnds.map(toX);
      const [one, other] = [Math.max(from, left), Math.min(end, right + (isBar ? 40 : 0))];
      const isCut = one > from + 1 || other < end - 1;
      (isCut ? cuts : whole).push(`M${to(one, y)}H${round(other)}`);
      heads.push(head(one, y, one > from + 1 ? 5 : 0), head(other, y, other < end - 1 ? -5 : 0));
      if (isNamed) figures.push(figure(Math.max(other, x), y, show(request.x.unit, value(request, point))));
    }
    if (point.yEnds) {
      const [from, end] = point.yEnds.map(toY);
      whole.push(`M${to(x, from)}V${round(end)}M${to(x - 3.5, from)}h7M${to(x - 3.5, end)}h7`);
    }
  }
  if (whole.length + cuts.length === 0) return [];
  const style = { stroke: color, "stroke-width": isBar ? 1.25 : 1, opacity: isBar ? 1 : 0.55 };
  const dashed = cuts.length === 0 ? [] : [path(cuts.join(""), { ...style, "stroke-dasharray": "4 4" })];
  return [path(whole.join("") + heads.join(""), style), ...dashed, ...figures];
}

/**
 * The end of a whisker, or the head of an arrow where it leaves the plot.
 * @param {number} x
 * @param {number} y
 * @param {number} by Which way it leaves; 0 where it does not.
 */
const head = (x, y, by) => (by === 0 ? `M${to(x, y - 3.5)}v7` : `M${to(x + by, y - 3.5)}L${to(x, y)}L${to(x + by, y + 3.5)}`);

/**
 * How far the figure of each row may go: a dashed mark across it.
 * @param {Request} request
 * @param {Frame} frame
 * @returns {Element[]}
 */
export function bounds({ series }, { toX, toY }) {
  const d = series.flatMap(({ points }) => points.flatMap(({ bound, y }) =>
    bound === null ? [] : [`M${to(toX(bound), toY(y) - BOUND_HEIGHT / 2)}v${BOUND_HEIGHT}`]));
  return d.length === 0 ? [] : [path(d.join(""), { stroke: "var(--ink)", "stroke-width": 1.5, "stroke-dasharray": "3 2" })];
}

/**
 * The range that was claimed of each row, behind what was found; an open end goes to the edge of the plot.
 * @param {Request} request
 * @param {Frame} frame
 * @returns {Element[]}
 */
export function bands({ series }, { left, right, toX, toY }) {
  return series.flatMap(({ points }) => points.flatMap(({ band, y }) => {
    if (!band) return [];
    const [from, end] = [band[0] === null ? left : toX(band[0]), band[1] === null ? right : toX(band[1])];
    return [rectangle(from, Math.max(end, from + 2), toY(y) - BOUND_HEIGHT / 2, BOUND_HEIGHT, { fill: "var(--claimed)" })];
  }));
}

/**
 * What was published of each row: hollow, in the colour of what was found, with a line between them and the figure behind both.
 * @param {Request} request
 * @param {Frame} frame
 * @returns {Element[]}
 */
export function published(request, { left, toX, toY }) {
  if (!request.chart.against) return [];
  return request.series.flatMap((series) => series.points.flatMap((point) => {
    const { color } = request.look(series.name || point.name);
    const [x, y] = [toX(point.x), toY(point.y)];
    const [there, low, high] = [point.against, point.xEnds?.[0], point.xEnds?.[1]].map((end) => toX(end ?? point.x));
    const text = show(request.x.unit, value(request, point));
    // Beside what was found, and not beside what was published.
    const wide = textWidth(text, FIGURE["font-size"]);
    const [before, behind] = [Math.min(x - 4, low) - wide - 14, Math.max(x + 4, high)];
    const isFree = there <= x || there - behind > wide + 20;
    const isRoom = before > left - 4;
    const made = [figure(isFree ? behind : isRoom ? before : Math.max(behind, there + 5), y, text)];
    if (point.against === null) return made;
    const [from, end] = there <= x ? [there + 5, x - 5] : [isFree ? behind + wide + 12 : x + 5, there - 5];
    const dotted = { stroke: color, "stroke-width": 1.5, "stroke-dasharray": "2 3", opacity: 0.8 };
    if (end - from > 3) made.push(path(`M${to(from, y)}H${round(end)}`, dotted));
    made.push(svg("circle", { cx: round(there), cy: round(y), r: 5, fill: "var(--paper)", stroke: color, "stroke-width": 1.75 }));
    return made;
  }));
}

/**
 * Names beside points, wherever one is free: of symbols, and of the names of points that came before.
 * @param {Request} request
 * @param {Frame} frame
 * @returns {Element[]}
 */
export function labels({ chart, series, drawing, width }, { left, top, bottom, toX, toY }) {
  if (chart.shape !== "points" || drawing.points > LABELS_MAX) return [];
  const all = series.flatMap((one) => one.points);
  // Who is named at the axis is not named again.
  if (all.every((point) => chart.y_scale === "names" && drawing.categories[point.y] === point.title)) return [];
  const isInside = (/** @type {number[]} */ box) => box[0] > left && box[1] > top - 4 && box[2] < width - 4 && box[3] < bottom;
  const taken = all.map((point) => around(toX(point.x), toY(point.y), 6, 6));
  for (const point of all) if (point.bound !== null) taken.push(around(toX(point.bound), toY(point.y), 2, BOUND_HEIGHT / 2));
  return all.flatMap((point) => {
    const letters = [...point.title];
    const text = letters.length > 26 ? `${letters.slice(0, 25).join("")}…` : point.title;
    const long = textWidth(text, LABEL_SIZE);
    const [x, y] = [toX(point.x), toY(point.y)];
    const [before, middle] = [x - 8 - long, x - long / 2];
    const places = [[x + 8, y - 9], [before, y - 9], [x + 8, y + 9], [before, y + 9], [x + 9, y], [middle, y - 16], [middle, y + 16]];
    const boxes = places.map(([left, at]) => [left, at - 8, left + long, at + 8]);
    const at = boxes.findIndex((box) => isInside(box) && !taken.some((other) => overlap(box, other)));
    if (at < 0) return [];
    taken.push(boxes[at]);
    return [words(text, places[at][0], places[at][1], { fill: "var(--ink)", "font-size": LABEL_SIZE })];
  });
}

/**
 * @param {number} x
 * @param {number} y
 * @param {number} wide
 * @param {number} high
 */
const around = (x, y, wide, high) => [x - wide, y - high, x + wide, y + high];

/**
 * @param {number[]} one Left, top, right and bottom.
 * @param {number[]} other
 */
const overlap = (one, other) => one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];
