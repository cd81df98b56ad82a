import assert from "node:assert/strict";
import test from "node:test";
import { read } from "../src/data.js";

test("columns in their shortest form are rows again, and no key of the form is left", () => {
  const packed = [
    [0.5, null, 0.25, 1],
    { runs: [3, false, 1, null] },
    { from: 10, steps: [2, 1, 1, -12] },
    { words: ["hyper", "axum", null], of: { runs: [1, 0, 1, 2, 2, 1] } },
  ];
  const { sections } = read(JSON.stringify({ sections: [{ table: { caption: "", columns: [], count: 4, packed } }, { table: null }] }));
  assert.deepEqual(sections[0].table, {
    caption: "", columns: [],
    rows: [[0.5, false, 10, "hyper"], [null, false, 11, null], [0.25, false, 12, "axum"], [1, null, 0, "axum"]],
  });
});
