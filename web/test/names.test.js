import assert from "node:assert/strict";
import test from "node:test";
import { option } from "../src/plot.js";

test("the name at the end of a line is no template", () => {
  const createElement = () => ({ getContext: () => null });
  Object.assign(globalThis, { document: { body: null, createElement }, getComputedStyle: () => ({ fontFamily: "sans-serif" }) });
  const name = "{a} {b} {c}";
  const column = { key: "x", title: "X", unit: "number" };
  const points = [0, 1].map((at) => ({ row: at, name, x: at, y: at, xEnds: null, yEnds: null, apart: false }));
  const chart = { shape: "lines", x_scale: "linear", y_scale: "linear", series: "x" };
  const series = [{ name, points }];
  const drawing = { series, categories: [], points: 2 };
  const table = { caption: "", columns: [column], rows: [[0], [1]] };
  const look = () => ({ color: "red", symbol: "circle", dash: "solid" });
  const made = option({ table, chart, x: column, y: column, drawing, series, neighbours: [], look, width: 900 });
  const label = made.series[0].endLabel;
  assert.equal(label.show, true);
  assert.equal(label.formatter(), name);
});
