import assert from "node:assert/strict";
import test from "node:test";
import { address, askedFor, parts, recalled } from "../src/address.js";
import { nothingChosen } from "../src/filter.js";

const table = {
  caption: "Rows",
  columns: [
    { key: "service", title: "Service", unit: "text" },
    { key: "language", title: "Language", unit: "text", facet: true },
    { key: "p99", title: "p99", unit: "nanoseconds" },
    { key: "low", title: "Low", unit: "nanoseconds", hidden: true },
  ],
  rows: [],
};

test("what an address says is what it was made of", () => {
  const chosen = nothingChosen();
  chosen.text = "a&b #?é";
  chosen.facets.set("language", new Set(["c++", "go"]));
  chosen.pinned.add("a,b").add("flask");
  for (const seen of [
    { chosen: nothingChosen(), sorting: null },
    { chosen, sorting: { place: 2, down: true } },
    { chosen, sorting: { place: 0, down: false } },
  ]) {
    const { id, query } = parts(address("ranks by p99", table, seen));
    assert.equal(id, "ranks by p99");
    assert.deepEqual(recalled(table, query), seen);
  }
  assert.equal(address("ranks", table, { chosen: nothingChosen(), sorting: null }), "#ranks");
  assert.equal(address("ranks", table, { chosen: nothingChosen(), sorting: { place: 2, down: true } }), "#ranks?sort=-p99");
});

test("columns that are not there, are hidden or are no facets are left out", () => {
  const { query } = parts("#ranks?sort=low&only.service=x&only.gone=y&other=z");
  assert.deepEqual(recalled(table, query), { chosen: nothingChosen(), sorting: null });
});

test("an address that is written wrongly leads nowhere", () => {
  const ids = ["#rounds", "#a%20b", "", "#", "#%", "#%ff", "#ranks?"].map((hash) => parts(hash).id);
  assert.deepEqual(ids, ["rounds", "a b", "", "", "", "", "ranks"]);
});

test("two services, or one, are in the address by their names, whatever these are", () => {
  const seen = { chosen: nothingChosen(), sorting: { place: 2, down: true } };
  for (const pair of [["hyper", "axum"], ["a,b", "c&d=e"], ["<s>", "é #%"]]) {
    const text = address("ranks", table, seen, { pair, service: null });
    assert.deepEqual(askedFor(text), { pair, service: null });
    assert.deepEqual(recalled(table, parts(text).query), seen);
  }
  assert.equal(address("ranks", table, seen, { pair: ["hyper", "axum"], service: null }), "#ranks?sort=-p99&compare=hyper,axum");
  const none = { chosen: nothingChosen(), sorting: null };
  assert.equal(address("ranks", table, none, { pair: null, service: "a b" }), "#ranks?service=a%20b");
  assert.deepEqual(askedFor("#ranks?service=a%20b"), { pair: null, service: "a b" });
  assert.deepEqual(askedFor("#ranks?compare=hyper%2Caxum"), { pair: ["hyper", "axum"], service: null });
  for (const none of ["#ranks", "", "#ranks?compare=hyper", "#ranks?compare=a,b,c", "#ranks?compare=%ff,a"]) assert.equal(askedFor(none).pair, null);
});
