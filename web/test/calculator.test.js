import assert from "node:assert/strict";
import { test } from "node:test";

import { cpus, sentence } from "../src/calculator.js";

test("CPUs are the time of a request multiplied, with its interval", () => {
  assert.equal(cpus(10000, ["axum", 10700, [9630, 11770]]), "0.107 CPUs (0.0963 .. 0.1177)");
  assert.equal(cpus(1e6, ["axum", 10700, null]), "10.7 CPUs");
  assert.equal(sentence(25000, ["axum", 10700, null]), "25,000 requests a second of axum need at least 0.2675 CPUs.");
});

test("what is no rate has no sentence", () => {
  for (const rate of [0, -1, NaN, Infinity]) assert.equal(sentence(rate, ["axum", 10700, null]), "");
});
