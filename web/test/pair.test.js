import assert from "node:assert/strict";
import test from "node:test";
import { ratio, sentence } from "../src/pair.js";

const main = {
  caption: "Services",
  columns: [
    { key: "label", title: "service", unit: "text" },
    { key: "latency_ns_p99", title: "p99", unit: "nanoseconds" },
    { key: "rss_bytes_peak", title: "RSS", unit: "bytes" },
    { key: "cpu_ratio", title: "CPU", unit: "times", interval: ["cpu_ratio_low", "cpu_ratio_high"] },
    { key: "cpu_ratio_low", title: "from", unit: "times" },
    { key: "cpu_ratio_high", title: "to", unit: "times" },
    { key: "requests_per_second", title: "req/s", unit: "per-second" },
    { key: "is_reference", title: "is a reference", unit: "flag" },
  ],
  rows: [
    ["raw-socket", 800e3, null, 1, null, null, 2e5, true],
    ["hyper", 827e3, 3.99 * 2 ** 20, 1.3, 1.2, 1.4, 1e5, false],
    ["axum", 940e3, 5.04 * 2 ** 20, 1.5, 1.4, 1.6, 9e4, false],
    ["flask", 38e6, null, 44, 43, 45, null, false],
  ],
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
  assert.equal(said(), "axum needs 1.11x hyper's CPU time per request (1.09 .. 1.14x). hyper has 1.12x axum's throughput " +
    "(1.10 .. 1.15x). p99: axum 940 µs, hyper 827 µs. Peak memory: axum 5.04 MiB, hyper 3.99 MiB.");
  assert.match(said({ cpu_ratio: 0.5, cpu_ratio_low: 0.48 }), /^axum needs 2\.00x hyper's CPU time per request \(1\.09 \.\. 2\.08x\)/);
  assert.equal(sentence(main, pairs({ first: "hyper", second: "flask" }), ["hyper", "flask"]).includes("memory"), false);
});

test("asked the other way round it is the same: the larger over the smaller", () => {
  const made = ratio(pairs({}), { row: pairs({}).rows[0], inverse: true }, "cpu_ratio");
  assert.deepEqual(made, { value: 1 / 0.9, ends: [1 / 0.92, 1 / 0.88], bound: null });
  assert.equal(said({}, ["axum", "hyper"]), said());
  assert.match(said({ throughput_ratio_bound: "at-least" }), /hyper has at least 1\.12x axum's/);
  assert.match(said({ throughput_ratio: 0.5, throughput_ratio_bound: "at-least" }, ["axum", "hyper"]), /axum has at most 2\.00x hyper's/);
});

test("a pair that is not separated says what is excluded, and promises nothing", () => {
  const alike = { separated: false, cpu_ratio: 0.99, cpu_ratio_low: 0.96, cpu_ratio_high: 1.02 };
  const alone = said(alike);
  assert.match(alone, /^The data do not separate axum and hyper: axum needs 1\.01x hyper's CPU time per request \(0\.98 \.\. 1\.04x\)\. /);
  assert.match(alone, /A difference of more than 4\.2% is excluded \(95% for this pair alone\)\. Four times as many blocks, 48, would about halve that\./);
  assert.match(said({ ...alike, differ_most: 0.061 }), /more than 6\.1% is excluded \(95% for all pairs together\)/);
  assert.doesNotMatch(alone, /As a pair alone/);
  assert.match(said({ separated: false }), /As a pair alone they would be apart; with all pairs of the run allowed for they are not\./);
  assert.match(said({ ...alike, separated_by: "throughput" }), /more than 15\.0% is excluded/);
});

test("what has no valid figure is said, and who is no pair has no sentence", () => {
  const flask = { first: "hyper", second: "flask", throughput_ratio: null };
  assert.match(sentence(main, pairs(flask), ["hyper", "flask"]), /There is no valid ratio of their throughputs\. p99/);
  assert.match(said({ separated: null }), /There are too few blocks to say whether they differ\./);
  assert.equal(said({}, ["hyper", "hyper"]), null);
  assert.equal(said({}, ["hyper", "gone"]), null);
});

test("a pair without an interval says why", () => {
  const one = { cpu_ratio_low: null, cpu_ratio_high: null, blocks: 1 };
  assert.match(said(one), /^axum needs 1\.11x hyper's CPU time per request\. .*One block had both of them, and an interval takes two\./);
  const none = { cpu_ratio: null, throughput_ratio: null, blocks: 0 };
  assert.match(said(none), /^axum needs 1\.50x raw-socket's CPU time per request \(1\.40 \.\. 1\.60x\), and hyper 1\.30x \(1\.20 \.\. 1\.40x\)\. No block had both of them, so there is no interval of the pair\./);
});
