// What the pages of a site have beside their text: a search, the choice of two services and of a figure, the theme. All of it is text
// and links without this.

import { calculator } from "./calculator.js";
import { make } from "./dom.js";
import { landing } from "./landing.js";
import { copiers } from "./save.js";
import { matches } from "./search.js";
import { themeButton } from "./theme.js";
import { askPair } from "./versus.js";

/** @import { Known } from "./search.js" */

/** Lines of what was found. */
const FOUND_MAX = 12;

const tools = document.getElementById("tools");
if (tools) {
  tools.prepend(searchBox(tools.dataset.root ?? ""));
}
// The page of a run has these of its own.
if (!document.getElementById("document")) {
  tools?.append(themeButton());
  copiers(document);
}
askPair();
landing();
calculator();

/**
 * What can be found is loaded when a reader begins to search.
 * @param {string} root
 */
function searchBox(root) {
  const list = make("ul", { class: "found", hidden: true });
  const input = make("input", { type: "search", placeholder: "Search", "aria-label": "Search this site" });
  const told = make("span", { class: "sr", role: "status" });
  /** @type {Promise<Known[]>|null} */
  let known = null;
  const show = async () => {
    known ??= load(`${root}assets/search.js`);
    const found = matches(await known, input.value).slice(0, FOUND_MAX);
    list.replaceChildren(...found.map(([name, kind, path]) =>
      make("li", {}, make("a", { href: root + path }, make("bdi", {}, name), " ", make("small", {}, kind)))));
    list.hidden = found.length === 0;
    told.textContent = input.value === "" ? "" : `${found.length} found`;
  };
  input.addEventListener("input", show);
  input.addEventListener("focus", show);
  const box = make("search", { class: "search" }, input, list, told);
  box.addEventListener("keydown", (event) => {
    const links = [...list.querySelectorAll("a")];
    const at = links.findIndex((link) => link === document.activeElement);
    if (event.key === "Escape") {
      list.hidden = true;
      input.focus();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const next = at + (event.key === "ArrowDown" ? 1 : -1);
      if (next < 0) input.focus();
      else links[Math.min(next, links.length - 1)]?.focus();
    } else if (event.key === "Enter" && event.target === input) {
      links[0]?.click();
    }
  });
  box.addEventListener("focusout", (event) => {
    if (!(event.relatedTarget instanceof Node && box.contains(event.relatedTarget))) list.hidden = true;
  });
  return box;
}

/**
 * A page from disk may load a script, and no data.
 * @param {string} source
 * @returns {Promise<Known[]>}
 */
function load(source) {
  return new Promise((done) => {
    const script = make("script", { src: source });
    script.addEventListener("load", () => done(globalThis.tareSearch ?? []));
    script.addEventListener("error", () => done([]));
    document.head.append(script);
  });
}
