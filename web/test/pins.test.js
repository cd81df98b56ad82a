import assert from "node:assert/strict";
import test from "node:test";
import { isActive, nothingChosen, passes, reset } from "../src/filter.js";
import { tsv } from "../src/save.js";

const table = {
  caption: "Services",
  columns: [
    { key: "label", title: "service", unit: "text" },
    { key: "language", title: "language", unit: "text", facet: true },
    { key: "latency_ns", title: "p99", unit: "nanoseconds" },
  ],
  rows: [["axum", "rust", 9.5e5], ["flask", "python", null], ["=cmd\t1", "go", 2]],
};

test("what is pinned passes every filter of services, and is no filter itself", () => {
  const chosen = nothingChosen();
  chosen.pinned.add("flask");
  assert.equal(isActive(chosen), false);
  chosen.facets.set("language", new Set(["rust"]));
  const names = (ofServices) => table.rows.filter(passes(table, chosen, ofServices)).map(([name]) => name);
  assert.deepEqual(names(true), ["axum", "flask"]);
  assert.deepEqual(names(false), ["axum"]);
  reset(chosen);
  assert.deepEqual([...chosen.pinned], ["flask"]);
});

test("rows for a spreadsheet have whole numbers, and no formula", () => {
  assert.equal(tsv(table, [0, 2], [2, 0, 1]), "label\tlatency_ns\n'=cmd 1\t2\naxum\t950000\nflask\t\n");
});
