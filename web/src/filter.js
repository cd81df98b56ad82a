// What a reader filters a table by: a text, and values of the columns that are facets. Pinned services pass whatever is chosen.

import { names, place } from "./data.js";
import { button, make } from "./dom.js";
import { shown, shownIn } from "./figures.js";
import { has } from "./order.js";

/** @import { Table, Value } from "./data.js" */
/** @typedef {{ text: string, facets: Map<string, Set<string>>, pinned: Set<string> }} Chosen */

/** Rows from which on a table has a field for text: that of services, and others. */
const TEXT_ROWS_MIN = { services: 8, rows: 30 };

/** @returns {Chosen} */
export function nothingChosen() {
  return { text: "", facets: new Map(), pinned: new Set() };
}

/** @param {Chosen} chosen */
export function isActive(chosen) {
  return chosen.text !== "" || [...chosen.facets.values()].some((values) => values.size > 0);
}

/**
 * @param {Table} table
 * @param {Chosen} chosen
 * @param {boolean} [ofServices] Its rows are services.
 * @returns {(row: Value[]) => boolean}
 */
export function passes(table, chosen, ofServices = false) {
  const text = chosen.text.trim().toLowerCase();
  const facets = [...chosen.facets].filter(([, values]) => values.size > 0).map(([key, values]) => ({ at: place(table, key), values }));
  const nameAt = ofServices ? names(table) : -1;
  const isPinned = (/** @type {Value[]} */ row) => nameAt >= 0 && chosen.pinned.has(String(row[nameAt]));
  return (row) =>
    isPinned(row) ||
    (facets.every(({ at, values }) => values.has(shown(table.columns[at].unit, row[at]))) && (text === "" || has(table, row, text, ofServices)));
}

/**
 * The fields, and what tells them that something was chosen elsewhere.
 * @param {Table} table
 * @param {"services"|"rows"} what What rows are called.
 * @param {Chosen} chosen
 * @param {() => void} changed
 * @returns {{ element: HTMLElement, refresh: (count: number) => void }|null}
 */
export function fields(table, what, chosen, changed) {
  const facets = table.columns.flatMap((column, at) => (column.facet ? facet(table, at, chosen, changed) : []));
  if (facets.length === 0 && table.rows.length < TEXT_ROWS_MIN[what]) return null;
  const text = make("input", { type: "search", placeholder: `Filter ${what}`, "aria-label": `Filter ${what}`, autocomplete: "off", spellcheck: "false" });
  text.addEventListener("input", () => {
    chosen.text = text.value;
    changed();
  });
  const clear = button("Clear", () => {
    reset(chosen);
    changed();
    text.focus();
  });
  const tell = make("span", { class: "tell", role: "status" });
  const element = make("div", { class: "filters", role: "group", "aria-label": `Filters of ${what}` });
  if (table.rows.length >= TEXT_ROWS_MIN[what]) element.append(text);
  element.append(...facets.map((one) => one.element), clear, tell);
  const refresh = (/** @type {number} */ count) => {
    if (text.value !== chosen.text) text.value = chosen.text;
    for (const one of facets) one.refresh();
    clear.hidden = !isActive(chosen);
    tell.textContent = count === table.rows.length ? "" : `${count} of ${table.rows.length}`;
  };
  return { element, refresh };
}

/** What is pinned stays: it is no filter. @param {Chosen} chosen */
export function reset(chosen) {
  chosen.text = "";
  chosen.facets.clear();
}

/**
 * A box of check marks; none where all rows have the same value.
 * @param {Table} table
 * @param {number} at
 * @param {Chosen} chosen
 * @param {() => void} changed
 */
function facet(table, at, chosen, changed) {
  const column = table.columns[at];
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const row of table.rows) {
    const text = shown(column.unit, row[at]);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  if (counts.size < 2) return [];
  const values = () => chosen.facets.get(column.key) ?? new Set();
  const boxes = [...counts].sort(([one], [other]) => shownIn(column, one).localeCompare(shownIn(column, other))).map(([text, count]) => {
    const box = make("input", { type: "checkbox" });
    box.addEventListener("change", () => {
      const now = values();
      if (box.checked) now.add(text);
      else now.delete(text);
      chosen.facets.set(column.key, now);
      changed();
    });
    return { box, text, label: make("label", {}, box, make("bdi", {}, shownIn(column, text)), make("span", {}, String(count))) };
  });
  const summary = make("summary", {}, column.title);
  const group = make("div", { role: "group", "aria-label": column.title }, ...boxes.map((one) => one.label));
  const element = make("details", { class: "facet" }, summary, group);
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !element.open) return;
    element.open = false;
    summary.focus();
  });
  const refresh = () => {
    const now = values();
    for (const { box, text } of boxes) box.checked = now.has(text);
    element.classList.toggle("some", now.size > 0);
    summary.textContent = now.size === 0 ? column.title : `${column.title}: ${[...now].map((text) => shownIn(column, text)).join(", ")}`;
  };
  return [{ element, refresh }];
}

/** Boxes close when a reader goes on elsewhere. */
export function closeElsewhere() {
  document.addEventListener("pointerdown", (event) => {
    for (const open of document.querySelectorAll("details.facet[open]")) {
      if (event.target instanceof Node && !open.contains(event.target)) open.removeAttribute("open");
    }
  });
}
