// The page of all pairs: a reader picks two services, and a link leads to the page of the pair. It begins with two neighbours in rank.

import { make } from "./dom.js";

/** @typedef {{ services: [string, string][], pairs: number[][] }} Known Services in the order of ranks, each with its part of an address. */

export function askPair() {
  const ask = document.getElementById("ask");
  const data = document.getElementById("pairs-of");
  if (!ask || !data?.textContent) return;
  /** @type {Known} */
  const { services, pairs } = JSON.parse(data.textContent);
  const pages = pagesOf(services, pairs);
  // The address of a pair was a part of this page once.
  const asked = byAddress(services, pages, location.hash);
  if (asked) location.replace(asked);

  const option = (/** @type {number} */ at) => make("option", { value: at }, services[at][1]);
  const [first, second] = ["First service", "Second service"].map((label) => make("select", { "aria-label": label, autocomplete: "off" }));
  const link = make("a", { class: "button" });
  first.append(...services.map((_, at) => option(at)));
  const show = () => {
    const [one, other] = [Number(first.value), Number(second.value)];
    link.href = pages[one].get(other) ?? "";
    link.textContent = `${services[one][1]} against ${services[other][1]}`;
  };
  const partners = () => {
    const one = Number(first.value);
    const before = Number(second.value);
    const known = [...pages[one].keys()].sort((a, b) => a - b);
    second.replaceChildren(...known.map(option));
    const nearest = known.toSorted((a, b) => Math.abs(a - one) - Math.abs(b - one))[0];
    second.value = String(second.dataset.chosen && known.includes(before) ? before : nearest);
    show();
  };
  first.addEventListener("change", partners);
  second.addEventListener("change", () => {
    second.dataset.chosen = "yes";
    show();
  });
  // References have no rank: the first of those with one has a neighbour that it is tied with.
  partners();
  ask.append(first, " against ", second, " ", link);
  ask.hidden = false;
}

/**
 * For each service the pages of its pairs, by the place of the other one.
 * @param {[string, string][]} services
 * @param {number[][]} pairs
 */
export function pagesOf(services, pairs) {
  /** @type {Map<number, string>[]} */
  const pages = services.map(() => new Map());
  pairs.forEach((others, one) => {
    for (const other of others) {
      const path = `${services[one][0]}/${services[other][0]}/index.html`;
      pages[one].set(other, path);
      pages[other].set(one, path);
    }
  });
  return pages;
}

/**
 * The page of `#axum,hyper`, in either order; nothing where that is no pair.
 * @param {[string, string][]} services
 * @param {Map<number, string>[]} pages
 * @param {string} hash
 */
export function byAddress(services, pages, hash) {
  const [one, other] = hash.slice(1).split(",").map((slug) => services.findIndex(([known]) => known === slug));
  return pages[one]?.get(other) ?? null;
}
