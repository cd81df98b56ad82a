import assert from "node:assert/strict";
import { test } from "node:test";

import { byAddress, pagesOf } from "../src/versus.js";

/** @type {[string, string][]} */
const services = [["hyper", "hyper"], ["axum", "axum"], ["a_3ab", "a:b"]];
const pages = pagesOf(services, [[], [0], []]);

test("a pair has one page, whichever of both is asked for first", () => {
  assert.equal(pages[0].get(1), "axum/hyper/index.html");
  assert.equal(pages[1].get(0), "axum/hyper/index.html");
  assert.equal(pages[0].get(2), undefined);
});

test("an address of old leads to the page of its pair, and one that is written wrongly nowhere", () => {
  assert.equal(byAddress(services, pages, "#hyper,axum"), "axum/hyper/index.html");
  assert.equal(byAddress(services, pages, "#axum,hyper"), "axum/hyper/index.html");
  for (const wrong of ["", "#hyper", "#hyper,gone", "#a_3ab,hyper", "#%"]) assert.equal(byAddress(services, pages, wrong), null);
});
