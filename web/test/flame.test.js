import assert from "node:assert/strict";
import test from "node:test";
import { boxes, callers, greatest, isUnsure, next, placed, search, shade, words } from "../src/boxes.js";

const ns = (key, more = {}) => ({ key, title: key, unit: "nanoseconds", ...more });
const table = {
  caption: "Calls",
  columns: [
    { key: "function", title: "function", unit: "text" },
    { key: "level", title: "level", unit: "count" },
    ns("candidate_ns"),
    ns("baseline_ns"),
    ns("function_ns", { interval: ["low", "high"] }),
    ns("low"),
    ns("high"),
  ],
  rows: [
    ["a request", 0, 1000, 800, 200, 150, 250],
    ["main", 1, 900, 800, 100, -20, 220],
    ["</script><img onerror=x>", 2, 600, 400, 200, 120, 280],
    ["sign", 3, 300, 100, null, null, null],
    ["gone", 2, 0, 300, -300, -400, -200],
    ["sign", 2, 300, 100, null, null, null],
    ["thread gc", 1, 50, 0, 50, 10, 90],
  ],
};
const chart = { shape: "flame", x: "candidate_ns", y: "function", against: "baseline_ns" };
const all = boxes(table, chart);
const [whole, main, handler, inner, gone, sign, gc] = all;

test("a row belongs to the last one above it with a smaller level", () => {
  assert.deepEqual(main.calls, [handler, gone, sign]);
  assert.deepEqual(callers(inner), [whole, main, handler]);
  assert.equal(gc.caller, whole);
  // A level that is skipped, or is none, ends nowhere.
  const odd = { ...table, rows: [["a", 5, 1, 1], ["b", 9, 1, 1], ["c", null, 1, 1], ["d", 7, 1, 1]] };
  assert.deepEqual(boxes(odd, chart).map((box) => box.caller?.name ?? null), [null, "a", null, "c"]);
  assert.deepEqual(boxes({ ...table, rows: [] }, chart), []);
});

test("a box is as wide as its time, and what is shown alone is as wide as the chart", () => {
  const at = (found, box) => found.find((one) => one.box === box);
  const found = placed(whole, "now", 0.001);
  assert.deepEqual([at(found, main), at(found, gc)].map(({ x, width }) => [x, width]), [[0, 0.9], [0.9, 0.05]]);
  assert.equal(at(found, gone), undefined, "it takes no time");
  assert.equal(at(placed(whole, "old", 0.001), gone).width, 0.375);
  const alone = placed(handler, "now", 0.001);
  assert.deepEqual(alone.map(({ box, width }) => [box, width]), [[whole, 1], [main, 1], [handler, 1], [inner, 0.5]]);
});

test("colours are of the difference, and hatched is what may be none", () => {
  assert.equal(greatest(all), 300);
  assert.deepEqual([main, handler, gone, gc].map((box) => shade(box, 300)), [2, 3, -3, 2]);
  assert.equal(shade(main, 0), 0);
  assert.deepEqual([main, handler, inner, gone].map(isUnsure), [true, false, true, false]);
  assert.ok(isUnsure({ ...handler, now: 300 }), "cheaper here, and dearer in all");
});

test("what is found counts once, however often it is within itself", () => {
  assert.equal(search(all, " SIGN ", "now").boxes.size, 2);
  assert.equal(search(all, "sign", "now").share, 0.6);
  assert.equal(search(all, "i", "now").share, 0.9, "main, and what it calls");
  assert.equal(search(all, "  ", "now").boxes.size, 0);
});

test("arrows lead to callers, calls and neighbours that are drawn", () => {
  assert.deepEqual(["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "x"].map((key) => next(handler, key, "now")), [main, inner, null, sign, null]);
  assert.equal(next(handler, "ArrowRight", "old"), gone);
  assert.equal(next(whole, "ArrowUp", "now"), null);
});

test("a box is told in words", () => {
  const column = table.columns[4];
  assert.equal(
    words(handler, whole, column),
    "candidate 600 ns (60.0% of a request), baseline 400 ns (50.0% of a request): +200 ns. Its function, whoever calls it: +200 ns (120 .. 280 ns).",
  );
  assert.match(words(main, whole, column), /no sure difference\.$/);
  assert.match(words(inner, whole, column), /Too few samples for an interval of this function\.$/);
});
