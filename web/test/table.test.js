import assert from "node:assert/strict";
import test from "node:test";
import { nothingChosen, passes } from "../src/filter.js";
import { sorted } from "../src/order.js";
import { csv, harmless, markdown } from "../src/save.js";
import { drawing, extent } from "../src/series.js";

const table = {
  caption: "Rows",
  columns: [
    { key: "service", title: "Service", unit: "text" },
    { key: "rate", title: "Rate", unit: "per-second", interval: ["low", "high"] },
    { key: "low", title: "Low", unit: "per-second", hidden: true },
    { key: "high", title: "High", unit: "per-second", hidden: true },
    { key: "dropped", title: "Dropped", unit: "flag", facet: true },
  ],
  rows: [
    ["b10", 5, 4, 6, false],
    ["b9", null, null, null, false],
    ['a,"x"', 7, 0, 9, true],
    ["c", 5, null, null, false],
  ],
};
const all = [0, 1, 2, 3];
const chart = { shape: "lines", x: "rate", y: "rate", x_scale: "log", y_scale: "linear", series: null, n: null, apart: "dropped", only: null, first: null };

test("rows are sorted by value, names by their numbers, and what is not known comes last", () => {
  assert.deepEqual(sorted(table, all, { place: 1, down: true }), [2, 0, 3, 1]);
  assert.deepEqual(sorted(table, all, { place: 1, down: false }), [0, 3, 2, 1]);
  assert.deepEqual(sorted(table, all, { place: 0, down: false }), [2, 1, 0, 3]);
});

test("rows are filtered by text and by facets", () => {
  const chosen = nothingChosen();
  chosen.text = " B";
  assert.deepEqual(table.rows.map(passes(table, chosen)), [true, true, false, false]);
  chosen.text = "";
  chosen.facets.set("dropped", new Set(["yes"]));
  assert.deepEqual(table.rows.map(passes(table, chosen)), [false, false, true, false]);
});

test("a table as CSV has all columns and quotes what must be", () => {
  const lines = csv(table).split("\r\n");
  assert.deepEqual([lines[0], lines[2], lines[3]], ["service,rate,low,high,dropped", "b9,,,,false", '"a,""x""",7,0,9,true']);
});

test("rows as Markdown are those that are shown, in their order", () => {
  assert.equal(
    markdown(table, [0, 1], [2, 0, 1]),
    '| Service | Rate |\n| --- | ---: |\n| a,"x" | 7.00 (0 .. 9.00) |\n| b10 | 5.00 (4.00 .. 6.00) |\n| b9 | - |\n',
  );
  const hostile = { ...table, rows: [["<b>|`x`\n_y_", 1, null, null, false]] };
  assert.equal(markdown(hostile, [0], [0]).split("\n")[2], "| \\<b\\>\\|\\`x\\` \\_y\\_ |");
});

test("what is drawn are values of the table, and what has none is not drawn", () => {
  const drawn = drawing(table, { ...chart, series: "service" }, all);
  assert.deepEqual(drawn.series.map((one) => one.name), ["b10", 'a,"x"', "c"]);
  const [, second] = drawn.series;
  assert.equal(second.points[0].apart, true);
  // An axis of factors has no place for 0: the whisker begins at the value.
  assert.equal(second.points[0].xEnds?.[0], Math.log10(7));
  assert.deepEqual(extent(drawn.series, "y"), [0, 9]);
});

test("no text is a formula to a spreadsheet", () => {
  for (const formula of ["=1+1", "+1", "-1", "@a", "\t=1", " =1", "\u200b=1", "＝1"]) {
    assert.equal(harmless(formula), `'${formula}`);
  }
  for (const text of ["", "a=b", "hyper", "1-2"]) assert.equal(harmless(text), text);
});
