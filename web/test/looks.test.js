import assert from "node:assert/strict";
import test from "node:test";
import { looks } from "../src/looks.js";

test("a verdict looks the same whatever was drawn before it", () => {
  for (const word of ["holds", "does not hold", "inconclusive"]) {
    const late = looks(["asio", "hyper"]);
    late("a cell");
    assert.deepEqual(late(word), looks([])(word));
  }
  const colors = ["holds", "does not hold", "inconclusive"].map((word) => looks([])(word).color);
  assert.equal(new Set(colors).size, 3);
});

test("a service that is called like a verdict is a service", () => {
  assert.equal(looks(["holds"])("holds").color, "var(--s0)");
});
