// A flame graph of the difference between two services. It is in a bundle of its own, which only pages with one have.

import { boxes, callers, greatest, isUnsure, next, placed, search, shade, words } from "./boxes.js";
import { place } from "./data.js";
import { button, find, make, svg } from "./dom.js";
import { shown } from "./figures.js";

/** @import { Box, Width } from "./boxes.js" */
/** @import { Picture } from "./chart.js" */
/** @import { Chart, Table } from "./data.js" */

const ROW = 20;
/** As wide as a letter of the fixed-width font, at most. */
const LETTER = 6.7;
/** A narrower box is not seen. */
const PIXELS_MIN = 0.4;
const COLOURS = ["down3", "down2", "down1", "", "up1", "up2", "up3"];
const HELP = "Click a box to see it alone. Arrows go from box to box, Enter shows one alone, Escape goes back.";
let charts = 0;

/**
 * @param {HTMLElement} figure
 * @param {Table} table
 * @param {Chart} chart
 * @returns {Picture}
 */
function flame(figure, table, chart) {
  const all = boxes(table, chart);
  const whole = all[0];
  const plot = find(figure, ".plot");
  const [hatch, help] = ["hatch", "flame-help"].map((name) => `${name}-${charts}`);
  charts += 1;
  const said = make("p", { class: "about-box", role: "status" });
  const tell = make("span", { class: "tell", role: "status" });
  const field = make("input", { type: "search", placeholder: "Search functions", "aria-label": "Search functions in the flame graph" });
  if (!whole) return { show() {}, print() {}, end() {} };
  plot.classList.add("flame");
  // A reader of screens then hands the arrows over.
  for (const [name, value] of [["role", "application"], ["tabindex", "0"], ["aria-describedby", help]]) plot.setAttribute(name, value);

  /** @type {Width} */
  let by = "now";
  let [at, zoomed, width, ended] = [whole, whole, 0, false];
  let found = search(all, "", by);
  const most = greatest(all);
  const column = table.columns[place(table, "function_ns")];

  const reset = button("Reset", () => {
    field.value = "";
    found = search(all, "", by);
    go(whole, whole);
  });
  const widths = button("", () => {
    by = by === "now" ? "old" : "now";
    found = search(all, field.value, by);
    draw();
  });
  field.addEventListener("input", () => {
    found = search(all, field.value, by);
    draw();
  });
  const sign = (/** @type {string} */ colour, /** @type {string} */ text) =>
    make("span", { class: "sign" }, svg("svg", { width: 14, height: 11, class: "flame-key", "aria-hidden": "true" }, ...filled(colour, 0, 14, 11)), text);
  const signs = [sign("up2", "dearer"), sign("down2", "cheaper"), sign("unsure", "not surely different")];
  // Paper has no buttons.
  const key = make("ul", { class: "key", "aria-hidden": "true" }, ...signs.map((one) => make("li", {}, ...[...one.childNodes].map((node) => node.cloneNode(true)))));
  plot.before(make("div", { class: "legend" }, field, widths, reset, tell, ...signs), key);
  plot.after(said, make("p", { class: "about-box", id: help }, HELP));

  /**
   * A box without its name.
   * @param {string} colour
   * @param {number} x
   * @param {number} wide
   * @param {number} high
   */
  function filled(colour, x, wide, high) {
    const size = { x, width: wide, height: high };
    const box = svg("rect", { class: colour === "unsure" ? "" : colour, ...size });
    return colour.includes("unsure") ? [box, svg("rect", { ...size, class: "hatch", fill: `url(#${hatch})` })] : [box];
  }

  /** @param {Box} box @param {number} x @param {number} wide */
  function drawn(box, x, wide) {
    const colour = COLOURS[shade(box, most) + 3] + (isUnsure(box) ? " unsure" : "");
    const classes = ["box", box === at && "at", found.boxes.has(box) && "found", box.depth < zoomed.depth && "above"].filter(Boolean);
    const group = svg("g", { class: classes.join(" "), "data-row": box.row, transform: `translate(0 ${box.depth * ROW})` }, ...filled(colour, x, Math.max(wide - 0.6, 0.4), ROW - 1));
    const letters = Math.floor((wide - 6) / LETTER);
    if (letters < 3) return group;
    const name = [...box.name];
    const text = svg("text", { x: x + 3, y: ROW - 6 });
    text.textContent = name.length > letters ? `${name.slice(0, letters - 1).join("")}…` : box.name;
    group.append(text);
    return group;
  }

  function draw() {
    width = plot.clientWidth;
    if (ended || width === 0) return;
    const seen = placed(zoomed, by, PIXELS_MIN / width);
    const deepest = seen.reduce((most, { box }) => Math.max(most, box.depth), 0);
    const high = (deepest + 1) * ROW;
    const lines = svg("pattern", { id: hatch, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, svg("rect", { width: 2.4, height: 6 }));
    const picture = svg("svg", { width, height: high, viewBox: `0 0 ${width} ${high}`, "aria-hidden": "true" }, svg("defs", {}, lines));
    picture.append(...seen.map(({ box, x, width: share }) => drawn(box, x * width, share * width)));
    plot.replaceChildren(picture);
    tell.textContent = field.value.trim() === "" ? "" : `${found.boxes.size} found, ${shown("share", found.share)} of a request`;
    widths.textContent = `Widths: ${by === "now" ? "candidate" : "baseline"}`;
    reset.disabled = zoomed === whole && field.value === "";
    about(at);
  }

  /** @param {Box} box */
  function about(box) {
    said.replaceChildren(make("strong", {}, make("bdi", {}, box.name)), " ", words(box, whole, column));
  }

  /**
   * @param {Box} box The one that is told of.
   * @param {Box} alone The one that is as wide as the chart.
   */
  function go(box, alone) {
    [at, zoomed] = [box, alone];
    draw();
    const top = box.depth * ROW;
    if (top < plot.scrollTop || top + ROW > plot.scrollTop + plot.clientHeight) plot.scrollTop = top - plot.clientHeight / 2;
  }

  /** @param {Event} event @returns {Box|undefined} */
  function boxOf(event) {
    const group = event.target instanceof Element ? event.target.closest("[data-row]") : null;
    return group ? all[Number(group.getAttribute("data-row"))] : undefined;
  }

  /** @param {KeyboardEvent} event */
  function pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter") go(at, at);
    else if (event.key === "Escape") go(zoomed.caller ?? whole, zoomed.caller ?? whole);
    else {
      const to = next(at, event.key, by);
      if (!to) return;
      // What is beside a box that is shown alone is not drawn.
      const isDrawn = to === zoomed || callers(to).includes(zoomed) || callers(zoomed).includes(to);
      go(to, isDrawn ? zoomed : (to.caller ?? whole));
    }
    event.preventDefault();
  }

  plot.addEventListener("keydown", pressed);
  plot.addEventListener("click", (event) => {
    const box = boxOf(event);
    if (box) go(box, box === zoomed ? (box.caller ?? whole) : box);
  });
  plot.addEventListener("pointerover", (event) => about(boxOf(event) ?? at));
  plot.addEventListener("pointerleave", () => about(at));

  const size = new ResizeObserver(() => plot.clientWidth !== width && draw());
  size.observe(plot);
  return {
    // The rows of the table are chosen below it; a tree without its callers would be none.
    show: draw,
    print: draw,
    end() {
      ended = true;
      size.disconnect();
    },
  };
}

globalThis.tareFlame = flame;
