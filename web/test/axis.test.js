import assert from "node:assert/strict";
import test from "node:test";
import { axis, coordinate } from "../src/axis.js";

const texts = (...words) => axis(...words).ticks.map((one) => one.text);

test("an axis in equal steps begins at nothing, unless all would be at its top", () => {
  assert.deepEqual(texts("linear", "per-second", 30e3, 180e3, 5), ["0", "50 k", "100 k", "150 k", "200 k"]);
  assert.deepEqual(texts("linear", "per-second", 150e3, 180e3, 4), ["150 k", "160 k", "170 k", "180 k"]);
});

test("a few rounds that are counted from one begin there", () => {
  assert.deepEqual(texts("linear", "count", 1, 3, 5), ["1", "2", "3"]);
  assert.equal(texts("linear", "count", 1, 40, 5)[0], "0");
  assert.equal(texts("linear", "per-second", 1, 3, 5)[0], "0");
});

test("a single value has an axis too", () => {
  const { min, max } = axis("linear", "count", 7, 7, 5);
  assert.ok(min <= 7 && max > 7);
  assert.deepEqual(axis("linear", "count", Infinity, -Infinity, 5).ticks, []);
});

test("steps of bytes are powers of two", () => {
  assert.deepEqual(texts("linear", "bytes", 0, 60 * 2 ** 20, 4), ["0", "16 MiB", "32 MiB", "48 MiB", "64 MiB"]);
});

test("less than a power of ten still has several marks", () => {
  assert.ok(texts("log", "nanoseconds", Math.log10(4e3), Math.log10(14e3), 6).length >= 4);
  assert.deepEqual(texts("log", "times", 0, Math.log10(1.1), 5), ["0.95x", "1x", "1.05x", "1.1x", "1.15x"]);
  assert.deepEqual(texts("log", "nanoseconds", 3, 9, 6), ["1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s"]);
});

test("nines are at equal steps from the median on, and the last answer is nowhere", () => {
  assert.deepEqual(texts("percentile", "percentile", 0, 4, 6), ["p50", "p90", "p99", "p99.9", "p99.99"]);
  assert.equal(coordinate("percentile", 0.4), null);
  assert.equal(coordinate("percentile", 1), null);
  assert.equal(coordinate("percentile", 0.99)?.toFixed(6), "2.000000");
  assert.equal(coordinate("log", 0), null);
});
