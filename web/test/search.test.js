import assert from "node:assert/strict";
import { test } from "node:test";

import { matches } from "../src/search.js";

/** @type {import("../src/search.js").Known[]} */
const known = [["go-net-http", "service", "a"], ["go", "language", "b"], ["express", "service", "c"], ["Quick run", "run", "d"]];

test("what is called so comes first, then what begins so", () => {
  assert.deepEqual(matches(known, "go").map(([name]) => name), ["go", "go-net-http"]);
  assert.deepEqual(matches(known, "NET").map(([name]) => name), ["go-net-http"]);
});

test("each word must be found, and no word finds nothing", () => {
  assert.deepEqual(matches(known, "go service").map(([name]) => name), ["go-net-http"]);
  assert.deepEqual(matches(known, "  "), []);
  assert.deepEqual(matches(known, "rocket"), []);
});
