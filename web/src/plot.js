// What the library is asked to draw. Every axis runs in equal steps in the coordinates of `axis.js`, so that the numbers at
// it are ours, and so that a place in the picture is found by the rule of three.

import { axis } from "./axis.js";
import { show } from "./figures.js";
import { partLook } from "./looks.js";
import { extent } from "./series.js";

/** @import { Axis } from "./axis.js" */
/** @import { Chart, Column, Table } from "./data.js" */
/** @import { Look } from "./looks.js" */
/** @import { Drawing, Point, Series } from "./series.js" */
/**
 * @typedef {object} Request
 * @property {Table} table
 * @property {Chart} chart
 * @property {Column} x
 * @property {Column} y
 * @property {Drawing} drawing
 * @property {Series[]} series Those that are switched on.
 * @property {Series[]} neighbours Of other charts with the same axes.
 * @property {(name: string) => Look} look
 * @property {number} width
 */

/** @typedef {{ room: number, shift: number }} EndLabel How wide it may be, and how much lower than its line it stands. */
/** @typedef {{ dataIndex: number, coordSys: { x: number, y: number, width: number, height: number } }} Item */

/** Up to here, every point of a line has its symbol. */
const SYMBOLS_MAX = 30;
/** From here on, points are small. */
const SMALL_MIN = 500;
/** Up to here, whiskers can be told apart. */
const WHISKERS_MAX = 400;
/** Up to here, points are labelled where there is room. */
const LABELS_MAX = 120;
/** Up to here, lines have their names at the end. */
const END_LABELS_MAX = 12;
/** Pixels from one of them to the next. */
const LABEL_HEIGHT = 13;
/** Pixels of the mark across a row: nearly all of it. */
const BOUND_HEIGHT = 20;
/** As wide may all of them be, and as a share of a wide chart: names of cells begin alike. */
const LABEL_WIDTH = { least: 112, share: 0.28 };

/** Whiskers may go this many powers of ten beyond all points. */
const WHISKER_DECADES = 0.5;

/** Pixels of a line of a name at an axis. */
const NAME_HEIGHT = 14;

/** Pixels of a row of points, with names above and below it. */
const POINTS_HEIGHT = 30;

const TEXT = { color: "var(--muted)", fontSize: 12 };

/**
 * How high a plot is.
 * @param {Request} request
 */
export function height({ chart, drawing, series, width }) {
  if (chart.y_scale !== "names") return width < 520 ? 300 : 400;
  // Bars of several series stand below each other; points of them in one line.
  const each = series.length > 1 && chart.shape === "bars" ? 12 * series.length + 8 : chart.shape === "points" ? POINTS_HEIGHT : 22;
  return Math.max(drawing.categories.length, 1) * Math.max(each, named(drawing, width).lines * NAME_HEIGHT + 4) + 56;
}

/**
 * How wide names at an axis are, and in how many lines each is: two, where one would take the room of the plot.
 * @param {Drawing} drawing
 * @param {number} width
 */
function named({ categories }, width) {
  const most = width < 520 ? Math.max(92, width * 0.4) : Math.min(Math.max(190, width * 0.3), 340);
  const longest = Math.max(0, ...categories.map((name) => textWidth(name, TEXT.fontSize)));
  // Where a word ends is not where a line is full.
  const wide = longest <= most * 0.8 ? longest + 2 : Math.min(most, Math.max(92, longest / 2 + 24));
  const broken = new Map(categories.map((name) => [name, broad(name, wide)]));
  return { wide: Math.ceil(wide), broken, lines: Math.max(1, ...[...broken.values()].map((lines) => lines.length)) };
}

/**
 * A name in lines of this width, as far as its words allow.
 * @param {string} name
 * @param {number} wide
 */
function broad(name, wide) {
  /** @type {string[]} */
  const lines = [];
  for (const word of name.split(" ")) {
    const longer = `${lines.at(-1) ?? ""} ${word}`.trim();
    if (lines.length > 0 && textWidth(longer, TEXT.fontSize) <= wide) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** @param {Request} request @returns {any} The types of the library name each kind of series by its own type. */
export function option(request) {
  const { chart, width } = request;
  const ends = width > 640 && chart.shape === "lines" && request.series.length <= END_LABELS_MAX && chart.series !== null;
  const room = ends ? labelWidth(request) : 0;
  const shifts = ends ? apartFromEachOther(request, room) : null;
  return {
    animation: false,
    textStyle: { fontFamily: family() },
    grid: { left: 8, right: ends ? room + 16 : chart.shape === "bars" || chart.against ? 64 : 22, top: chart.y_scale === "names" ? 6 : 26, bottom: 26, outerBoundsMode: "same", outerBoundsContain: "axisLabel" },
    xAxis: axisOption(request, "x"),
    yAxis: axisOption(request, "y"),
    series: [...bands(request), ...published(request), ...request.series.flatMap((series, at) => drawn(request, series, at, shifts && { room, shift: shifts[at] })), ...bounds(request), ...labels(request)],
  };
}

/**
 * @param {Request} request
 * @param {Series} series
 * @param {number} at
 * @param {EndLabel|null} label Its name stands where it ends.
 * @returns {object[]}
 */
function drawn(request, series, at, label) {
  if (request.chart.shape === "bars") return bars(request, series, at);
  return request.chart.shape === "lines" ? lines(request, series, label) : points(request, series, request.drawing.points);
}

/**
 * The numbers at an axis of a request.
 * @param {Request} request
 * @param {"x"|"y"} way
 * @returns {Axis}
 */
function axisOf({ chart, x, y, series, neighbours, width }, way) {
  const [scale, unit] = way === "x" ? [chart.x_scale, x.unit] : [chart.y_scale, y.unit];
  let [low, high] = extent([...series, ...neighbours], way, scale === "log" ? WHISKER_DECADES : Infinity);
  if ((chart.shape === "bars" || chart.against) && scale === "linear") [low, high] = [Math.min(0, low), Math.max(0, high)];
  return axis(scale, unit, low, high, way === "x" ? Math.max(2, Math.floor(width / 110)) : 6);
}

/**
 * @param {Request} request
 * @param {"x"|"y"} way
 */
function axisOption(request, way) {
  const { chart, drawing, width } = request;
  const column = way === "x" ? request.x : request.y;
  const scale = way === "x" ? chart.x_scale : chart.y_scale;
  const name = { name: column.title, nameTextStyle: { ...TEXT, fontWeight: 600 } };
  const title = way === "x" ? { ...name, nameLocation: "end", nameTextStyle: { ...name.nameTextStyle, align: "right", verticalAlign: "top", padding: [24, 0, 0, 0] } } : { ...name, nameTextStyle: { ...name.nameTextStyle, align: "left" } };
  // A coordinate of 0 is nothing special: it may be 1 on an axis of factors.
  const line = { show: true, onZero: false, lineStyle: { color: "var(--strong-line)" } };
  if (scale === "names") {
    const { wide, broken } = named(drawing, width);
    const formatter = (/** @type {string} */ name) => broken.get(name)?.join("\n") ?? name;
    // The library measures a little otherwise, and would cut what just fits.
    const label = { ...TEXT, color: "var(--ink)", width: wide + 8, overflow: "truncate", lineHeight: NAME_HEIGHT, formatter, interval: way === "y" ? 0 : "auto" };
    return {
      type: "category", data: drawing.categories, inverse: way === "y", axisLine: line, axisTick: { show: false }, axisLabel: label,
      ...(way === "x" ? title : {}),
    };
  }
  const { min, max, ticks } = axisOf(request, way);
  const texts = new Map(ticks.map((one) => [one.at, one.text]));
  const values = ticks.map((one) => one.at);
  return {
    type: "value", min, max, ...title, axisLine: { ...line, show: way === "x" }, axisTick: { show: way === "x", customValues: values },
    axisLabel: { ...TEXT, customValues: values, formatter: (/** @type {number} */ at) => texts.get(at) ?? nearest(ticks, at), hideOverlap: true },
    splitLine: { lineStyle: { color: "var(--line)" } },
  };
}

/**
 * The library may hand a number back with another last digit.
 * @param {Axis["ticks"]} ticks
 * @param {number} at
 */
function nearest(ticks, at) {
  return ticks.find((one) => Math.abs(one.at - at) <= 1e-6 * Math.max(1, Math.abs(at)))?.text ?? "";
}

/**
 * How wide names at the ends of lines are.
 * @param {Request} request
 */
function labelWidth({ series, width }) {
  const longest = Math.max(0, ...series.map((one) => textWidth(one.name, 11)));
  return Math.max(LABEL_WIDTH.least, Math.min(Math.ceil(longest) + 2, Math.floor(width * LABEL_WIDTH.share)));
}

/**
 * How much lower the name at the end of each line stands, so that names are a line of text apart.
 * @param {Request} request
 * @param {number} room How wide names are.
 * @returns {number[]}
 */
function apartFromEachOther(request, room) {
  const [x, y] = [axisOf(request, "x"), axisOf(request, "y")];
  const [wide, high] = [request.width - 78 - room, height(request) - 76];
  const ends = request.series.map(({ points }, at) => {
    const last = points.findLast((point) => !point.apart);
    return { at, x: last ? ((last.x - x.min) / (x.max - x.min)) * wide : 0, y: last ? ((y.max - last.y) / (y.max - y.min)) * high : 0 };
  });
  ends.sort((one, other) => one.y - other.y);
  const places = ends.map((one) => one.y);
  const areNear = (/** @type {number} */ one, /** @type {number} */ other) => Math.abs(ends[one].x - ends[other].x) < room;
  // Down, as far as those above need; and up again, where that went below the axis.
  for (let at = 0; at < places.length; at += 1) {
    for (let above = 0; above < at; above += 1) if (areNear(at, above)) places[at] = Math.max(places[at], places[above] + LABEL_HEIGHT);
  }
  for (let at = places.length - 1; at >= 0; at -= 1) {
    places[at] = Math.min(places[at], high);
    for (let below = places.length - 1; below > at; below -= 1) {
      if (areNear(at, below)) places[at] = Math.min(places[at], places[below] - LABEL_HEIGHT);
    }
  }
  const shifts = request.series.map(() => 0);
  ends.forEach((end, at) => (shifts[end.at] = places[at] - end.y));
  return shifts;
}

/** @param {Point} point */
const pair = (point) => [point.x, point.y];

/** Text that we place ourselves is not told it by the library. */
const family = () => getComputedStyle(document.body).fontFamily;

/** @type {CanvasRenderingContext2D|null|undefined} */
let pen;

/**
 * @param {string} text
 * @param {number} size
 */
function textWidth(text, size) {
  pen ??= document.createElement("canvas").getContext("2d");
  if (!pen) return text.length * size * 0.6;
  pen.font = `${size}px ${family()}`;
  return pen.measureText(text).width;
}

/**
 * Names beside points, wherever one is free: of symbols, and of the names of points that came before.
 * @param {Request} request
 * @returns {object[]}
 */
function labels({ chart, series, drawing, width }) {
  if (chart.shape !== "points" || drawing.points > LABELS_MAX) return [];
  // Who is named at the axis is not named again.
  const isNamed = (/** @type {Point} */ point) => chart.y_scale === "names" && drawing.categories[point.y] === point.name;
  const all = series.flatMap((one) => one.points);
  if (all.every(isNamed)) return [];
  const fontFamily = family();
  /** @type {number[][]|null} */
  let taken = null;
  return [{
    ...STILL, type: "custom", z: 5, data: all.map(pair),
    renderItem: (/** @type {Item} */ item, /** @type {{ coord: (pair: number[]) => number[] }} */ api) => {
      const grid = item.coordSys;
      const isInside = (/** @type {number[]} */ box) => box[0] > grid.x && box[1] > grid.y - 4 && box[2] < width - 4 && box[3] < grid.y + grid.height;
      if (item.dataIndex === 0 || !taken) {
        taken = all.map((point) => api.coord(pair(point))).map(([x, y]) => [x - 6, y - 6, x + 6, y + 6]);
        for (const point of all) if (point.bound !== null) taken.push(around(api.coord([point.bound, point.y])));
      }
      const point = all[item.dataIndex];
      const text = point.name.length > 26 ? `${point.name.slice(0, 25)}…` : point.name;
      const long = textWidth(text, 11.5);
      const [x, y] = api.coord(pair(point));
      const places = [[x + 8, y - 9], [x - 8 - long, y - 9], [x + 8, y + 9], [x - 8 - long, y + 9], [x + 9, y], [x - long / 2, y - 16], [x - long / 2, y + 16]];
      const boxes = places.map(([left, middle]) => [left, middle - 8, left + long, middle + 8]);
      const at = boxes.findIndex((box) => isInside(box) && !taken?.some((other) => overlap(box, other)));
      if (at < 0) return { type: "group", children: [] };
      taken.push(boxes[at]);
      const style = { text, fill: "var(--ink)", fontSize: 11.5, fontFamily, verticalAlign: "middle" };
      return { type: "text", x: places[at][0], y: places[at][1], style };
    },
  }];
}

/**
 * Where the mark of a bound is.
 * @param {number[]} at
 */
function around([x, y]) {
  return [x - 2, y - BOUND_HEIGHT / 2, x + 2, y + BOUND_HEIGHT / 2];
}

/**
 * @param {number[]} one Left, top, right and bottom.
 * @param {number[]} other
 */
function overlap(one, other) {
  return one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];
}

/** No colour of its own under the pointer: colours are variables, which the library cannot make lighter. */
const STILL = { silent: true, emphasis: { disabled: true }, animation: false };

/**
 * @param {Request} request
 * @param {Series} series
 * @param {EndLabel|null} label
 */
function lines(request, series, label) {
  const { color, symbol, dash } = request.look(series.name);
  const [joined, apart] = [series.points.filter((point) => !point.apart), series.points.filter((point) => point.apart)];
  const total = request.series.reduce((sum, one) => sum + one.points.length, 0);
  // Some points of a long series have a symbol: they tell it from others, without hiding it.
  const every = joined.length <= SYMBOLS_MAX ? 1 : Math.ceil(joined.length / 10);
  const marked = joined.filter((_, at) => at % every === Math.floor(every / 2));
  /** @type {object[]} */
  const made = [
    {
      ...STILL, type: "line", data: joined.map(pair), showSymbol: false, lineStyle: { color, width: joined.length > 100 ? 1.25 : 2, type: dash },
      endLabel: {
        show: label !== null, formatter: () => series.name, color: "var(--ink)", fontSize: 11, width: label?.room, overflow: "truncate", distance: 8,
        offset: [0, label?.shift ?? 0],
      },
    },
    { ...STILL, type: "scatter", data: marked.map(pair), symbol, symbolSize: 7, itemStyle: { color, opacity: 1 }, z: 3 },
  ];
  if (apart.length > 0) made.push(hollow(apart, color, symbol));
  if (total <= WHISKERS_MAX) made.push(...whiskers(request, series, color));
  return made;
}

/**
 * @param {Request} request
 * @param {Series} series
 * @param {number} total
 */
function points(request, series, total) {
  const made = [];
  // Without series, a point is a service, and looks as it does elsewhere.
  const groups = series.name === "" && total <= WHISKERS_MAX ? series.points.map((point) => ({ name: point.name, points: [point] })) : [series];
  for (const group of groups) {
    const { color, symbol } = request.look(group.name);
    const solid = group.points.filter((point) => !point.apart);
    const apart = group.points.filter((point) => point.apart);
    if (total <= WHISKERS_MAX) made.push(...whiskers(request, group, color));
    made.push({
      ...STILL, type: "scatter", data: solid.map(pair), symbol, symbolSize: total > SMALL_MIN ? 5 : 10,
      itemStyle: { color },
    });
    if (apart.length > 0) made.push(hollow(apart, color, symbol));
  }
  return made;
}

/**
 * @param {Point[]} apart
 * @param {string} color
 * @param {string} symbol
 */
function hollow(apart, color, symbol) {
  const itemStyle = { color: "var(--paper)", borderColor: color, borderWidth: 1.75 };
  return { ...STILL, type: "scatter", data: apart.map(pair), symbol, symbolSize: 8, itemStyle, z: 4 };
}

/**
 * @param {Request} request
 * @param {Series} series
 * @param {number} at
 */
function bars(request, series, at) {
  if (request.chart.stack) return [...stacked(request, series), ...whiskers(request, series, "var(--whisker)", at)];
  const alone = request.series.length === 1;
  const color = alone ? `var(--${request.chart.x_scale === "log" ? "accent" : "bar"})` : request.look(series.name).color;
  const unit = request.x.unit;
  const data = series.points.map((point) => ({
    value: pair(point),
    itemStyle: point.apart ? { color: "var(--paper)", borderColor: color, borderWidth: 1.5, borderType: "dashed" } : { color },
    label: { formatter: point.xEnds ? "" : show(unit, value(request, point)) },
  }));
  const label = { show: alone, position: "right", color: "var(--ink)", fontSize: 11 };
  // The length of a bar means nothing on an axis that does not begin at nothing: there, the place of a point does.
  const dots = { ...STILL, type: "scatter", data, symbol: "circle", symbolSize: 10, label, z: 3 };
  if (request.chart.x_scale === "log") return [...whiskers(request, series, "var(--whisker)"), dots];
  const made = { ...STILL, type: "bar", data, barMaxWidth: 14, barGap: "15%", label, itemStyle: { borderRadius: [0, 2, 2, 0] } };
  return [made, ...whiskers(request, series, "var(--whisker)", at)];
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
 * Intervals as lines with ends.
 * @param {Request} request
 * @param {Series} series
 * @param {string} color
 * @param {number} [at] Which of several bars of a row.
 */
function whiskers(request, series, color, at = 0) {
  const data = series.points.filter((point) => point.xEnds || point.yEnds);
  if (data.length === 0) return [];
  const isBar = request.chart.shape === "bars";
  const shift = isBar ? barShift(request.series.length, at) : 0;
  const label = isBar && request.series.length === 1;
  return [{
    ...STILL, type: "custom", z: isBar ? 3 : 1, data: data.map(pair), clip: !isBar,
    renderItem: (/** @type {Item} */ item, /** @type {{ coord: (pair: number[]) => number[] }} */ api) => {
      const point = data[item.dataIndex];
      const { x: left, width } = item.coordSys;
      /** @type {object[]} */
      const children = [];
      const middle = api.coord([point.x, point.y]);
      for (const [way, both] of /** @type {const} */ ([["x", point.xEnds], ["y", point.yEnds]])) {
        if (!both) continue;
        const [from, to] = both.map((end) => api.coord(way === "x" ? [end, point.y] : [point.x, end]));
        from[1] += way === "x" ? shift : 0;
        to[1] += way === "x" ? shift : 0;
        const isCut = !isBar && way === "x" && (from[0] < left - 1 || to[0] > left + width + 1);
        children.push(isCut ? cut(from, to, color, left, left + width) : whisker(from, to, way, color, isBar ? 1.25 : 1));
        if (label && way === "x") children.push(beside([Math.max(to[0], middle[0]), to[1]], show(request.x.unit, value(request, point))));
      }
      return { type: "group", children };
    },
  }];
}

/**
 * The parts of each bar, one behind the other; the last one has the figure of all where no whisker has it.
 * @param {Request} request
 * @param {Series} series
 */
function stacked(request, series) {
  const parts = request.chart.stack ?? [];
  return parts.map((_, at) => {
    const { color } = partLook(at);
    const isLast = at === parts.length - 1;
    const data = series.points.map((point) => ({
      value: [point.parts?.[at] ?? 0, point.y],
      label: { show: isLast && !point.xEnds, formatter: show(request.x.unit, value(request, point)) },
    }));
    const label = { position: "right", color: "var(--ink)", fontSize: 11 };
    const itemStyle = { color, borderRadius: isLast ? [0, 2, 2, 0] : 0 };
    return { ...STILL, type: "bar", stack: "parts", data, barMaxWidth: 14, label, itemStyle };
  });
}

/**
 * How far the figure of each row may go: a dashed mark across it.
 * @param {Request} request
 * @returns {object[]}
 */
function bounds({ series }) {
  const bounded = series.flatMap((one) => one.points).filter((point) => point.bound !== null);
  if (bounded.length === 0) return [];
  return [{
    ...STILL, type: "custom", z: 2, data: bounded.map((point) => [point.bound, point.y]),
    renderItem: (/** @type {{ dataIndex: number }} */ item, /** @type {{ coord: (pair: (number|null)[]) => number[] }} */ api) => {
      const [x, y] = api.coord([bounded[item.dataIndex].bound, bounded[item.dataIndex].y]);
      const style = { stroke: "var(--ink)", lineWidth: 1.5, lineDash: [3, 2] };
      return { type: "line", shape: { x1: x, y1: y - BOUND_HEIGHT / 2, x2: x, y2: y + BOUND_HEIGHT / 2 }, style };
    },
  }];
}

/**
 * The range that was claimed of each row, behind what was found; an open end goes to the edge of the plot.
 * @param {Request} request
 * @returns {object[]}
 */
function bands({ series }) {
  const claimed = series.flatMap((one) => one.points).filter((point) => point.band);
  if (claimed.length === 0) return [];
  return [{
    ...STILL, type: "custom", z: 0, data: claimed.map(pair),
    renderItem: (/** @type {Item} */ item, /** @type {{ coord: (pair: number[]) => number[] }} */ api) => {
      const { band, x: own, y } = claimed[item.dataIndex];
      const at = (/** @type {number|null|undefined} */ end, /** @type {number} */ edge) => (end == null ? edge : api.coord([end, y])[0]);
      const { x, width } = item.coordSys;
      const [from, to] = [at(band?.[0], x), at(band?.[1], x + width)];
      const middle = api.coord([own, y])[1];
      return { type: "rect", shape: { x: from, y: middle - BOUND_HEIGHT / 2, width: Math.max(to - from, 2), height: BOUND_HEIGHT }, style: { fill: "var(--claimed)" } };
    },
  }];
}

/**
 * What was published of each row: hollow, in the colour of what was found, with a line between them and the figure behind both.
 * @param {Request} request
 * @returns {object[]}
 */
function published(request) {
  if (!request.chart.against) return [];
  const all = request.series.flatMap((one) => one.points.map((point) => ({ ...point, color: request.look(one.name || point.name).color })));
  return [{
    ...STILL, type: "custom", z: 4, data: all.map(pair), clip: false,
    renderItem: (/** @type {Item} */ item, /** @type {{ coord: (pair: number[]) => number[] }} */ api) => {
      const point = all[item.dataIndex];
      const [x, y] = api.coord(pair(point));
      const at = (/** @type {number|null|undefined} */ end) => api.coord([end ?? point.x, point.y])[0];
      const [there, low, high] = [at(point.against), at(point.xEnds?.[0]), at(point.xEnds?.[1])];
      const text = show(request.x.unit, value(request, point));
      // Beside what was found, and not beside what was published.
      const wide = textWidth(text, 11);
      const [left, right] = [Math.min(x - 4, low) - wide - 14, Math.max(x + 4, high)];
      const isFree = there <= x || there - right > wide + 20;
      const isRoom = left > item.coordSys.x - 4;
      /** @type {object[]} */
      const children = [beside([isFree ? right : isRoom ? left : Math.max(right, there + 5), y], text)];
      if (point.against !== null) {
        const line = { stroke: point.color, lineWidth: 1.5, lineDash: [2, 3], opacity: 0.8 };
        const [from, to] = there <= x ? [there + 5, x - 5] : [isFree ? right + wide + 12 : x + 5, there - 5];
        if (to - from > 3) children.push({ type: "line", shape: { x1: from, y1: y, x2: to, y2: y }, style: line });
        children.push({ type: "circle", shape: { cx: there, cy: y, r: 5 }, style: { fill: "var(--paper)", stroke: point.color, lineWidth: 1.75 } });
      }
      return { type: "group", children };
    },
  }];
}

/**
 * How far the bar of a series is from the middle of its row: as `height` and the widths above make it.
 * @param {number} count
 * @param {number} at
 */
function barShift(count, at) {
  if (count === 1) return 0;
  const each = (12 * count + 8) * 0.8 / (count + (count - 1) * 0.15);
  return (at - (count - 1) / 2) * Math.min(each, 14) * 1.15;
}

/**
 * @param {number[]} from
 * @param {number[]} to
 * @param {"x"|"y"} way
 * @param {string} color
 * @param {number} width
 */
function whisker([x1, y1], [x2, y2], way, color, width) {
  const cap = 3.5;
  const [dx, dy] = way === "x" ? [0, cap] : [cap, 0];
  const d = `M${x1},${y1}L${x2},${y2}M${x1 - dx},${y1 - dy}L${x1 + dx},${y1 + dy}M${x2 - dx},${y2 - dy}L${x2 + dx},${y2 + dy}`;
  return { type: "path", shape: { pathData: d }, style: { stroke: color, fill: "none", lineWidth: width, opacity: width > 1 ? 1 : 0.55 } };
}

/**
 * An interval that goes on beyond the plot: dashed, with the head of an arrow where it leaves.
 * @param {number[]} from
 * @param {number[]} to
 * @param {string} color
 * @param {number} left
 * @param {number} right
 */
function cut([x1, y], [x2], color, left, right) {
  const [one, other] = [Math.max(x1, left), Math.min(x2, right)];
  const end = (/** @type {number} */ x, /** @type {boolean} */ isCut, /** @type {number} */ way) => (isCut ? `M${x + way * 5},${y - 3.5}L${x},${y}L${x + way * 5},${y + 3.5}` : `M${x},${y - 3.5}L${x},${y + 3.5}`);
  const style = { stroke: color, fill: "none", lineWidth: 1, opacity: 0.55 };
  return {
    type: "group", children: [
      { type: "line", shape: { x1: one, y1: y, x2: other, y2: y }, style: { ...style, lineDash: [4, 4] } },
      { type: "path", shape: { pathData: end(one, x1 < left, 1) + end(other, x2 > right, -1) }, style },
    ],
  };
}

/**
 * @param {number[]} at
 * @param {string} text
 */
function beside([x, y], text) {
  return { type: "text", x: x + 7, y, style: { text, fill: "var(--ink)", fontSize: 11, fontFamily: family(), verticalAlign: "middle" } };
}
