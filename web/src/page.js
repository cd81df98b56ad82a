// What a page does. It is complete without this: text and tables are there, only charts and long tables are not.

import { address, askedFor, parts, recalled } from "./address.js";
import { picture } from "./chart.js";
import { comparing } from "./compare.js";
import { contents, openTarget } from "./contents.js";
import { names, place, read } from "./data.js";
import { button, find, make } from "./dom.js";
import { closeElsewhere, fields, isActive, nothingChosen, passes, reset } from "./filter.js";
import { follow, followList } from "./live.js";
import { looks } from "./looks.js";
import { PAIRS } from "./pair.js";
import { panel } from "./panel.js";
import { copiers, filesOf, save } from "./save.js";
import { tableOf } from "./table.js";
import { themeButton } from "./theme.js";

/** @import { Asked } from "./address.js" */
/** @import { Picture } from "./chart.js" */
/** @import { Doc, Section, Table } from "./data.js" */
/** @import { Chosen } from "./filter.js" */
/** @import { Position } from "./table.js" */

/**
 * What a reader did in a section. It is kept when a page that is served shows something newer.
 * @typedef {{ chosen: Chosen, position: Position, switched: Map<string, boolean>[], open: boolean|null, asked: Asked }} Memory
 */

/** @type {Map<string, Memory>} */
const memories = new Map();
/** What shows a section as an address says. @type {Map<string, (query: URLSearchParams) => void>} */
const recalls = new Map();
/** What answers what an address asks. @type {Map<string, (asked: Asked) => void>} */
const asks = new Map();
/** @type {Picture[]} */
let pictures = [];
let stop = () => {};

/** @param {Section} section @returns {Memory} */
function memoryOf(section) {
  let memory = memories.get(section.id);
  if (!memory) {
    memory = { chosen: nothingChosen(), position: { sorting: null, page: 0 }, switched: [], open: null, asked: { pair: null, service: null } };
    memories.set(section.id, memory);
  }
  while (memory.switched.length < section.charts.length) memory.switched.push(new Map());
  return memory;
}

/** Everything of the document that is in the page now. */
function begin() {
  const data = read(find(document, "#document").textContent ?? "");
  filesOf(data);
  const main = find(document, "#main");
  const first = data.sections[0];
  const order = first?.table ? column(first.table, names(first.table)) : [];
  const coloured = servicesOf(data) ?? order;
  const tones = new Map(data.sections.flatMap((section) => Object.entries(section.table?.tones ?? {})));
  const look = looks([...new Set(coloured)], tones);
  const some = make("div", { class: "some-only", role: "status", hidden: true });
  main.append(some);
  /** @type {((visible: Set<string>|null) => void)[]} */
  const updates = [];

  const update = () => {
    const memory = first && memoryOf(first);
    const visible = first?.table && isActive(memory.chosen) ? visibleNames(first.table, memory.chosen) : null;
    for (const one of updates) one(visible);
    const all = new Set(order).size;
    some.hidden = visible === null || visible.size === all;
    some.replaceChildren(`${visible?.size ?? all} of ${all} are shown, here and below`, button("Show all", () => {
      reset(memory.chosen);
      if (first?.table) noteInAddress(first.id, first.table, memory);
      update();
    }));
  };
  for (const section of data.sections) {
    const element = document.getElementById(section.id);
    if (element && section.table) updates.push(sectionOf(element, section, section.table, first?.table ?? null, look, update));
  }
  const leave = first?.table ? services(data, first, first.table, update) : () => {};
  copiers(main);
  const unwatch = contents(main);
  update();
  recall();
  stop = () => {
    unwatch();
    leave();
    for (const one of pictures) one.end();
    pictures = [];
  };
}

/**
 * What is asked of the services of the main table: one by its name, two by their names.
 * @param {Doc} data
 * @param {Section} first
 * @param {Table} table
 * @param {() => void} update Shows what is chosen now.
 * @returns {() => void} What ends it.
 */
function services(data, first, table, update) {
  const memory = memoryOf(first);
  const noted = () => noteInAddress(first.id, table, memory);
  const pairs = data.sections.find((section) => section.id === PAIRS)?.table;
  const box = find(document, `#${CSS.escape(first.id)}-table`);
  const pair = pairs ? comparing(table, pairs, memory.asked, noted) : null;
  if (pair) {
    const filters = box.querySelector(".filters") ?? make("div", { class: "filters" });
    box.prepend(make("div", { class: "top" }, filters, pair.form), pair.answer);
    pair.refresh();
  }
  const beside = panel(data, {
    closed() {
      memory.asked.service = null;
      noted();
    },
    compare: pair && pair.begin,
    pins: pins(table, memory.chosen.pinned, () => {
      noted();
      update();
    }),
  });
  const open = (/** @type {string|null} */ name) => {
    memory.asked.service = name !== null && beside.open(name) ? name : null;
    if (memory.asked.service === null) beside.close();
  };
  const label = place(table, "label");
  for (const cell of label < 0 ? [] : box.querySelectorAll("tbody tr[data-row] th[scope=row]")) {
    const name = String(table.rows[Number(cell.closest("tr")?.dataset.row)]?.[label] ?? "");
    const link = make("a", { href: `#${encodeURIComponent(first.id)}?service=${encodeURIComponent(name)}`, class: "name" });
    cell.firstElementChild?.replaceWith(link);
    link.append(make("bdi", { title: name.length > 32 && name }, name));
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      open(name);
      noted();
    });
  }
  asks.set(first.id, (asked) => {
    memory.asked.pair = asked.pair;
    pair?.refresh();
    open(asked.service);
  });
  // A page that is served shows something newer, and the reader goes on.
  if (memory.asked.service !== null) open(memory.asked.service);
  return beside.end;
}

/**
 * @param {Table} table
 * @param {Set<string>} pinned Changed here.
 * @param {() => void} changed
 */
function pins(table, pinned, changed) {
  const known = new Set(column(table, names(table)));
  return {
    may: (/** @type {string} */ name) => known.has(name),
    has: (/** @type {string} */ name) => pinned.has(name),
    toggle(/** @type {string} */ name) {
      if (!pinned.delete(name)) pinned.add(name);
      changed();
    },
  };
}

/** @param {Table} table @param {number} at */
function column(table, at) {
  return at < 0 ? [] : table.rows.map((row) => String(row[at] ?? "-"));
}

/** @param {Table} table @param {Chosen} chosen */
function visibleNames(table, chosen) {
  return new Set(column({ ...table, rows: table.rows.filter(passes(table, chosen, true)) }, names(table)));
}

/**
 * Whose colours they are: of a published benchmark the first table has its claims, and a claim may be called like a service.
 * @param {Doc} data
 */
function servicesOf(data) {
  const table = data.sections.map((section) => section.table).find((table) => table !== null && place(table, "label") >= 0);
  return table && column(table, place(table, "label"));
}

/**
 * A section, and what it does when the main table shows other names.
 * @param {HTMLElement} element
 * @param {Section} section
 * @param {Table} table
 * @param {Table|null} first
 * @param {ReturnType<typeof looks>} look
 * @param {() => void} update
 */
function sectionOf(element, section, table, first, look, update) {
  const memory = memoryOf(section);
  const isFirst = table === first;
  const box = find(element, ".table");
  const fold = box.closest("details.fold");
  if (fold instanceof HTMLDetailsElement) {
    if (memory.open !== null) fold.open = memory.open;
    fold.addEventListener("toggle", () => (memory.open = fold.open));
  }
  const noted = () => noteInAddress(section.id, table, memory);
  const shown = tableOf(box, table, section.id, memory.position, memory.chosen, noted);
  const what = isFirst ? "services" : "rows";
  /** @type {Set<string>|null} */
  let visible = null;
  /** @type {ReturnType<typeof fields>} */
  let filters = null;
  function filterable() {
    filters = fields(table, what, memory.chosen, () => {
      noted();
      changed();
    });
    if (filters) box.prepend(filters.element);
  }
  // To count the values of thousands of rows takes as long as to draw a page: it is done for who opens the table.
  if (!(fold instanceof HTMLDetailsElement) || fold.open) filterable();
  else {
    const opened = () => {
      if (!fold.open) return;
      fold.removeEventListener("toggle", opened);
      filterable();
      refresh();
    };
    fold.addEventListener("toggle", opened);
  }
  const own = section.charts.flatMap((chart, at) => {
    const figure = element.querySelector(`figure[data-chart="${at}"]`);
    if (!(figure instanceof HTMLElement)) return [];
    if (chart.shape !== "flame") return [picture(figure, table, chart, look, memory.switched[at], section.charts)];
    // A page that was opened before there was one has no script for it.
    if (!globalThis.tareFlame) find(figure, ".plot").replaceWith(make("p", { class: "empty" }, "Load this page again to see it."));
    return globalThis.tareFlame ? [globalThis.tareFlame(figure, table, chart)] : [];
  });
  pictures.push(...own);

  // Rows of services that the main table does not show are not shown here either.
  const key = first ? first.columns[names(first)]?.key : null;
  const nameAt = place(table, key);
  const known = new Set(first ? column(first, names(first)) : []);

  function changed() {
    if (isFirst) update();
    else refresh();
  }

  recalls.set(section.id, (query) => {
    openTarget();
    const seen = recalled(table, query);
    reset(memory.chosen);
    memory.chosen.text = seen.chosen.text;
    for (const [key, values] of seen.chosen.facets) memory.chosen.facets.set(key, values);
    memory.chosen.pinned.clear();
    for (const name of seen.chosen.pinned) memory.chosen.pinned.add(name);
    memory.position.sorting = seen.sorting;
    if (fold instanceof HTMLDetailsElement) fold.open = true;
    changed();
  });

  function refresh() {
    const pass = passes(table, memory.chosen, isFirst);
    const rows = table.rows.flatMap((row, at) => {
      const name = nameAt < 0 ? null : String(row[nameAt] ?? "-");
      const hidden = !isFirst && visible && name !== null && known.has(name) && !visible.has(name);
      return !hidden && pass(row) ? [at] : [];
    });
    filters?.refresh(rows.length);
    shown.show(rows);
    for (const one of own) one.show(rows);
  }
  return (/** @type {Set<string>|null} */ now) => {
    visible = now;
    refresh();
  };
}

/** Shows what the address says, if it says anything. */
function recall() {
  const { id, query } = parts(location.hash);
  if (query.size === 0) return;
  recalls.get(id)?.(query);
  asks.get(id)?.(askedFor(location.hash));
}

/** @param {string} id @param {Table} table @param {Memory} memory */
function noteInAddress(id, table, { chosen, position, asked }) {
  history.replaceState(null, "", address(id, table, { chosen, sorting: position.sorting }, asked));
}

/**
 * What is on paper is drawn, and every table that is written is open. That is the head, the main table and the facts; all of it for
 * who asks for that.
 */
function printable() {
  const root = document.documentElement;
  /** @type {HTMLDetailsElement[]} */
  let opened = [];
  addEventListener("beforeprint", () => {
    if (!root.classList.contains("print-all")) return;
    opened = [...document.querySelectorAll("details:is(.level, .fold, .meanings, .remarks, .checks *):not([open])")]
      .filter((fold) => fold instanceof HTMLDetailsElement)
      .filter((fold) => fold.matches(".level") || !fold.querySelector("table[data-long]"));
    for (const fold of opened) fold.open = true;
    for (const one of pictures) one.print();
  });
  addEventListener("afterprint", () => {
    for (const fold of opened) fold.open = false;
    opened = [];
    root.classList.remove("print-all");
  });
  const all = button("Print everything", () => {
    root.classList.add("print-all");
    print();
  });
  document.querySelector(".foot")?.append(make("p", { class: "tools" }, button("Print the summary", () => print()), all));
}

/** @param {Document} page What a server has now. */
function replace(page) {
  const json = page.getElementById("document");
  const main = page.getElementById("main");
  if (!json || !main || json.textContent === find(document, "#document").textContent) return;
  const top = scrollY;
  stop();
  for (const [old, now] of [["#document", json], ["#main", main], [".contents", page.querySelector(".contents")]]) {
    if (now instanceof Element) find(document, String(old)).replaceWith(document.adoptNode(now));
  }
  document.title = page.title;
  begin();
  scrollTo({ top, behavior: "instant" });
}

const tools = find(document, "#tools");
tools.append(themeButton());
if (document.getElementById("document")) {
  tools.prepend(button("Download JSON", () => {
    save("document.json", "application/json", JSON.stringify(read(find(document, "#document").textContent ?? "")));
  }));
  closeElsewhere();
  begin();
  printable();
  openTarget();
  addEventListener("hashchange", () => {
    recall();
    openTarget();
  });
  // Twice the same link is no change of address.
  document.addEventListener("click", (event) => {
    if (event.target instanceof Element && event.target.closest("a[href^='#']")) setTimeout(openTarget);
  });
  const events = document.body.dataset.events;
  if (events) follow(events, replace);
} else {
  followList();
}
