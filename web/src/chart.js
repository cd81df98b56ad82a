// A chart of the page: drawn when it comes into sight, with a legend that switches series, and told what it shows by the
// rows that its section shows.

import { place } from "./data.js";
import { button, find, make } from "./dom.js";
import { pixels, standalone } from "./export.js";
import { height } from "./frame.js";
import { NO_LOOK, partLook, swatch } from "./looks.js";
import { plot as plotted } from "./plot.js";
import { save, saveBlob } from "./save.js";
import { drawing, shortened } from "./series.js";
import { nearest, words } from "./tip.js";

/** @import { Chart, Table } from "./data.js" */
/** @import { Request } from "./frame.js" */
/** @import { Look } from "./looks.js" */
/** @import { Plot } from "./plot.js" */
/** @import { Drawing, Series } from "./series.js" */
/** @import { Spot } from "./tip.js" */
/**
 * @typedef {object} Picture
 * @property {(rows: number[]) => void} show These rows, from now on.
 * @property {() => void} print Drawn now, whether it is in sight or not, with a legend for paper.
 * @property {() => void} end
 */

/** What is drawn, and, when nothing of that is left, what is only measured. @type {[Set<() => void>, Set<() => void>]} */
const waiting = [new Set(), new Set()];

/**
 * One chart at a time, and what the reader does in between: twelve charts in one go would hold up the next letter.
 * @param {() => void} what
 * @param {boolean} [inSight]
 */
function soon(what, inSight = true) {
  if (waiting.every((one) => one.size === 0)) setTimeout(next);
  waiting[inSight ? 0 : 1].add(what);
}

function next() {
  const queue = waiting.find((one) => one.size > 0);
  if (!queue) return;
  const [what] = queue;
  queue.delete(what);
  what();
  if (waiting.some((one) => one.size > 0)) setTimeout(next);
}

/** Of more series than these the legend has the others behind a button: they would take the room of the chart. */
const LEGEND_MAX = 14;

/** What a button of a legend is of, however its name is shortened. @param {Element|null} button */
const wordOf = (button) => button?.getAttribute("title") ?? button?.textContent ?? null;

/**
 * @param {HTMLElement} figure
 * @param {Table} table
 * @param {Chart} chart
 * @param {(name: string) => Look} look
 * @param {Map<string, boolean>} switched What the reader switched on and off, by the name of the series.
 * @param {Chart[]} [section] All charts of its section.
 * @returns {Picture}
 */
export function picture(figure, table, chart, look, switched, section = []) {
  const plot = find(figure, ".plot");
  const area = make("div", { class: "area" });
  const tip = make("div", { class: "tip", hidden: true, role: "status" });
  const ring = make("div", { class: "ring", hidden: true });
  const legend = make("div", { class: "legend", role: "group", "aria-label": "Series of this chart" });
  const key = make("ul", { class: "key", "aria-hidden": "true" });
  const nothing = make("p", { class: "empty", hidden: true });
  plot.replaceWith(area);
  area.append(plot, nothing, ring, tip);
  area.before(legend, key);
  plot.tabIndex = 0;

  const [x, y] = [table.columns[place(table, chart.x)], table.columns[place(table, chart.y)]];
  /** @type {Drawing} */
  let all = { series: [], categories: [], points: 0, steps: null };
  /** @type {number[]} */
  const none = [];
  let rows = none;
  let [stale, seen, width, ended, unfolded] = [true, false, 0, false, false];
  /** @type {Plot|null} */
  let drawn = null;
  /** What the legend calls series. @type {Map<string, string>} */
  let brief = new Map();
  /** @type {Spot[]} */
  let spots = [];
  let at = -1;

  /** With a colour: the first ones, and the last one where the others are there in grey. @param {string} name @param {number} place */
  function isOn(name, place) {
    if (switched.has(name) || chart.first === null) return switched.get(name) ?? true;
    const isLast = place === all.series.length - 1;
    return chart.grey && all.series.length > chart.first ? place < chart.first - 1 || isLast : place < chart.first;
  }

  /** What is drawn, and how high: known before it is drawn, so that nothing moves when it is. */
  function prepare() {
    width = plot.clientWidth;
    all = drawing(table, chart, rows);
    listed();
    const series = all.series.filter((one, place) => isOn(one.name, place));
    const others = chart.grey ? all.series.filter((one) => !series.includes(one)) : [];
    /** @type {Request} */
    const request = { table, chart, x, y, drawing: all, series, others, neighbours: neighbours(), look, width };
    plot.style.height = `${height(request)}px`;
    return { request, shown: [...series, ...others] };
  }

  /** What the axes have to have room for too. @returns {Series[]} */
  function neighbours() {
    if (!chart.alike) return [];
    return section.filter((other) => other.alike && other !== chart).flatMap((other) => drawing(table, other, rows).series);
  }

  function draw() {
    if (ended || !stale) return;
    plot.hidden = false;
    if (plot.clientWidth === 0) return;
    stale = false;
    hide();
    const { request, shown } = prepare();
    // Axes without anything between them would look like a fault.
    nothing.hidden = shown.some((one) => one.points.length > 0);
    nothing.textContent = all.points === 0 ? "Nothing to draw: no row that is shown has these figures." : "No series is chosen.";
    plot.hidden = !nothing.hidden;
    for (const saver of savers) saver.disabled = plot.hidden;
    if (plot.hidden) return;
    const { picture, at } = (drawn = plotted(request));
    plot.replaceChildren(picture);
    spots = shown.flatMap((one) => one.points.map((point) => {
      const [x, y] = at(point);
      return { x, y, point, series: one.name, title: one.title };
    }));
  }

  /** One line stands out. @param {string|null} name */
  function raise(name) {
    for (const [of, group] of drawn?.lines ?? []) group.classList.toggle("raised", of === name);
  }

  /** @param {Spot|null} spot */
  function tell(spot) {
    if (!spot) return hide();
    at = spots.indexOf(spot);
    raise(spot.series);
    tip.replaceChildren(...words(table, chart, spot));
    tip.hidden = ring.hidden = false;
    ring.style.transform = `translate(${spot.x}px, ${spot.y}px)`;
    // Beside the point where there is room, and never outside of the chart: a phone has no room to the right.
    const right = spot.x + 14;
    const left = right + tip.offsetWidth > area.clientWidth ? spot.x - 14 - tip.offsetWidth : right;
    const top = Math.min(Math.max(spot.y - tip.offsetHeight / 2, 0), Math.max(area.clientHeight - tip.offsetHeight, 0));
    tip.style.transform = `translate(${Math.max(left, 0)}px, ${top}px)`;
  }

  function hide() {
    tip.hidden = ring.hidden = true;
    at = -1;
    raise(null);
  }

  /** @param {PointerEvent} event */
  function pointed(event) {
    const box = plot.getBoundingClientRect();
    tell(nearest(spots, event.clientX - box.left, event.clientY - box.top, chart.y_scale === "names"));
  }

  /** @param {KeyboardEvent} event */
  function pressed(event) {
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };
    const by = Object.hasOwn(steps, event.key) ? steps[/** @type {keyof typeof steps} */ (event.key)] : 0;
    if (event.key === "Escape") hide();
    if (by === 0 || spots.length === 0) return;
    event.preventDefault();
    tell(spots[Math.min(Math.max(at + by, 0), spots.length - 1)]);
  }

  plot.addEventListener("pointermove", pointed);
  plot.addEventListener("pointerdown", pointed);
  plot.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && hide());
  plot.addEventListener("keydown", pressed);
  plot.addEventListener("blur", hide);

  /** What a hollow symbol means, and the parts of a bar, where there are any. */
  function signs() {
    const title = (/** @type {string|null} */ key) => table.columns[place(table, key)].title;
    if (chart.stack) return chart.stack.map((key, at) => ({ name: title(key), swatch: swatch(partLook(at), false) }));
    if (chart.against) {
      const published = all.series.some((one) => one.points.some((point) => point.against !== null));
      const [there, here] = [true, false].map((hollow) => swatch(NO_LOOK, false, hollow));
      return published ? [{ name: "published", swatch: there }, { name: "here", swatch: here }] : [];
    }
    const isApart = all.series.some((one) => one.points.some((point) => point.apart));
    const grey = chart.grey ? all.series.filter((one, place) => !isOn(one.name, place)).length : 0;
    return [
      ...(isApart ? [{ name: title(chart.apart), swatch: swatch(NO_LOOK, false, true) }] : []),
      ...(grey > 0 ? [{ name: `${grey} ${grey === 1 ? "other" : "others"}, grey`, swatch: swatch(NO_LOOK, true, null) }] : []),
    ];
  }

  function listed() {
    const [isChosen, meant] = [all.series.length > 1, signs()];
    legend.hidden = !isChosen && meant.length === 0;
    const meanings = meant.map((one) => make("span", { class: "sign" }, one.swatch, one.name));
    if (!isChosen) return legend.replaceChildren(...meanings);
    const had = legend.contains(document.activeElement) ? wordOf(document.activeElement) : null;
    const isFolded = !unfolded && all.series.length > LEGEND_MAX;
    const known = all.series.map((one, place) => ({ ...one, on: isOn(one.name, place), place }));
    const areFew = known.filter(({ on }) => on).length <= LEGEND_MAX;
    const named = isFolded ? known.filter(({ on, place }) => place < LEGEND_MAX - 2 || (areFew && on)) : known;
    const short = shortened(known.map(({ title }) => title));
    brief = new Map(known.map(({ name }, at) => [name, short[at]]));
    const chips = named.map(({ name, title, on }) => chipOf(name, title, brief.get(name) ?? title, on));
    if (isFolded) chips.push(button(`${known.length - named.length} more`, unfold, { class: "all", "aria-expanded": "false" }));
    const every = (/** @type {boolean} */ on) => () => change(all.series.map((one) => [one.name, on]));
    if (all.series.length > 3) chips.push(button("All", every(true), { class: "all" }), button("None", every(false), { class: "all" }));
    legend.replaceChildren(...chips, ...meanings);
    if (had !== null) chips.find((chip) => wordOf(chip) === had)?.focus();
  }

  /** @param {string} name @param {string} title @param {string} short @param {boolean} on */
  function chipOf(name, title, short, on) {
    const chip = button("", () => change([[name, !on]]), { "aria-pressed": String(on), title });
    chip.append(swatch(look(name), chart.shape === "lines"), make("bdi", {}, short));
    for (const event of ["pointerenter", "focus"]) chip.addEventListener(event, () => raise(name));
    for (const event of ["pointerleave", "blur"]) chip.addEventListener(event, () => raise(null));
    return chip;
  }

  function unfold() {
    const first = legend.querySelectorAll("button").length - 3;
    unfolded = true;
    listed();
    legend.querySelectorAll("button")[Math.max(first, 0)]?.focus();
  }

  /** What is drawn is named, and what is not drawn is not. In a page as its legend names it. @param {boolean} inPage */
  function entries(inPage) {
    const drawnNow = all.series.length < 2 ? [] : all.series.filter((one, place) => isOn(one.name, place));
    return [...drawnNow.map(({ name, title }) => ({ name: (inPage ? brief.get(name) : null) ?? title, swatch: swatch(look(name), chart.shape === "lines") })), ...signs()];
  }

  /** Paper has no buttons. */
  function print() {
    draw();
    key.replaceChildren(...entries(true).map((entry) => make("li", {}, entry.swatch, make("bdi", {}, entry.name))));
  }

  /** As a file that needs no page. What is not in the page has no colours, so its legend is there meanwhile. */
  function alone() {
    print();
    const named = entries(false);
    const shelf = make("div", {}, ...named.map((entry) => entry.swatch));
    figure.append(shelf);
    const text = standalone(/** @type {SVGElement} */ (plot.querySelector("svg")), find(figure, "figcaption"), named);
    shelf.remove();
    return text;
  }

  const file = `${figure.closest("section")?.id ?? "chart"}-${figure.dataset.chart}`;
  const savers = [
    button("Save SVG", () => save(`${file}.svg`, "image/svg+xml", alone())),
    button("Save PNG", async () => saveBlob(`${file}.png`, await pixels(alone()))),
  ];
  figure.querySelector(".of")?.append(...savers);

  /** @param {[string, boolean][]} names */
  function change(names) {
    for (const [name, on] of names) switched.set(name, on);
    refresh();
  }

  function refresh() {
    stale = true;
    if (seen) soon(draw);
  }

  const sight = new IntersectionObserver(
    (entries) => {
      seen = entries.some((entry) => entry.isIntersecting);
      if (seen) soon(draw);
    },
    { rootMargin: "300px" },
  );
  sight.observe(figure);
  const size = new ResizeObserver(() => {
    if (plot.hidden || plot.clientWidth === width) return;
    refresh();
  });
  size.observe(plot);

  return {
    show(now) {
      const isFirst = rows === none;
      rows = now;
      // How high it is must be known soon, and not before the page answers: each chart that is measured lays the page out anew.
      if (isFirst) soon(() => width === 0 && prepare(), false);
      refresh();
    },
    print,
    end() {
      ended = true;
      sight.disconnect();
      size.disconnect();
    },
  };
}
