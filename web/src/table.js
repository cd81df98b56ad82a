// A table of the page: sorted by its heads, and, where it is long, made here, a hundred rows at a time. Rows of a short one
// were written by crates/report, and are moved and hidden only.

import { ends, names, place } from "./data.js";
import { button, find, make } from "./dom.js";
import { interval, plain, sign, shownIn } from "./figures.js";
import { sorted } from "./order.js";
import { copyButton, csv, markdown, save, tsv } from "./save.js";

/** @import { Table } from "./data.js" */
/** @import { Sorting } from "./order.js" */
/** @typedef {{ sorting: Sorting|null, page: number }} Position */
/** @import { Chosen } from "./filter.js" */

/** Rows of a long table that are in the page at once. */
const PAGE_ROWS = 100;
/** As in write/html/table.rs. */
const SHORT_LETTERS_MAX = 32;

/**
 * Rows that crates/report wrote, each with the line below it, where that says more.
 * @param {HTMLElement} body
 * @returns {Map<number, Element[]>}
 */
function writtenRows(body) {
  const rows = new Map();
  for (const row of body.querySelectorAll("tr[data-row]")) {
    const next = row.nextElementSibling;
    rows.set(Number(row.getAttribute("data-row")), next?.classList.contains("said") ? [row, next] : [row]);
  }
  return rows;
}

/**
 * @param {HTMLElement} box
 * @param {Table} table
 * @param {string} id A file name.
 * @param {Position} position Where the reader is; changed here.
 * @param {Chosen} chosen What of it is pinned stands first.
 * @param {() => void} turned After the reader has sorted it.
 * @returns {{ show: (rows: number[]) => void }}
 */
export function tableOf(box, table, id, position, chosen, turned) {
  const [scroll, element, body] = [find(box, ".scroll"), find(box, "table"), find(box, "tbody")];
  const isLong = element.hasAttribute("data-long");
  const fold = box.closest("details.fold");
  const heads = [...element.querySelectorAll("thead th")].filter((head) => head instanceof HTMLElement);
  const written = writtenRows(body);
  const [nameAt, referenceAt] = [names(table), place(table, "is_reference")];
  const places = heads.map((head) => Number(head.dataset.place));
  const status = make("span", { class: "tell", role: "status" });
  const pages = make("span", { class: "pages" });
  const below = make(
    "div",
    { class: "below" },
    status,
    pages,
    copyButton("Copy as Markdown", `${id}.md`, "text/markdown", () => markdown(table, visiblePlaces(), inOrder())),
    copyButton("Copy as TSV", `${id}.tsv`, "text/tab-separated-values", () => tsv(table, visiblePlaces(), inOrder())),
    button("Download CSV", () => save(`${id}.csv`, "text/csv", csv(table))),
  );
  box.append(below);
  /** @type {number[]} */
  let rows = [];
  let stale = true;

  for (const head of heads) {
    const at = Number(head.dataset.place);
    const sort = button("", () => turn(at));
    sort.append(...head.childNodes);
    head.append(sort);
  }

  /** First the best: the highest rate or share, the least time, memory or cost, the first name. Then the other way, then as it was. */
  function turn(/** @type {number} */ at) {
    const first = ["per-second", "share", "flag"].includes(table.columns[at].unit);
    const now = position.sorting;
    if (now?.place !== at) position.sorting = { place: at, down: first };
    else position.sorting = now.down === first ? { place: at, down: !first } : null;
    position.page = 0;
    render();
    turned();
  }

  const isPinned = (/** @type {number} */ row) => chosen.pinned.has(String(table.rows[row][nameAt]));

  /** What all are related to stays first, then what is pinned, in whichever order the others are. */
  function inOrder() {
    const order = position.sorting ? sorted(table, rows, position.sorting) : rows;
    const group = (/** @type {number} */ row) => (table.rows[row][referenceAt] === true ? 0 : isPinned(row) ? 1 : 2);
    return [0, 1, 2].flatMap((which) => order.filter((row) => group(row) === which));
  }

  /** Some columns are shown only to who asks for them, or on a wide screen. */
  function visiblePlaces() {
    return heads.filter((head) => head.checkVisibility()).map((head) => Number(head.dataset.place));
  }

  function render() {
    stale = false;
    const { sorting } = position;
    const order = inOrder();
    const count = isLong ? Math.max(1, Math.ceil(order.length / PAGE_ROWS)) : 1;
    position.page = Math.min(position.page, count - 1);
    const shownRows = isLong ? order.slice(position.page * PAGE_ROWS, (position.page + 1) * PAGE_ROWS) : order;
    body.replaceChildren(...shownRows.flatMap((row) => written.get(row) ?? made(row)));
    for (const [row, [line]] of written) line.classList.toggle("pinned", isPinned(row));
    for (const head of heads) {
      const isIt = Number(head.dataset.place) === sorting?.place;
      if (isIt) head.setAttribute("aria-sort", sorting.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
    turnPages(count);
    const what = order.length === table.rows.length ? `${order.length}` : `${order.length} of ${table.rows.length}`;
    status.textContent = `${what} ${table.rows.length === 1 ? "row" : "rows"}${order.length === 0 ? ": no row passes the filters" : ""}`;
  }

  /** @param {number} count */
  function turnPages(count) {
    pages.hidden = count < 2;
    if (pages.hidden) return;
    const to = (/** @type {string} */ text, /** @type {number} */ page) => {
      const control = button(text, () => {
        position.page = page;
        render();
        [...pages.querySelectorAll("button")].find((one) => one.textContent === text)?.focus();
      });
      control.disabled = page < 0 || page >= count;
      return control;
    };
    const { page } = position;
    pages.replaceChildren(to("Previous", page - 1), `page ${page + 1} of ${count}`, to("Next", page + 1));
  }

  /** @param {number} row */
  function made(row) {
    const values = table.rows[row];
    const line = make("tr", { "data-row": row });
    for (const at of places) {
      const [column, value] = [table.columns[at], values[at] ?? null];
      const raw = value === null ? "" : typeof value === "number" ? plain(value) : String(value);
      const text = sign(table, column, values) + shownIn(column, value);
      const numeric = column.unit !== "text" && column.unit !== "flag";
      const attributes = { "data-value": raw, class: numeric && "number" };
      const cell = at === nameAt ? make("th", { scope: "row", ...attributes }) : make("td", attributes);
      cell.append(numeric ? text : make("bdi", { title: text.length > SHORT_LETTERS_MAX && text }, text));
      const both = typeof value === "number" ? ends(table, column, values) : null;
      if (both) cell.append(" ", make("small", {}, interval(column, both)));
      line.append(cell);
    }
    return line;
  }

  const fit = () => scroll.classList.toggle("fits", element.offsetWidth <= box.clientWidth);
  new ResizeObserver(fit).observe(box);

  const isOpen = () => !(fold instanceof HTMLDetailsElement) || fold.open;
  fold?.addEventListener("toggle", () => isOpen() && stale && render());

  return {
    show(now) {
      rows = now;
      stale = true;
      if (isOpen() || !isLong) render();
    },
  };
}
