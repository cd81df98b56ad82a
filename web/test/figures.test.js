import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { both, show, tick, shownIn } from "../src/figures.js";

test("numbers are shown as crates/report shows them", () => {
  const cases = JSON.parse(readFileSync(new URL("figures.json", import.meta.url), "utf8"));
  assert.ok(cases.length > 100);
  for (const [unit, number, text] of cases) assert.equal(show(unit, number), text, `${unit} ${number}`);
});

test("numbers at an axis have no zeros that say nothing", () => {
  const said = [tick("nanoseconds", 1e6), tick("per-second", 150e3), tick("share", 0.4), tick("nanoseconds", 1.5e6), tick("bytes", 2 ** 24), tick("count", 100)];
  assert.deepEqual(said, ["1 ms", "150 k", "40%", "1.5 ms", "16 MiB", "100"]);
});

test("of two numbers the unit is written once where it is the same", () => {
  assert.equal(both("share", [0.995, 1.047], " .. "), "99.5 .. 104.7%");
  assert.equal(both("nanoseconds", [999e3, 2e6], " .. "), "999 µs .. 2.00 ms");
  assert.equal(both("bytes", [3.99 * 2 ** 20, 5.04 * 2 ** 20], " against "), "3.99 against 5.04 MiB");
  assert.equal(both("count", [1, 2], " .. "), "1 .. 2");
});

test("people read a name where the data have a key", () => {
  const column = { key: "language", title: "language", unit: "text", names: { cpp: "C++" } };
  assert.deepEqual([shownIn(column, "cpp"), shownIn(column, "rust"), shownIn(column, null)], ["C++", "rust", "-"]);
  assert.equal(shownIn({ key: "p", title: "p", unit: "probability" }, 0.012345), "0.012");
});
