// The first page: the plot and the table by another figure, and of some languages only. Without this, the plot is of CPU time,
// and the table has all figures.

import { button, make } from "./dom.js";

/** Figures of which more is better: all others begin with the least. */
const MORE_IS_BETTER = new Set(["requests_per_second"]);

export function landing() {
  const place = document.getElementById("choose");
  const strips = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".strip")]);
  const body = document.querySelector("#services tbody");
  if (!place || !body || strips.length === 0) return;
  const rows = grouped(body);
  const chosen = new Set();

  const metrics = strips.map((strip) => button(strip.dataset.name ?? "", () => by(strip), { "aria-pressed": !strip.hidden ? "true" : "false" }));
  const by = (/** @type {HTMLElement} */ shown) => {
    strips.forEach((strip, at) => {
      strip.hidden = strip !== shown;
      metrics[at].setAttribute("aria-pressed", String(strip === shown));
    });
    const head = document.querySelector(`#services thead th[data-place="${shown.dataset.place}"]`);
    if (head instanceof HTMLTableCellElement) sort(body, rows, head.cellIndex, MORE_IS_BETTER.has(shown.dataset.metric ?? ""));
  };

  const chips = [...strips[0].querySelectorAll(".lane[data-language]")].map((lane) => {
    const language = lane.getAttribute("data-language");
    const chip = button(lane.querySelector("span")?.textContent ?? "", () => {
      if (!chosen.delete(language)) chosen.add(language);
      chip.setAttribute("aria-pressed", String(chosen.has(language)));
      only();
    }, { "aria-pressed": "false" });
    return chip;
  });
  const only = () => {
    const passes = (/** @type {string|null|undefined} */ language) => chosen.size === 0 || chosen.has(language);
    for (const lane of document.querySelectorAll(".lane[data-language]")) lane.toggleAttribute("hidden", !passes(lane.getAttribute("data-language")));
    for (const { row, said, language, isReference } of rows) {
      for (const one of [row, ...said]) one.toggleAttribute("hidden", !isReference && !passes(language));
    }
  };
  place.append(
    make("div", { role: "group", "aria-label": "Figure" }, ...metrics),
    make("div", { role: "group", "aria-label": "Languages" }, ...chips),
  );
  // A point leads to the page of its service, as its row does for readers who use the keyboard.
  for (const strip of strips) {
    strip.addEventListener("click", ({ target }) => {
      const point = target instanceof Element ? target.closest("circle") : null;
      const row = point && rows.find(({ row }) => row.dataset.row === point.getAttribute("data-row"));
      row?.row.querySelector("a")?.click();
    });
  }
}

/**
 * @typedef {object} Group
 * @property {HTMLTableRowElement} row
 * @property {Element[]} said Lines of text below it.
 * @property {string|undefined} language
 * @property {boolean} isReference
 */

/**
 * The rows with what stands below each.
 * @param {Element} body
 * @returns {Group[]}
 */
function grouped(body) {
  /** @type {Group[]} */
  const groups = [];
  /** @type {string[]} */
  const languages = JSON.parse(document.getElementById("languages-of")?.textContent ?? "[]");
  for (const row of body.children) {
    if (!(row instanceof HTMLTableRowElement)) continue;
    if (row.dataset.row === undefined) groups.at(-1)?.said.push(row);
    else groups.push({ row, said: [], language: languages[Number(row.dataset.row)], isReference: row.classList.contains("reference") });
  }
  return groups;
}

/**
 * References stay first, and what lacks the figure is last.
 * @param {Element} body
 * @param {Group[]} groups
 * @param {number} column
 * @param {boolean} isDown
 */
function sort(body, groups, column, isDown) {
  const value = (/** @type {Group} */ { row }) => {
    const text = row.cells[column]?.dataset.value ?? "";
    if (text === "") return Infinity;
    return isDown ? -Number(text) : Number(text);
  };
  const sorted = groups.toSorted((one, other) =>
    Number(other.isReference) - Number(one.isReference) || value(one) - value(other) || 0);
  const lines = sorted.flatMap(({ row, said }) => [row, ...said]);
  if (lines.some((line, at) => line !== body.children[at])) body.replaceChildren(...lines);
}
