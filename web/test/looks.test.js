import assert from "node:assert/strict";
import test from "node:test";
import { looks } from "../src/looks.js";

/** @type {Map<string, import("../src/data.js").Tone>} */
const tones = new Map([["holds", "good"], ["does not hold", "bad"], ["inconclusive", "open"]]);

test("a verdict looks the same whatever was drawn before it", () => {
  for (const word of tones.keys()) {
    const late = looks(["asio", "hyper"], tones);
    late("a cell");
    assert.deepEqual(late(word), looks([], tones)(word));
  }
  const colors = [...tones.keys()].map((word) => looks([], tones)(word).color);
  assert.equal(new Set(colors).size, 3);
});

test("a service that is called like a verdict is a service", () => {
  assert.equal(looks(["holds"], tones)("holds").color, "var(--s0)");
});
