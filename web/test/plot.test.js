import assert from "node:assert/strict";
import test from "node:test";

/** Enough of a page to draw into. */
class Node {
  constructor(/** @type {string} */ tag) {
    this.tag = tag;
    this.attributes = {};
    this.children = [];
  }

  setAttribute(name, value) {
    this.attributes[name] = value;
  }

  append(...children) {
    this.children.push(...children);
  }

  /** @returns {Node[]} */
  all(tag) {
    return this.children.flatMap((child) => (child instanceof Node ? [...(child.tag === tag ? [child] : []), ...child.all(tag)] : []));
  }

  get text() {
    return this.children.join("");
  }
}

const document = {
  body: null,
  createElement: () => ({ getContext: () => null }),
  createElementNS: (_, tag) => new Node(tag),
  createTextNode: (text) => text,
};
Object.assign(globalThis, { document, getComputedStyle: () => ({ fontFamily: "sans-serif" }) });
const { plot } = await import("../src/plot.js");
const { drawing } = await import("../src/series.js");

const columns = [
  { key: "label", title: "service", unit: "text" },
  { key: "round", title: "round", unit: "count" },
  { key: "ns", title: "CPU/request", unit: "nanoseconds", interval: ["low", "high"] },
  { key: "low", title: "from", unit: "nanoseconds", hidden: true },
  { key: "high", title: "to", unit: "nanoseconds", hidden: true },
  { key: "dropped", title: "left out", unit: "flag" },
];
const linear = { x_scale: "linear", y_scale: "linear", only: null, first: null };
const lines = { ...linear, shape: "lines", x: "round", y: "ns", series: "label", apart: "dropped" };

function drawn(rows, chart = lines, some = rows.map((_, at) => at), greyFrom = Infinity) {
  const table = { caption: "", columns, rows };
  const made = drawing(table, chart, some);
  const [x, y] = [chart.x, chart.y].map((key) => columns.find((column) => column.key === key));
  const look = () => ({ color: "red", symbol: "m-1,0h2z", dash: "solid" });
  const [series, others] = [made.series.slice(0, greyFrom), made.series.slice(greyFrom)];
  return plot({ table, chart, x, y, drawing: made, series, others, neighbours: [], look, width: 900 });
}

const row = (name, round, ns, dropped = false) => [name, round, ns, null, null, dropped];
const d = (made, name) => made.lines.get(name).all("path").filter((path) => path.attributes.class === "line")[0].attributes.d;

test("the name at the end of a line is the whole name, and text", () => {
  const name = "{a} <b> &c;";
  const texts = drawn([row(name, 1, 5), row(name, 2, 6)]).picture.all("text").map((text) => text.text);
  assert.ok(texts.includes(name), texts.join());
  assert.ok(texts.includes("round") && texts.includes("CPU/request"), texts.join());
});

test("a line has a gap where nothing was measured, and none where nobody was", () => {
  const rows = [row("a", 1, 5), row("a", 2, 5), row("a", 5, 5), row("a", 6, 5), row("b", 1, 4), row("b", 3, 4), row("b", 6, 4)];
  assert.equal(d(drawn(rows), "a").match(/M/g).length, 2, "round 3 is another's");
  assert.equal(d(drawn(rows, lines, [0, 1, 2, 3]), "a").match(/M/g).length, 2, "whether that one is shown or not");
  assert.equal(d(drawn(rows.slice(0, 4)), "a").match(/M/g).length, 1, "round 4 is of no one");
  assert.match(d(drawn(rows), "b"), /^(M[\d.]+,[\d.]+h3){3}$/, "one alone is a dash");
});

test("what was left out is hollow and interrupts its line", () => {
  const made = drawn([row("a", 1, 5), row("a", 2, 9, true), row("a", 3, 5), row("a", 4, 5)]);
  assert.equal(d(made, "a").match(/M/g).length, 2);
  const symbols = made.lines.get("a").all("path").filter((path) => path.attributes.class === "symbols");
  assert.deepEqual(symbols.map((path) => [path.attributes.fill, path.attributes.d.match(/M/g).length]), [["red", 3], ["var(--paper)", 1]]);
});

test("a line among others is grey, has no name, and counts for the axes", () => {
  const made = drawn([row("a", 1, 5), row("a", 2, 6), row("z", 1, 500), row("z", 2, 600)], lines, undefined, 1);
  assert.equal(made.lines.get("z").all("path")[0].attributes.stroke, "var(--strong-line)");
  assert.ok(!made.picture.all("text").some((text) => text.text === "z"));
  const [, y] = made.at({ x: 1, y: 600 });
  assert.ok(y > 0 && y < 400, String(y));
});

test("a bar begins at nothing, and its figure stands behind its interval", () => {
  const bars = { ...lines, shape: "bars", x: "ns", y: "label", y_scale: "names", series: null, apart: null };
  const { picture, at } = drawn([["a", 1, 50, 40, 60, false], ["b", 1, 100, 90, 110, false]], bars);
  const [zero] = at({ x: 0, y: 0 });
  assert.deepEqual(picture.all("rect").map((rect) => Number(rect.attributes.x)), [zero, zero]);
  const figure = picture.all("text").find((text) => text.text === "100 ns" && text.attributes["font-size"] === "11");
  assert.ok(Number(figure.attributes.x) > at({ x: 110, y: 1 })[0]);
});
