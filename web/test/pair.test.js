import assert from "node:assert/strict";
import test from "node:test";
import { ratio, sentence } from "../src/pair.js";

const main = {
  caption: "Services",
  columns: [
    { key: "label", title: "service", unit: "text" },
    { key: "latency_ns_p99", title: "p99", unit: "nanoseconds" },
    { key: "rss_bytes_peak", title: "RSS", unit: "bytes" },
  ],
  rows: [["hyper", 827e3, 3.99 * 2 ** 20], ["axum", 940e3, 5.04 * 2 ** 20], ["flask", 38e6, null]],
};

const keys = ["first", "second", "cpu_ratio", "cpu_ratio_low", "cpu_ratio_high", "throughput_ratio", "throughput_ratio_low",
  "throughput_ratio_high", "throughput_ratio_bound", "blocks", "separated", "separated_by", "differ_most"];

function pairs(row) {
  const columns = keys.map((key) => ({ key, title: key, unit: "times" }));
  for (const key of ["cpu_ratio", "throughput_ratio"]) {
    Object.assign(columns[keys.indexOf(key)], { interval: [`${key}_low`, `${key}_high`] });
  }
  const typical = { first: "hyper", second: "axum", cpu_ratio: 0.9, cpu_ratio_low: 0.88, cpu_ratio_high: 0.92, throughput_ratio: 1.12,
    throughput_ratio_low: 1.1, throughput_ratio_high: 1.15, blocks: 12, separated: true, separated_by: "CPU/request" };
  const values = { ...typical, ...row };
  return { caption: "Pairs", columns, rows: [keys.map((key) => values[key] ?? null)] };
}

const said = (row = {}, names = ["hyper", "axum"]) => sentence(main, pairs(row), names);

test("a pair is one sentence, and other values are another one", () => {
  assert.equal(said(), "hyper needs 0.90x (0.88 .. 0.92x) of axum's CPU per request, at 1.12x (1.10 .. 1.15x) of its throughput; " +
    "p99 827 against 940 µs; peak memory 3.99 against 5.04 MiB.");
  assert.match(said({ cpu_ratio: 0.5, cpu_ratio_low: 0.48 }), /^hyper needs 0\.50x \(0\.48 \.\. 0\.92x\) of axum's/);
  assert.equal(sentence(main, pairs({ first: "hyper", second: "flask" }), ["hyper", "flask"]).includes("memory"), false);
});

test("asked the other way round it is the inverse, with the ends swapped", () => {
  const made = ratio(pairs({}), { row: pairs({}).rows[0], inverse: true }, "cpu_ratio");
  assert.deepEqual(made, { value: 1 / 0.9, ends: [1 / 0.92, 1 / 0.88], bound: null });
  assert.match(said({}, ["axum", "hyper"]), /^axum needs 1\.11x \(1\.09 \.\. 1\.14x\) of hyper's CPU per request, at 0\.89x \(0\.87 \.\. 0\.91x\)/);
  assert.match(said({ throughput_ratio_bound: "at-least" }), /at at least 1\.12x/);
  assert.match(said({ throughput_ratio_bound: "at-least" }, ["axum", "hyper"]), /at at most 0\.89x/);
});

test("a pair that is not separated says what is excluded, and promises nothing", () => {
  const alike = { separated: false, cpu_ratio: 0.99, cpu_ratio_low: 0.96, cpu_ratio_high: 1.02 };
  const alone = said(alike);
  assert.match(alone, /^The data do not separate hyper and axum\. /);
  assert.match(alone, /A difference of more than 4\.2% is excluded \(95% for this pair alone\)\. Four times as many blocks, 48, would about halve that\.$/);
  assert.match(said({ ...alike, differ_most: 0.061 }), /more than 6\.1% is excluded \(95% for all pairs together\)/);
  assert.doesNotMatch(alone, /As a pair alone/);
  assert.match(said({ separated: false }), /As a pair alone they would be apart; with all pairs of the run allowed for they are not\./);
  assert.match(said({ ...alike, separated_by: "throughput" }), /more than 15\.0% is excluded/);
});

test("what has no valid figure is said, and who is no pair has no sentence", () => {
  assert.match(said({ throughput_ratio: null }), /CPU per request; there is no valid ratio of their throughputs; p99/);
  assert.match(said({ cpu_ratio: null }), /^hyper has 1\.12x \(1\.10 \.\. 1\.15x\) of axum's throughput/);
  assert.match(said({ separated: null }), /^There are too few blocks to say whether they differ\. hyper needs/);
  assert.equal(said({}, ["hyper", "hyper"]), null);
  assert.equal(said({}, ["hyper", "gone"]), null);
});
