// "X or Y?": two fields, and the sentence that answers them.

import { place } from "./data.js";
import { button, make } from "./dom.js";
import { sentence } from "./pair.js";
import { copied, told } from "./save.js";

/** @import { Table } from "./data.js" */
/** @import { Asked } from "./address.js" */

/**
 * @param {Table} main
 * @param {Table} pairs
 * @param {Asked} asked Changed here.
 * @param {() => void} changed
 * @returns {{ form: HTMLElement, answer: HTMLElement, refresh: () => void, begin: (name: string) => void }|null} None where there
 *   is nothing to choose from.
 */
export function comparing(main, pairs, asked, changed) {
  const label = place(main, "label");
  const known = new Set(["first", "second"].flatMap((key) => pairs.rows.map((row) => row[place(pairs, key)])));
  const names = main.rows.map((row) => String(row[label] ?? "")).filter((name) => known.has(name));
  if (names.length < 2) return null;
  const field = (/** @type {string} */ title) => {
    const options = names.map((name) => make("option", { value: name }, name));
    const select = make("select", { "aria-label": title, autocomplete: "off" }, make("option", { value: "" }, "service"), ...options);
    select.addEventListener("change", chosen);
    return select;
  };
  const [one, other] = [field("Compare this service"), field("with this one")];
  const form = make("div", { class: "compare", role: "group", "aria-label": "Compare two services" }, "Compare ", one, " with ", other);
  const text = make("p", { role: "status" });
  const copier = button("Copy", async () => told(copier, await copied(`${text.textContent}\n${location.href}`)), {
    "aria-label": "Copy the sentence and a link",
  });
  const close = button("Close", () => {
    one.value = other.value = "";
    chosen();
    one.focus();
  }, { "aria-label": "Close the comparison" });
  const answer = make("div", { class: "compared", hidden: true }, text, make("span", {}, copier, close));

  function chosen() {
    asked.pair = one.value !== "" && other.value !== "" && one.value !== other.value ? [one.value, other.value] : null;
    changed();
    refresh();
  }

  function refresh() {
    const said = asked.pair && sentence(main, pairs, asked.pair);
    if (said && asked.pair) [one.value, other.value] = asked.pair;
    const isSame = one.value !== "" && one.value === other.value;
    answer.hidden = !said && !isSame;
    copier.hidden = !said;
    text.textContent = said || (isSame ? "These are the same service: choose another one." : "");
  }

  /** With the first of two chosen. */
  function begin(/** @type {string} */ name) {
    one.value = name;
    other.value = "";
    chosen();
    other.focus();
  }
  return { form, answer, refresh, begin };
}
