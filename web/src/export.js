// A chart as a file that needs no page: its colours and letters as they are here now, its title above and its legend below.

import { make, svg } from "./dom.js";

/** @typedef {{ name: string, swatch: Element }} Entry */

/** What a style sheet or a variable of the page may have decided. */
const STYLED = [
  "fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity",
  "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline", "paint-order",
];
const [MARGIN, TITLE, LINE, LETTERS] = [14, 30, 20, 12];
/** Pixels of a picture for each of the page: sharp on paper and in a talk. */
const SCALE = 2;

/**
 * @param {SVGElement} chart As it is drawn.
 * @param {HTMLElement} caption
 * @param {Entry[]} entries Of its legend.
 */
export function standalone(chart, caption, entries) {
  const { clientWidth: width, clientHeight: height } = chart;
  const { fontFamily, color } = getComputedStyle(caption);
  const text = { "font-family": fontFamily, "font-size": LETTERS, fill: color, "dominant-baseline": "central" };
  const title = svg("text", { ...text, x: MARGIN, y: TITLE / 2 + 3, "font-size": LETTERS + 2, "font-weight": 600 }, words(caption.textContent ?? ""));
  const drawn = svg("g", { transform: `translate(0 ${TITLE})` }, ...[...chart.childNodes].map(styled));
  const { group, lines } = legend(entries, width, text);
  group.setAttribute("transform", `translate(0 ${TITLE + height})`);
  const all = { width, height: TITLE + height + lines * LINE + MARGIN };
  const ground = svg("rect", { ...all, fill: getComputedStyle(caption.closest("figure") ?? caption).backgroundColor });
  return new XMLSerializer().serializeToString(svg("svg", { ...all, viewBox: `0 0 ${all.width} ${all.height}` }, ground, title, drawn, group));
}

/** @param {string} text */
function words(text) {
  return document.createTextNode(text);
}

/**
 * A copy that looks alike without the page's style.
 * @param {Node} node
 * @returns {Node}
 */
function styled(node) {
  const copy = node.cloneNode(false);
  if (node instanceof Element && copy instanceof Element) {
    const style = getComputedStyle(node);
    copy.removeAttribute("style");
    copy.removeAttribute("class");
    for (const name of STYLED) copy.setAttribute(name, style.getPropertyValue(name));
    copy.append(...[...node.childNodes].map(styled));
  }
  return copy;
}

/**
 * Entries one behind the other, as many in a line as there is room for.
 * @param {Entry[]} entries
 * @param {number} width
 * @param {Record<string, string|number>} text
 */
function legend(entries, width, text) {
  const measure = make("canvas").getContext("2d");
  if (measure) measure.font = `${LETTERS}px ${text["font-family"]}`;
  const group = svg("g", {});
  let [x, line] = [MARGIN, 0];
  for (const { name, swatch } of entries) {
    const symbol = Number(swatch.getAttribute("width"));
    const room = symbol + 6 + (measure?.measureText(name).width ?? name.length * LETTERS) + 16;
    if (x > MARGIN && x + room > width) [x, line] = [MARGIN, line + 1];
    const y = line * LINE + LINE / 2;
    const place = svg("g", { transform: `translate(${x + symbol / 2} ${y})` }, ...[...swatch.childNodes].map(styled));
    group.append(place, svg("text", { ...text, x: x + symbol + 6, y }, words(name)));
    x += room;
  }
  return { group, lines: entries.length === 0 ? 0 : line + 1 };
}

/**
 * The same as pixels.
 * @param {string} drawing
 * @returns {Promise<Blob>}
 */
export async function pixels(drawing) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawing)}`;
  await image.decode();
  const canvas = make("canvas", { width: image.width * SCALE, height: image.height * SCALE });
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, failed) => {
    canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("the browser draws no picture"))), "image/png");
  });
}
