import assert from "node:assert/strict";
import test from "node:test";
import { drawing, extent, shortened } from "../src/series.js";

const columns = [
  { key: "label", title: "service", unit: "text" },
  { key: "here", title: "here", unit: "share", interval: ["low", "high"] },
  { key: "low", title: "from", unit: "share", hidden: true },
  { key: "high", title: "to", unit: "share", hidden: true },
  { key: "there", title: "published", unit: "share" },
];
const chart = { shape: "points", x: "here", y: "label", x_scale: "linear", y_scale: "names", series: null, n: null, bound: null, apart: null, only: null, first: null };

/** @param {(string|number|null)[][]} rows @param {object} [more] */
const drawn = (rows, more = {}) => drawing({ caption: "", columns, rows }, { ...chart, ...more }, rows.map((_, at) => at));

test("what was published stands beside what was found, the greatest found first", () => {
  const rows = [["a", 0.2, 0.1, 0.3, 0.9], ["b", 0.6, 0.5, 0.7, null], ["c", null, null, null, 0.4], ["d", 0.4, 0.3, 0.5, 0.1]];
  const { categories, series } = drawn(rows, { against: "there" });
  assert.deepEqual(categories, ["b", "d", "a"], "one that has no figure has no row");
  assert.deepEqual(series[0].points.map((point) => point.against), [null, 0.1, 0.9]);
  assert.deepEqual(extent(series, "x"), [0.1, 0.9], "the axis has room for what was published");
  assert.deepEqual(drawn(rows).categories, ["a", "b", "d"], "without it the order is the table's");
});

test("the parts of a bar stand in their order, and one that is not known takes no room", () => {
  const rows = [["a", 0.9, 0.8, 1, 0.3], ["b", 0.6, 0.5, 0.7, null]];
  const { series } = drawn(rows, { shape: "bars", stack: ["there", "low"] });
  assert.deepEqual(series[0].points.map((point) => point.parts), [[0.3, 0.8], [0, 0.5]]);
  assert.deepEqual(drawn(rows).series[0].points.map((point) => point.parts), [null, null], "a bar without parts is one");
});

test("an interval that says nothing does not make the axis", () => {
  const rows = [["a", 1, 0.9, 1.1, null], ["b", 10, 0.0001, 100_000, null]];
  const { series } = drawn(rows, { x_scale: "log" });
  assert.deepEqual(extent(series, "x").map((end) => Math.round(end)), [-4, 5]);
  assert.deepEqual(extent(series, "x", 0.5), [-0.5, 1.5]);
  const short = drawn(rows.slice(0, 1), { x_scale: "log" }).series;
  assert.deepEqual(extent(short, "x", 0.5), [Math.log10(0.9), Math.log10(1.1)], "a short one has all its room");
});

test("a legend leaves out what all of its names have in common", () => {
  assert.deepEqual(shortened(["hyper, N=1000, C=28", "axum, N=1000, C=4"]), ["hyper, C=28", "axum, C=4"]);
  assert.deepEqual(shortened(["hyper, N=1000"]), ["hyper, N=1000"], "a name alone has nothing in common");
  assert.deepEqual(shortened(["hyper", "axum"]), ["hyper", "axum"]);
  assert.deepEqual(shortened(["hyper", "hyper"]), ["hyper", "hyper"], "nothing would be left");
});

test("a series has its name in the data, and another one for people", () => {
  const named = [{ ...columns[0], names: { "node a.js@v1": "v1" } }, ...columns.slice(1)];
  const { categories, series } = drawing({ caption: "", columns: named, rows: [["node a.js@v1", 1, 1, 1, 1]] }, { ...chart, series: "label" }, [0]);
  assert.deepEqual(categories, ["v1"]);
  assert.deepEqual([series[0].name, series[0].title, series[0].points[0].title], ["node a.js@v1", "v1", "v1"]);
});
