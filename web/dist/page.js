"use strict";
(() => {
  // src/data.js
  function place(table, key) {
    return key == null ? -1 : table.columns.findIndex((column2) => column2.key === key);
  }
  function names(table) {
    return table.columns.findIndex((column2) => column2.unit === "text" && !column2.hidden);
  }
  function number(row, at) {
    const value2 = at < 0 ? null : row[at];
    return typeof value2 === "number" ? value2 : null;
  }
  function ends(table, column2, row) {
    if (!column2.interval) return null;
    const low = number(row, place(table, column2.interval[0]));
    const high = number(row, place(table, column2.interval[1]));
    return low === null || high === null ? null : [low, high];
  }

  // src/dom.js
  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value2] of Object.entries(attributes)) {
      if (value2 !== void 0 && value2 !== false) element.setAttribute(name, value2 === true ? "" : String(value2));
    }
    element.append(...children);
    return element;
  }
  function button(text, pressed, attributes = {}) {
    const element = make("button", { type: "button", ...attributes }, text);
    element.addEventListener("click", pressed);
    return element;
  }
  function svg(tag, attributes, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value2] of Object.entries(attributes)) element.setAttribute(name, String(value2));
    element.append(...children);
    return element;
  }
  function find(root, selector) {
    const found = root.querySelector(selector);
    if (!(found instanceof HTMLElement)) throw new Error(`the page has no "${selector}"`);
    return found;
  }

  // src/figures.js
  function fixed(number2, places) {
    if (Math.abs(number2) >= 1e21) return BigInt(number2) + (places === 0 ? "" : `.${"0".repeat(places)}`);
    const halves = number2 * 2 ** (places + 1);
    let text = Math.abs(number2).toFixed(places);
    if (Number.isInteger(halves) && halves % 2 !== 0) {
      const ten = 10 ** places;
      const below = Math.floor(Math.abs(number2) * ten);
      text = ((below % 2 === 0 ? below : below + 1) / ten).toFixed(places);
    }
    return number2 < 0 || Object.is(number2, -0) ? `-${text}` : text;
  }
  function plain(number2) {
    if (Object.is(number2, -0)) return "-0";
    const text = String(number2);
    const parts2 = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
    if (!parts2) return text;
    const [, sign2, whole, rest = "", power] = parts2;
    const shift = Number(power);
    if (shift < 0) return `${sign2}0.${"0".repeat(-shift - 1)}${whole}${rest}`;
    return sign2 + whole + rest.padEnd(shift, "0");
  }
  function digits(value2) {
    if (value2 === 0) return "0";
    if (value2 >= 99.95) return fixed(value2, 0);
    if (value2 >= 9.995) return fixed(value2, 1);
    return fixed(value2, value2 > 0 && value2 < 0.0995 ? 3 : 2);
  }
  var SHOWN = {
    "per-second": (value2) => {
      if (value2 >= 999500) return `${digits(value2 / 1e6)} M`;
      return value2 >= 999.5 ? `${digits(value2 / 1e3)} k` : digits(value2);
    },
    nanoseconds: (value2) => {
      if (value2 < 0) return `-${SHOWN.nanoseconds(-value2)}`;
      if (value2 >= 9995e5) return `${digits(value2 / 1e9)} s`;
      if (value2 >= 999500) return `${digits(value2 / 1e6)} ms`;
      return value2 >= 999.5 ? `${digits(value2 / 1e3)} µs` : `${digits(value2)} ns`;
    },
    bytes: (value2) => {
      const kib = value2 / 1024;
      if (kib >= 1023.5 * 1024) return `${digits(kib / 1024 / 1024)} GiB`;
      return kib >= 1023.5 ? `${digits(kib / 1024)} MiB` : `${digits(kib)} KiB`;
    },
    share: (value2) => `${fixed(value2 * 100, 1)}%`,
    times: (value2) => `${digits(value2)}x`,
    change: (value2) => {
      const percent = (value2 - 1) * 100;
      if (percent > 1e3) return "> +1000%";
      return Math.abs(percent) < 0.05 ? "+0.0%" : `${percent > 0 ? "+" : ""}${fixed(percent, 1)}%`;
    },
    percentile: (value2) => `p${plain(Math.round(value2 * 1e8) / 1e6)}`,
    text: plain,
    flag: plain,
    count: plain,
    number: (value2) => {
      if (Number.isInteger(value2)) return plain(value2);
      const size = Math.abs(value2);
      const least = [999.95, 99.995, 9.9995, 0.99995, 0.099995, 99995e-7, 99995e-8];
      const places = least.findIndex((bound2) => size >= bound2);
      if (places < 0) return value2.toExponential(1);
      return fixed(value2, places).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
    }
  };
  function show(unit, number2) {
    return SHOWN[unit](number2);
  }
  function shown(unit, value2) {
    if (value2 === null) return "-";
    if (typeof value2 === "boolean") return value2 ? "yes" : "no";
    return typeof value2 === "number" ? show(unit, value2) : value2;
  }
  var SIGNS = { "at-least": "≥ ", "at-most": "≤ " };
  function sign(table, column2, row) {
    return SIGNS[String(row[place(table, `${column2.key}_bound`)] ?? "")] ?? "";
  }
  function tick(unit, number2) {
    if (number2 === 0 && unit !== "change") return "0";
    return show(unit, Number(number2.toPrecision(12))).replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");
  }
  function split(text) {
    const [, number2, unit] = /^(.*?\d)(\D*)$/.exec(text) ?? ["", text, ""];
    return { number: number2, unit };
  }
  function both(unit, [one, other], between) {
    const [first, second] = [show(unit, one), show(unit, other)];
    return (split(first).unit === split(second).unit ? split(first).number : first) + between + second;
  }
  function interval(column2, ends2) {
    return both(column2.unit, ends2, " .. ");
  }

  // src/order.js
  var collator = new Intl.Collator(void 0, { numeric: true, sensitivity: "base" });
  function sorted(table, rows, { place: place2, down }) {
    const ranks = ranked(table, rows, place2);
    const way = down ? -1 : 1;
    const known = rows.filter((row) => !Number.isNaN(ranks[row]));
    known.sort((one, other) => (ranks[one] - ranks[other]) * way || one - other);
    return [...known, ...rows.filter((row) => Number.isNaN(ranks[row]))];
  }
  function ranked(table, rows, place2) {
    const texts = new Set(rows.map((row) => table.rows[row][place2]).filter((value2) => typeof value2 === "string"));
    const places = new Map([...texts].sort(collator.compare).map((text, at) => [text, at]));
    const ranks = new Float64Array(table.rows.length);
    for (const row of rows) {
      const value2 = table.rows[row][place2] ?? NaN;
      ranks[row] = typeof value2 === "string" ? places.get(value2) ?? NaN : Number(value2);
    }
    return ranks;
  }
  function has(table, row, text, ofServices) {
    const nameAt = names(table);
    return table.columns.some((column2, at) => {
      const value2 = row[at];
      const isWhat = at === nameAt || column2.facet || column2.key === "label" || column2.key === "title";
      return !column2.hidden && (isWhat || !ofServices) && typeof value2 === "string" && value2.toLowerCase().includes(text);
    });
  }

  // src/filter.js
  var TEXT_ROWS_MIN = { services: 8, rows: 30 };
  function nothingChosen() {
    return { text: "", facets: /* @__PURE__ */ new Map(), pinned: /* @__PURE__ */ new Set() };
  }
  function isActive(chosen) {
    return chosen.text !== "" || [...chosen.facets.values()].some((values) => values.size > 0);
  }
  function passes(table, chosen, ofServices = false) {
    const text = chosen.text.trim().toLowerCase();
    const facets = [...chosen.facets].filter(([, values]) => values.size > 0).map(([key, values]) => ({ at: place(table, key), values }));
    const nameAt = ofServices ? names(table) : -1;
    const isPinned = (row) => nameAt >= 0 && chosen.pinned.has(String(row[nameAt]));
    return (row) => isPinned(row) || facets.every(({ at, values }) => values.has(shown(table.columns[at].unit, row[at]))) && (text === "" || has(table, row, text, ofServices));
  }
  function fields(table, what, chosen, changed) {
    const facets = table.columns.flatMap((column2, at) => column2.facet ? facet(table, at, chosen, changed) : []);
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
    const refresh = (count) => {
      if (text.value !== chosen.text) text.value = chosen.text;
      for (const one of facets) one.refresh();
      clear.hidden = !isActive(chosen);
      tell.textContent = count === table.rows.length ? "" : `${count} of ${table.rows.length}`;
    };
    return { element, refresh };
  }
  function reset(chosen) {
    chosen.text = "";
    chosen.facets.clear();
  }
  function facet(table, at, chosen, changed) {
    const column2 = table.columns[at];
    const counts = /* @__PURE__ */ new Map();
    for (const row of table.rows) {
      const text = shown(column2.unit, row[at]);
      counts.set(text, (counts.get(text) ?? 0) + 1);
    }
    if (counts.size < 2) return [];
    const values = () => chosen.facets.get(column2.key) ?? /* @__PURE__ */ new Set();
    const boxes = [...counts].sort(([one], [other]) => one.localeCompare(other)).map(([text, count]) => {
      const box = make("input", { type: "checkbox" });
      box.addEventListener("change", () => {
        const now = values();
        if (box.checked) now.add(text);
        else now.delete(text);
        chosen.facets.set(column2.key, now);
        changed();
      });
      return { box, text, label: make("label", {}, box, make("bdi", {}, text), make("span", {}, String(count))) };
    });
    const summary = make("summary", {}, column2.title);
    const group = make("div", { role: "group", "aria-label": column2.title }, ...boxes.map((one) => one.label));
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
      summary.textContent = now.size === 0 ? column2.title : `${column2.title}: ${[...now].join(", ")}`;
    };
    return [{ element, refresh }];
  }
  function closeElsewhere() {
    document.addEventListener("pointerdown", (event) => {
      for (const open of document.querySelectorAll("details.facet[open]")) {
        if (event.target instanceof Node && !open.contains(event.target)) open.removeAttribute("open");
      }
    });
  }

  // src/address.js
  var ONLY = "only.";
  function parts(hash) {
    const [id, query] = hash.slice(1).split(/\?(.*)/s);
    try {
      return { id: decodeURIComponent(id), query: new URLSearchParams(query ?? "") };
    } catch {
      return { id: "", query: new URLSearchParams() };
    }
  }
  function address(id, table, { chosen, sorting }, asked) {
    const query = new URLSearchParams();
    if (sorting) query.append("sort", (sorting.down ? "-" : "") + table.columns[sorting.place].key);
    if (chosen.text !== "") query.append("find", chosen.text);
    for (const [key, values] of chosen.facets) for (const value2 of values) query.append(ONLY + key, value2);
    for (const name of chosen.pinned) query.append("pin", name);
    const more2 = [];
    if (asked?.pair) more2.push(`compare=${asked.pair.map(encodeURIComponent).join(",")}`);
    if (asked?.service != null) more2.push(`service=${encodeURIComponent(asked.service)}`);
    const text = [query.toString(), ...more2].filter((part2) => part2 !== "").join("&");
    return text === "" ? `#${encodeURIComponent(id)}` : `#${encodeURIComponent(id)}?${text}`;
  }
  function recalled(table, query) {
    const chosen = nothingChosen();
    chosen.text = query.get("find") ?? "";
    for (const [name, value2] of query) {
      const column2 = name.startsWith(ONLY) && table.columns.find((one) => one.facet && ONLY + one.key === name);
      if (column2) chosen.facets.set(column2.key, (chosen.facets.get(column2.key) ?? /* @__PURE__ */ new Set()).add(value2));
    }
    for (const name of query.getAll("pin")) chosen.pinned.add(name);
    const sort = query.get("sort") ?? "";
    const place2 = table.columns.findIndex((column2) => !column2.hidden && column2.key === sort.replace(/^-/, ""));
    return { chosen, sorting: place2 < 0 ? null : { place: place2, down: sort.startsWith("-") } };
  }
  function askedFor(hash) {
    const query = hash.split(/\?(.*)/s)[1] ?? "";
    const raw = (name) => query.split("&").find((part2) => part2.startsWith(`${name}=`))?.slice(name.length + 1);
    try {
      const pair2 = raw("compare") ?? "";
      const names2 = pair2.includes(",") ? pair2.split(",").map(decodeURIComponent) : decodeURIComponent(pair2).split(",");
      const service = raw("service");
      return {
        pair: names2.length === 2 ? [names2[0], names2[1]] : null,
        service: service === void 0 ? null : decodeURIComponent(service)
      };
    } catch {
      return { pair: null, service: null };
    }
  }

  // src/export.js
  var STYLED = [
    "fill",
    "fill-opacity",
    "stroke",
    "stroke-opacity",
    "stroke-width",
    "stroke-dasharray",
    "stroke-linecap",
    "stroke-linejoin",
    "opacity",
    "font-family",
    "font-size",
    "font-weight",
    "text-anchor",
    "dominant-baseline",
    "paint-order"
  ];
  var [MARGIN, TITLE, LINE, LETTERS] = [14, 30, 20, 12];
  var SCALE = 2;
  function standalone(chart, caption, entries) {
    const { clientWidth: width, clientHeight: height2 } = chart;
    const { fontFamily, color } = getComputedStyle(caption);
    const text = { "font-family": fontFamily, "font-size": LETTERS, fill: color, "dominant-baseline": "central" };
    const title = svg("text", { ...text, x: MARGIN, y: TITLE / 2 + 3, "font-size": LETTERS + 2, "font-weight": 600 }, words(caption.textContent ?? ""));
    const drawn2 = svg("g", { transform: `translate(0 ${TITLE})` }, ...[...chart.childNodes].map(styled));
    const { group, lines: lines2 } = legend(entries, width, text);
    group.setAttribute("transform", `translate(0 ${TITLE + height2})`);
    const all = { width, height: TITLE + height2 + lines2 * LINE + MARGIN };
    const ground = svg("rect", { ...all, fill: getComputedStyle(caption.closest("figure") ?? caption).backgroundColor });
    return new XMLSerializer().serializeToString(svg("svg", { ...all, viewBox: `0 0 ${all.width} ${all.height}` }, ground, title, drawn2, group));
  }
  function words(text) {
    return document.createTextNode(text);
  }
  function styled(node) {
    const copy2 = node.cloneNode(false);
    if (node instanceof Element && copy2 instanceof Element) {
      const style = getComputedStyle(node);
      copy2.removeAttribute("style");
      copy2.removeAttribute("class");
      for (const name of STYLED) copy2.setAttribute(name, style.getPropertyValue(name));
      copy2.append(...[...node.childNodes].map(styled));
    }
    return copy2;
  }
  function legend(entries, width, text) {
    const measure = make("canvas").getContext("2d");
    if (measure) measure.font = `${LETTERS}px ${text["font-family"]}`;
    const group = svg("g", {});
    let [x, line] = [MARGIN, 0];
    for (const { name, swatch: swatch2 } of entries) {
      const symbol = Number(swatch2.getAttribute("width"));
      const room = symbol + 6 + (measure?.measureText(name).width ?? name.length * LETTERS) + 16;
      if (x > MARGIN && x + room > width) [x, line] = [MARGIN, line + 1];
      const y = line * LINE + LINE / 2;
      const place2 = svg("g", { transform: `translate(${x + symbol / 2} ${y})` }, ...[...swatch2.childNodes].map(styled));
      group.append(place2, svg("text", { ...text, x: x + symbol + 6, y }, words(name)));
      x += room;
    }
    return { group, lines: entries.length === 0 ? 0 : line + 1 };
  }
  async function pixels(drawing2) {
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawing2)}`;
    await image.decode();
    const canvas = make("canvas", { width: image.width * SCALE, height: image.height * SCALE });
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((done, failed) => {
      canvas.toBlob((blob) => blob ? done(blob) : failed(new Error("the browser draws no picture")), "image/png");
    });
  }

  // src/looks.js
  var COLORS = 7;
  var SYMBOLS = (
    /** @type {const} */
    [
      ["circle", "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z"],
      ["triangle", "M0,-4.5L4.5,3.8H-4.5z"],
      ["rect", "M-3.6,-3.6h7.2v7.2h-7.2z"],
      ["diamond", "M0,-5L5,0L0,5L-5,0z"],
      ["path://M0,4.5L4.5,-3.8H-4.5z", "M0,4.5L4.5,-3.8H-4.5z"],
      ["path://M-1.6,-5h3.2v3.4h3.4v3.2h-3.4v3.4h-3.2v-3.4h-3.4v-3.2h3.4z", "M-1.4,-4.4h2.8v3h3v2.8h-3v3h-2.8v-3h-3v-2.8h3z"]
    ]
  );
  var DASHES = ["solid", [6, 3], [2, 3]];
  var OF_TONE = {
    good: { color: "var(--good)", symbol: SYMBOLS[0][0], dash: "solid" },
    bad: { color: "var(--bad)", symbol: SYMBOLS[1][0], dash: "solid" },
    open: { color: "var(--muted)", symbol: SYMBOLS[2][0], dash: "solid" }
  };
  var NO_LOOK = { color: "var(--muted)", symbol: SYMBOLS[0][0], dash: "solid" };
  function partLook(at) {
    return { color: `var(--s${at % COLORS})`, symbol: SYMBOLS[2][0], dash: "solid" };
  }
  function looks(order, tones = /* @__PURE__ */ new Map()) {
    const places = new Map(order.map((name, at) => [name, at]));
    return (name) => {
      let at = places.get(name);
      const tone = at === void 0 ? tones.get(name) : void 0;
      if (tone) return OF_TONE[tone];
      if (at === void 0) {
        at = places.size;
        places.set(name, at);
      }
      return {
        color: `var(--s${at % COLORS})`,
        symbol: SYMBOLS[at % SYMBOLS.length][0],
        dash: DASHES[Math.floor(at / COLORS) % DASHES.length]
      };
    };
  }
  function swatch(look, line, hollow2 = false) {
    const path = SYMBOLS.find(([symbol]) => symbol === look.symbol)?.[1] ?? SYMBOLS[0][1];
    const picture2 = svg("svg", { width: line ? 22 : 11, height: 11, "aria-hidden": "true", viewBox: line ? "-11 -5.5 22 11" : "-5.5 -5.5 11 11" });
    if (line) {
      const dash = look.dash === "solid" ? "none" : look.dash.join(" ");
      picture2.append(svg("line", { x1: -11, x2: 11, stroke: look.color, "stroke-width": 2, "stroke-dasharray": dash }));
    }
    picture2.append(svg("path", hollow2 ? { d: path, fill: "var(--paper)", stroke: look.color, "stroke-width": 1.5 } : { d: path, fill: look.color }));
    return picture2;
  }

  // src/axis.js
  var NINES = [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999];
  var FACTORS = [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 5, 7], [1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9]];
  var NINES_MAX = 7;
  function coordinate(scale, value2) {
    if (scale === "log") return value2 > 0 ? Math.log10(value2) : null;
    if (scale === "percentile") {
      if (value2 < 0 || value2 >= 1) return null;
      return Math.min(-Math.log10(1 - value2), NINES_MAX);
    }
    return value2;
  }
  function step(about, unit) {
    if (unit === "bytes") return 2 ** Math.ceil(Math.log2(about));
    const ten = 10 ** Math.floor(Math.log10(about));
    const factor = [1, 2, 5, 10].find((one) => one * ten >= about * 0.999) ?? 10;
    return unit === "count" ? Math.max(1, factor * ten) : factor * ten;
  }
  function linear(low, high, unit, count) {
    const isCounted = unit === "count" && low === 1 && high <= count;
    let [min, max] = [low > 0 && low < high * 0.6 && !isCounted ? 0 : low, high];
    if (min === max) [min, max] = [min > 0 ? 0 : min - 1, max > 0 ? max * 1.05 : max + 1];
    const one = step((max - min) / count, unit);
    const [first, last] = [Math.floor(min / one + 1e-9), Math.ceil(max / one - 1e-9)];
    const ticks = [];
    for (let at = first; at <= last; at += 1) ticks.push({ at: at * one, text: tick(unit, at * one) });
    return { min: first * one, max: last * one, ticks };
  }
  function log(low, high, unit, count) {
    const pad = Math.max((high - low) * 0.04, 0.03);
    const [min, max] = [low - pad, high + pad];
    const base = Math.log10(unit === "bytes" ? 2 : 10);
    const inside = (factors) => {
      const found = [];
      for (let power = Math.floor(min / base); power <= Math.ceil(max / base); power += 1) {
        found.push(...factors.map((factor) => power * base + Math.log10(factor)));
      }
      return found.filter((at) => at >= min && at <= max);
    };
    const sets = unit === "bytes" ? [[1]] : FACTORS;
    const finest = sets.map(inside).findLast((ticks) => ticks.length <= count * 1.5);
    let chosen = finest ?? inside([1]);
    while (chosen.length > count * 1.5) chosen = chosen.filter((_, at) => at % 2 === 0);
    return { min, max, ticks: chosen.map((at) => ({ at, text: tick(unit, 10 ** at) })) };
  }
  function nines(high) {
    const max = Math.max(high, 1);
    const ticks = NINES.map((share) => ({ at: -Math.log10(1 - share), text: tick("share", share).replace(/^0$/, "0%") }));
    ticks.forEach((one, at) => {
      if (at > 3) one.text = `99.${"9".repeat(at - 3)}%`;
    });
    return { min: 0, max, ticks: ticks.filter((one) => one.at <= max + 1e-9) };
  }
  function axis(scale, unit, low, high, count) {
    if (!(low <= high)) return { min: 0, max: 1, ticks: [] };
    if (scale === "log") return log(low, high, unit, count);
    if (scale === "percentile") return nines(high);
    return linear(low, high, unit, count);
  }

  // src/series.js
  function drawing(table, chart, rows) {
    const at = {
      x: place(table, chart.x),
      y: place(table, chart.y),
      series: place(table, chart.series),
      apart: place(table, chart.apart),
      bound: place(table, chart.bound),
      against: place(table, chart.against)
    };
    const band = chart.band?.map((key) => place(table, key));
    const stack = chart.stack?.map((key) => place(table, key));
    const [only, text] = chart.only ?? [null, null];
    const onlyAt = place(table, only);
    const nameAt = names(table);
    const categories = /* @__PURE__ */ new Map();
    const all = /* @__PURE__ */ new Map();
    let count = 0;
    if (at.x < 0 || at.y < 0) return { series: [], categories: [], points: 0 };
    const [columnX, columnY] = [table.columns[at.x], table.columns[at.y]];
    for (const row of chart.against ? greatestFirst(table, rows, at.x) : rows) {
      const values = table.rows[row];
      if (onlyAt >= 0 && values[onlyAt] !== text) continue;
      const x = where(chart.x_scale, values[at.x], categories);
      const y = x === null ? null : where(chart.y_scale, values[at.y], categories);
      if (x === null || y === null) continue;
      const name = at.series < 0 ? "" : String(values[at.series] ?? "-");
      let series = all.get(name);
      if (!series) all.set(name, series = { name, points: [] });
      series.points.push({
        row,
        name: nameAt < 0 ? name : String(values[nameAt] ?? "-"),
        x,
        y,
        xEnds: span(table, columnX, values, chart.x_scale),
        yEnds: span(table, columnY, values, chart.y_scale),
        bound: bound(chart.x_scale, number(values, at.bound)),
        against: bound(chart.x_scale, number(values, at.against)),
        band: band ? claimed(chart.x_scale, band.map((at2) => number(values, at2))) : null,
        parts: stack ? stack.map((at2) => number(values, at2) ?? 0) : null,
        apart: at.apart >= 0 && values[at.apart] === true
      });
      count += 1;
    }
    return { series: [...all.values()], categories: [...categories.keys()], points: count };
  }
  function greatestFirst(table, rows, at) {
    const of = (row) => number(table.rows[row], at) ?? -Infinity;
    return [...rows].sort((one, other) => of(other) - of(one) || 0);
  }
  function where(scale, value2, categories) {
    if (scale === "names") {
      const name = String(value2 ?? "-");
      const known = categories.get(name);
      if (known !== void 0) return known;
      categories.set(name, categories.size);
      return categories.size - 1;
    }
    return typeof value2 === "number" ? coordinate(scale, value2) : null;
  }
  function bound(scale, value2) {
    return value2 === null ? null : coordinate(scale, value2);
  }
  function claimed(scale, both2) {
    const [low, high] = both2.map((end) => bound(scale, end));
    return low === null && high === null ? null : [low, high];
  }
  function span(table, column2, row, scale) {
    const both2 = ends(table, column2, row);
    if (!both2) return null;
    const low = coordinate(scale, both2[0]) ?? coordinate(scale, number(row, table.columns.indexOf(column2)) ?? both2[1]);
    const high = coordinate(scale, both2[1]);
    return low === null || high === null ? null : [low, high];
  }
  function extent(series, way, reach = Infinity) {
    let [low, high, least, most] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const { points: points2 } of series) {
      for (const point of points2) {
        const both2 = way === "x" ? point.xEnds : point.yEnds;
        const marks = way === "x" ? [point.bound, point.against, ...point.band ?? []].filter((mark) => mark !== null) : [];
        low = Math.min(low, point[way], ...marks);
        high = Math.max(high, point[way], ...marks);
        least = Math.min(least, both2?.[0] ?? Infinity);
        most = Math.max(most, both2?.[1] ?? -Infinity);
      }
    }
    return [Math.min(low, Math.max(least, low - reach)), Math.max(high, Math.min(most, high + reach))];
  }

  // src/plot.js
  var SYMBOLS_MAX = 30;
  var SMALL_MIN = 500;
  var WHISKERS_MAX = 400;
  var LABELS_MAX = 120;
  var END_LABELS_MAX = 12;
  var LABEL_HEIGHT = 13;
  var BOUND_HEIGHT = 20;
  var LABEL_WIDTH = { least: 112, share: 0.28 };
  var WHISKER_DECADES = 0.5;
  var NAME_HEIGHT = 14;
  var POINTS_HEIGHT = 30;
  var TEXT = { color: "var(--muted)", fontSize: 12 };
  function height({ chart, drawing: drawing2, series, width }) {
    if (chart.y_scale !== "names") return width < 520 ? 300 : 400;
    const each = series.length > 1 && chart.shape === "bars" ? 12 * series.length + 8 : chart.shape === "points" ? POINTS_HEIGHT : 22;
    return Math.max(drawing2.categories.length, 1) * Math.max(each, named(drawing2, width).lines * NAME_HEIGHT + 4) + 56;
  }
  function named({ categories }, width) {
    const most = width < 520 ? Math.max(92, width * 0.4) : Math.min(Math.max(190, width * 0.3), 340);
    const longest = Math.max(0, ...categories.map((name) => textWidth(name, TEXT.fontSize)));
    const wide = longest <= most * 0.8 ? longest + 2 : Math.min(most, Math.max(92, longest / 2 + 24));
    const broken = new Map(categories.map((name) => [name, broad(name, wide)]));
    return { wide: Math.ceil(wide), broken, lines: Math.max(1, ...[...broken.values()].map((lines2) => lines2.length)) };
  }
  function broad(name, wide) {
    const lines2 = [];
    for (const word of name.split(" ")) {
      const longer = `${lines2.at(-1) ?? ""} ${word}`.trim();
      if (lines2.length > 0 && textWidth(longer, TEXT.fontSize) <= wide) lines2[lines2.length - 1] = longer;
      else lines2.push(word);
    }
    return lines2;
  }
  function option(request) {
    const { chart, width } = request;
    const ends2 = width > 640 && chart.shape === "lines" && request.series.length <= END_LABELS_MAX && chart.series !== null;
    const room = ends2 ? labelWidth(request) : 0;
    const shifts = ends2 ? apartFromEachOther(request, room) : null;
    return {
      animation: false,
      textStyle: { fontFamily: family() },
      grid: { left: 8, right: ends2 ? room + 16 : chart.shape === "bars" || chart.against ? 64 : 22, top: chart.y_scale === "names" ? 6 : 26, bottom: 26, outerBoundsMode: "same", outerBoundsContain: "axisLabel" },
      xAxis: axisOption(request, "x"),
      yAxis: axisOption(request, "y"),
      series: [...bands(request), ...published(request), ...request.series.flatMap((series, at) => drawn(request, series, at, shifts && { room, shift: shifts[at] })), ...bounds(request), ...labels(request)]
    };
  }
  function drawn(request, series, at, label) {
    if (request.chart.shape === "bars") return bars(request, series, at);
    return request.chart.shape === "lines" ? lines(request, series, label) : points(request, series, request.drawing.points);
  }
  function axisOf({ chart, x, y, series, neighbours, width }, way) {
    const [scale, unit] = way === "x" ? [chart.x_scale, x.unit] : [chart.y_scale, y.unit];
    let [low, high] = extent([...series, ...neighbours], way, scale === "log" ? WHISKER_DECADES : Infinity);
    if ((chart.shape === "bars" || chart.against) && scale === "linear") [low, high] = [Math.min(0, low), Math.max(0, high)];
    return axis(scale, unit, low, high, way === "x" ? Math.max(2, Math.floor(width / 110)) : 6);
  }
  function axisOption(request, way) {
    const { chart, drawing: drawing2, width } = request;
    const column2 = way === "x" ? request.x : request.y;
    const scale = way === "x" ? chart.x_scale : chart.y_scale;
    const name = { name: column2.title, nameTextStyle: { ...TEXT, fontWeight: 600 } };
    const title = way === "x" ? { ...name, nameLocation: "end", nameTextStyle: { ...name.nameTextStyle, align: "right", verticalAlign: "top", padding: [24, 0, 0, 0] } } : { ...name, nameTextStyle: { ...name.nameTextStyle, align: "left" } };
    const line = { show: true, onZero: false, lineStyle: { color: "var(--strong-line)" } };
    if (scale === "names") {
      const { wide, broken } = named(drawing2, width);
      const formatter = (name2) => broken.get(name2)?.join("\n") ?? name2;
      const label = { ...TEXT, color: "var(--ink)", width: wide + 8, overflow: "truncate", lineHeight: NAME_HEIGHT, formatter, interval: way === "y" ? 0 : "auto" };
      return {
        type: "category",
        data: drawing2.categories,
        inverse: way === "y",
        axisLine: line,
        axisTick: { show: false },
        axisLabel: label,
        ...way === "x" ? title : {}
      };
    }
    const { min, max, ticks } = axisOf(request, way);
    const texts = new Map(ticks.map((one) => [one.at, one.text]));
    const values = ticks.map((one) => one.at);
    return {
      type: "value",
      min,
      max,
      ...title,
      axisLine: { ...line, show: way === "x" },
      axisTick: { show: way === "x", customValues: values },
      axisLabel: { ...TEXT, customValues: values, formatter: (at) => texts.get(at) ?? nearest(ticks, at), hideOverlap: true },
      splitLine: { lineStyle: { color: "var(--line)" } }
    };
  }
  function nearest(ticks, at) {
    return ticks.find((one) => Math.abs(one.at - at) <= 1e-6 * Math.max(1, Math.abs(at)))?.text ?? "";
  }
  function labelWidth({ series, width }) {
    const longest = Math.max(0, ...series.map((one) => textWidth(one.name, 11)));
    return Math.max(LABEL_WIDTH.least, Math.min(Math.ceil(longest) + 2, Math.floor(width * LABEL_WIDTH.share)));
  }
  function apartFromEachOther(request, room) {
    const [x, y] = [axisOf(request, "x"), axisOf(request, "y")];
    const [wide, high] = [request.width - 78 - room, height(request) - 76];
    const ends2 = request.series.map(({ points: points2 }, at) => {
      const last = points2.findLast((point) => !point.apart);
      return { at, x: last ? (last.x - x.min) / (x.max - x.min) * wide : 0, y: last ? (y.max - last.y) / (y.max - y.min) * high : 0 };
    });
    ends2.sort((one, other) => one.y - other.y);
    const places = ends2.map((one) => one.y);
    const areNear = (one, other) => Math.abs(ends2[one].x - ends2[other].x) < room;
    for (let at = 0; at < places.length; at += 1) {
      for (let above = 0; above < at; above += 1) if (areNear(at, above)) places[at] = Math.max(places[at], places[above] + LABEL_HEIGHT);
    }
    for (let at = places.length - 1; at >= 0; at -= 1) {
      places[at] = Math.min(places[at], high);
      for (let below = places.length - 1; below > at; below -= 1) {
        if (areNear(at, below)) places[at] = Math.min(places[at], places[below] - LABEL_HEIGHT);
      }
    }
    const shifts = request.series.map(() => 0);
    ends2.forEach((end, at) => shifts[end.at] = places[at] - end.y);
    return shifts;
  }
  var pair = (point) => [point.x, point.y];
  var family = () => getComputedStyle(document.body).fontFamily;
  var pen;
  function textWidth(text, size) {
    pen ??= document.createElement("canvas").getContext("2d");
    if (!pen) return text.length * size * 0.6;
    pen.font = `${size}px ${family()}`;
    return pen.measureText(text).width;
  }
  function labels({ chart, series, drawing: drawing2, width }) {
    if (chart.shape !== "points" || drawing2.points > LABELS_MAX) return [];
    const isNamed = (point) => chart.y_scale === "names" && drawing2.categories[point.y] === point.name;
    const all = series.flatMap((one) => one.points);
    if (all.every(isNamed)) return [];
    const fontFamily = family();
    let taken = null;
    return [{
      ...STILL,
      type: "custom",
      z: 5,
      data: all.map(pair),
      renderItem: (item, api) => {
        const grid2 = item.coordSys;
        const isInside = (box) => box[0] > grid2.x && box[1] > grid2.y - 4 && box[2] < width - 4 && box[3] < grid2.y + grid2.height;
        if (item.dataIndex === 0 || !taken) {
          taken = all.map((point2) => api.coord(pair(point2))).map(([x2, y2]) => [x2 - 6, y2 - 6, x2 + 6, y2 + 6]);
          for (const point2 of all) if (point2.bound !== null) taken.push(around(api.coord([point2.bound, point2.y])));
        }
        const point = all[item.dataIndex];
        const text = point.name.length > 26 ? `${point.name.slice(0, 25)}…` : point.name;
        const long = textWidth(text, 11.5);
        const [x, y] = api.coord(pair(point));
        const places = [[x + 8, y - 9], [x - 8 - long, y - 9], [x + 8, y + 9], [x - 8 - long, y + 9], [x + 9, y], [x - long / 2, y - 16], [x - long / 2, y + 16]];
        const boxes = places.map(([left, middle]) => [left, middle - 8, left + long, middle + 8]);
        const at = boxes.findIndex((box) => isInside(box) && !taken?.some((other) => overlap(box, other)));
        if (at < 0) return { type: "group", children: [] };
        taken.push(boxes[at]);
        const style = { text, fill: "var(--ink)", fontSize: 11.5, fontFamily, verticalAlign: "middle" };
        return { type: "text", x: places[at][0], y: places[at][1], style };
      }
    }];
  }
  function around([x, y]) {
    return [x - 2, y - BOUND_HEIGHT / 2, x + 2, y + BOUND_HEIGHT / 2];
  }
  function overlap(one, other) {
    return one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];
  }
  var STILL = { silent: true, emphasis: { disabled: true }, animation: false };
  function lines(request, series, label) {
    const { color, symbol, dash } = request.look(series.name);
    const [joined, apart] = [series.points.filter((point) => !point.apart), series.points.filter((point) => point.apart)];
    const total = request.series.reduce((sum, one) => sum + one.points.length, 0);
    const every = joined.length <= SYMBOLS_MAX ? 1 : Math.ceil(joined.length / 10);
    const marked = joined.filter((_, at) => at % every === Math.floor(every / 2));
    const made = [
      {
        ...STILL,
        type: "line",
        data: joined.map(pair),
        showSymbol: false,
        lineStyle: { color, width: joined.length > 100 ? 1.25 : 2, type: dash },
        endLabel: {
          show: label !== null,
          formatter: () => series.name,
          color: "var(--ink)",
          fontSize: 11,
          width: label?.room,
          overflow: "truncate",
          distance: 8,
          offset: [0, label?.shift ?? 0]
        }
      },
      { ...STILL, type: "scatter", data: marked.map(pair), symbol, symbolSize: 7, itemStyle: { color, opacity: 1 }, z: 3 }
    ];
    if (apart.length > 0) made.push(hollow(apart, color, symbol));
    if (total <= WHISKERS_MAX) made.push(...whiskers(request, series, color));
    return made;
  }
  function points(request, series, total) {
    const made = [];
    const groups = series.name === "" && total <= WHISKERS_MAX ? series.points.map((point) => ({ name: point.name, points: [point] })) : [series];
    for (const group of groups) {
      const { color, symbol } = request.look(group.name);
      const solid = group.points.filter((point) => !point.apart);
      const apart = group.points.filter((point) => point.apart);
      if (total <= WHISKERS_MAX) made.push(...whiskers(request, group, color));
      made.push({
        ...STILL,
        type: "scatter",
        data: solid.map(pair),
        symbol,
        symbolSize: total > SMALL_MIN ? 5 : 10,
        itemStyle: { color }
      });
      if (apart.length > 0) made.push(hollow(apart, color, symbol));
    }
    return made;
  }
  function hollow(apart, color, symbol) {
    const itemStyle = { color: "var(--paper)", borderColor: color, borderWidth: 1.75 };
    return { ...STILL, type: "scatter", data: apart.map(pair), symbol, symbolSize: 8, itemStyle, z: 4 };
  }
  function bars(request, series, at) {
    if (request.chart.stack) return [...stacked(request, series), ...whiskers(request, series, "var(--whisker)", at)];
    const alone = request.series.length === 1;
    const color = alone ? `var(--${request.chart.x_scale === "log" ? "accent" : "bar"})` : request.look(series.name).color;
    const unit = request.x.unit;
    const data = series.points.map((point) => ({
      value: pair(point),
      itemStyle: point.apart ? { color: "var(--paper)", borderColor: color, borderWidth: 1.5, borderType: "dashed" } : { color },
      label: { formatter: point.xEnds ? "" : show(unit, value(request, point)) }
    }));
    const label = { show: alone, position: "right", color: "var(--ink)", fontSize: 11 };
    const dots = { ...STILL, type: "scatter", data, symbol: "circle", symbolSize: 10, label, z: 3 };
    if (request.chart.x_scale === "log") return [...whiskers(request, series, "var(--whisker)"), dots];
    const made = { ...STILL, type: "bar", data, barMaxWidth: 14, barGap: "15%", label, itemStyle: { borderRadius: [0, 2, 2, 0] } };
    return [made, ...whiskers(request, series, "var(--whisker)", at)];
  }
  function value({ table, x }, point) {
    const found = table.rows[point.row][table.columns.indexOf(x)];
    return typeof found === "number" ? found : 0;
  }
  function whiskers(request, series, color, at = 0) {
    const data = series.points.filter((point) => point.xEnds || point.yEnds);
    if (data.length === 0) return [];
    const isBar = request.chart.shape === "bars";
    const shift = isBar ? barShift(request.series.length, at) : 0;
    const label = isBar && request.series.length === 1;
    return [{
      ...STILL,
      type: "custom",
      z: isBar ? 3 : 1,
      data: data.map(pair),
      clip: !isBar,
      renderItem: (item, api) => {
        const point = data[item.dataIndex];
        const { x: left, width } = item.coordSys;
        const children = [];
        const middle = api.coord([point.x, point.y]);
        for (
          const [way, both2] of
          /** @type {const} */
          [["x", point.xEnds], ["y", point.yEnds]]
        ) {
          if (!both2) continue;
          const [from, to] = both2.map((end) => api.coord(way === "x" ? [end, point.y] : [point.x, end]));
          from[1] += way === "x" ? shift : 0;
          to[1] += way === "x" ? shift : 0;
          const isCut = !isBar && way === "x" && (from[0] < left - 1 || to[0] > left + width + 1);
          children.push(isCut ? cut(from, to, color, left, left + width) : whisker(from, to, way, color, isBar ? 1.25 : 1));
          if (label && way === "x") children.push(beside([Math.max(to[0], middle[0]), to[1]], show(request.x.unit, value(request, point))));
        }
        return { type: "group", children };
      }
    }];
  }
  function stacked(request, series) {
    const parts2 = request.chart.stack ?? [];
    return parts2.map((_, at) => {
      const { color } = partLook(at);
      const isLast = at === parts2.length - 1;
      const data = series.points.map((point) => ({
        value: [point.parts?.[at] ?? 0, point.y],
        label: { show: isLast && !point.xEnds, formatter: show(request.x.unit, value(request, point)) }
      }));
      const label = { position: "right", color: "var(--ink)", fontSize: 11 };
      const itemStyle = { color, borderRadius: isLast ? [0, 2, 2, 0] : 0 };
      return { ...STILL, type: "bar", stack: "parts", data, barMaxWidth: 14, label, itemStyle };
    });
  }
  function bounds({ series }) {
    const bounded = series.flatMap((one) => one.points).filter((point) => point.bound !== null);
    if (bounded.length === 0) return [];
    return [{
      ...STILL,
      type: "custom",
      z: 2,
      data: bounded.map((point) => [point.bound, point.y]),
      renderItem: (item, api) => {
        const [x, y] = api.coord([bounded[item.dataIndex].bound, bounded[item.dataIndex].y]);
        const style = { stroke: "var(--ink)", lineWidth: 1.5, lineDash: [3, 2] };
        return { type: "line", shape: { x1: x, y1: y - BOUND_HEIGHT / 2, x2: x, y2: y + BOUND_HEIGHT / 2 }, style };
      }
    }];
  }
  function bands({ series }) {
    const claimed2 = series.flatMap((one) => one.points).filter((point) => point.band);
    if (claimed2.length === 0) return [];
    return [{
      ...STILL,
      type: "custom",
      z: 0,
      data: claimed2.map(pair),
      renderItem: (item, api) => {
        const { band, x: own2, y } = claimed2[item.dataIndex];
        const at = (end, edge) => end == null ? edge : api.coord([end, y])[0];
        const { x, width } = item.coordSys;
        const [from, to] = [at(band?.[0], x), at(band?.[1], x + width)];
        const middle = api.coord([own2, y])[1];
        return { type: "rect", shape: { x: from, y: middle - BOUND_HEIGHT / 2, width: Math.max(to - from, 2), height: BOUND_HEIGHT }, style: { fill: "var(--claimed)" } };
      }
    }];
  }
  function published(request) {
    if (!request.chart.against) return [];
    const all = request.series.flatMap((one) => one.points.map((point) => ({ ...point, color: request.look(one.name || point.name).color })));
    return [{
      ...STILL,
      type: "custom",
      z: 4,
      data: all.map(pair),
      clip: false,
      renderItem: (item, api) => {
        const point = all[item.dataIndex];
        const [x, y] = api.coord(pair(point));
        const at = (end) => api.coord([end ?? point.x, point.y])[0];
        const [there, low, high] = [at(point.against), at(point.xEnds?.[0]), at(point.xEnds?.[1])];
        const text = show(request.x.unit, value(request, point));
        const wide = textWidth(text, 11);
        const [left, right] = [Math.min(x - 4, low) - wide - 14, Math.max(x + 4, high)];
        const isFree = there <= x || there - right > wide + 20;
        const isRoom = left > item.coordSys.x - 4;
        const children = [beside([isFree ? right : isRoom ? left : Math.max(right, there + 5), y], text)];
        if (point.against !== null) {
          const line = { stroke: point.color, lineWidth: 1.5, lineDash: [2, 3], opacity: 0.8 };
          const [from, to] = there <= x ? [there + 5, x - 5] : [isFree ? right + wide + 12 : x + 5, there - 5];
          if (to - from > 3) children.push({ type: "line", shape: { x1: from, y1: y, x2: to, y2: y }, style: line });
          children.push({ type: "circle", shape: { cx: there, cy: y, r: 5 }, style: { fill: "var(--paper)", stroke: point.color, lineWidth: 1.75 } });
        }
        return { type: "group", children };
      }
    }];
  }
  function barShift(count, at) {
    if (count === 1) return 0;
    const each = (12 * count + 8) * 0.8 / (count + (count - 1) * 0.15);
    return (at - (count - 1) / 2) * Math.min(each, 14) * 1.15;
  }
  function whisker([x1, y1], [x2, y2], way, color, width) {
    const cap = 3.5;
    const [dx, dy] = way === "x" ? [0, cap] : [cap, 0];
    const d = `M${x1},${y1}L${x2},${y2}M${x1 - dx},${y1 - dy}L${x1 + dx},${y1 + dy}M${x2 - dx},${y2 - dy}L${x2 + dx},${y2 + dy}`;
    return { type: "path", shape: { pathData: d }, style: { stroke: color, fill: "none", lineWidth: width, opacity: width > 1 ? 1 : 0.55 } };
  }
  function cut([x1, y], [x2], color, left, right) {
    const [one, other] = [Math.max(x1, left), Math.min(x2, right)];
    const end = (x, isCut, way) => isCut ? `M${x + way * 5},${y - 3.5}L${x},${y}L${x + way * 5},${y + 3.5}` : `M${x},${y - 3.5}L${x},${y + 3.5}`;
    const style = { stroke: color, fill: "none", lineWidth: 1, opacity: 0.55 };
    return {
      type: "group",
      children: [
        { type: "line", shape: { x1: one, y1: y, x2: other, y2: y }, style: { ...style, lineDash: [4, 4] } },
        { type: "path", shape: { pathData: end(one, x1 < left, 1) + end(other, x2 > right, -1) }, style }
      ]
    };
  }
  function beside([x, y], text) {
    return { type: "text", x: x + 7, y, style: { text, fill: "var(--ink)", fontSize: 11, fontFamily: family(), verticalAlign: "middle" } };
  }

  // src/save.js
  function harmless(of) {
    const hidden = /^[\s\p{Cc}\u200b-\u200f\u2060\ufeff]*/u;
    const isFormula = /^[\t\r\n]/.test(of) || /^[=+\-@＝＋－＠]/u.test(of.replace(hidden, ""));
    return isFormula ? `'${of}` : of;
  }
  function csv(table) {
    const field = (text) => /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    const lines2 = table.rows.map((row) => row.map((value2) => {
      if (value2 === null) return "";
      return typeof value2 === "number" ? plain(value2) : field(harmless(String(value2)));
    }));
    return [table.columns.map((column2) => field(column2.key)), ...lines2].map((line) => `${line.join(",")}\r
`).join("");
  }
  function markdown(table, places, rows) {
    const escaped = (text) => text.replace(/[\\`*_[\]<>|#~]/g, "\\$&").replace(/\s+/g, " ");
    const cell2 = (row, at) => {
      const [column2, values] = [table.columns[at], table.rows[row]];
      const both2 = typeof values[at] === "number" ? ends(table, column2, values) : null;
      return sign(table, column2, values) + shown(column2.unit, values[at] ?? null) + (both2 ? ` (${interval(column2, both2)})` : "");
    };
    const line = (cells) => `| ${cells.join(" | ")} |
`;
    const isNumber = (at) => !["text", "flag"].includes(table.columns[at].unit);
    return [
      line(places.map((at) => escaped(table.columns[at].title))),
      line(places.map((at) => isNumber(at) ? "---:" : "---")),
      ...rows.map((row) => line(places.map((at) => escaped(cell2(row, at)))))
    ].join("");
  }
  var prefix = "tare";
  function filesOf({ title, began }) {
    const words3 = title.split(":")[0].toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
    const day = /^\d{4}-\d\d-\d\d/.exec(began ?? "")?.[0];
    prefix = [...words3.slice(0, 6).map((word) => word.slice(0, 20)), ...day ? [day] : []].join("-") || "tare";
  }
  function fileName(name) {
    return `${prefix}-${name}`;
  }
  function tsv(table, places, rows) {
    const cell2 = (value2) => {
      if (value2 === null) return "";
      return typeof value2 === "number" ? plain(value2) : harmless(String(value2)).replace(/\s+/g, " ");
    };
    const head = places.map((at) => table.columns[at].key);
    const lines2 = rows.map((row) => places.map((at) => cell2(table.rows[row][at] ?? null)));
    return [head, ...lines2].map((line) => `${line.join("	")}
`).join("");
  }
  function save(name, type, text) {
    saveBlob(name, new Blob([text], { type: `${type};charset=utf-8` }));
  }
  function saveBlob(name, blob) {
    const address2 = URL.createObjectURL(blob);
    make("a", { href: address2, download: fileName(name) }).click();
    setTimeout(() => URL.revokeObjectURL(address2), 6e4);
  }
  function copiers(root) {
    for (const code of root.querySelectorAll(".facts .code code")) {
      const label = code.closest("div")?.querySelector("dt")?.textContent ?? "";
      const copier = button("Copy", async () => {
        told(copier, await copy(code), "Selected");
      }, { class: "copy", "aria-label": `Copy: ${label}` });
      code.closest("dd")?.append(copier);
    }
  }
  function copyButton(text, name, type, rows) {
    const copier = button(text, async () => {
      const done = await copied(rows());
      if (!done) save(name, type, rows());
      told(copier, done, "Saved");
    });
    return copier;
  }
  async function copy(code) {
    const done = await copied(code.textContent ?? "");
    if (!done) getSelection()?.selectAllChildren(code);
    return done;
  }
  function told(control, done, instead = "Not allowed") {
    const before = control.dataset.text ?? control.textContent ?? "";
    control.dataset.text = before;
    control.textContent = done ? "Copied" : instead;
    setTimeout(() => control.textContent = before, 2e3);
  }
  async function copied(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return false;
    }
  }

  // src/tip.js
  var REACH = 60;
  function nearest2(spots, x, y, rows) {
    let [found, best] = [
      /** @type {Spot|null} */
      null,
      rows ? 400 : REACH * REACH
    ];
    for (const spot of spots) {
      const far = rows ? (spot.y - y) ** 2 : (spot.x - x) ** 2 + (spot.y - y) ** 2;
      if (far < best) [found, best] = [spot, far];
    }
    return found;
  }
  function words2(table, chart, { point, series }) {
    const row = table.rows[point.row];
    const list2 = make("dl");
    const say = (column2, text, small) => {
      const value2 = make("dd", {}, make("bdi", {}, text));
      if (small) value2.append(" ", make("small", {}, small));
      list2.append(make("dt", {}, column2.title), value2);
    };
    const told2 = /* @__PURE__ */ new Set([chart.series]);
    const keys = [chart.x, chart.against ?? null, ...chart.stack ?? [], chart.y, chart.n, chart.apart];
    if (point.apart) keys.push(...table.columns.filter((column2) => column2.unit === "text" && !column2.hidden).map((column2) => column2.key));
    for (const key of keys) {
      const at = place(table, key);
      const column2 = table.columns[at];
      if (at < 0 || told2.has(key) || row[at] === null || row[at] === point.name) continue;
      told2.add(key);
      const both2 = ends(table, column2, row);
      say(column2, sign(table, column2, row) + shown(column2.unit, row[at]), both2 ? interval(column2, both2) : void 0);
    }
    const name = series && series !== point.name ? `${point.name}, ${series}` : point.name;
    return [make("strong", {}, make("bdi", {}, name)), list2];
  }

  // src/chart.js
  var waiting = [/* @__PURE__ */ new Set(), /* @__PURE__ */ new Set()];
  function soon(what, inSight = true) {
    if (waiting.every((one) => one.size === 0)) setTimeout(next);
    waiting[inSight ? 0 : 1].add(what);
  }
  function next() {
    const queue = waiting.find((one) => one.size > 0);
    if (!queue) return;
    const [what] = queue;
    queue.delete(what);
    what();
    if (waiting.some((one) => one.size > 0)) setTimeout(next);
  }
  function picture(figure, table, chart, look, switched, section = []) {
    const plot = find(figure, ".plot");
    const area = make("div", { class: "area" });
    const tip = make("div", { class: "tip", hidden: true, role: "status" });
    const ring = make("div", { class: "ring", hidden: true });
    const legend2 = make("div", { class: "legend", role: "group", "aria-label": "Series of this chart" });
    const key = make("ul", { class: "key", "aria-hidden": "true" });
    const nothing = make("p", { class: "empty", hidden: true });
    plot.replaceWith(area);
    area.append(plot, nothing, ring, tip);
    area.before(legend2, key);
    plot.tabIndex = 0;
    const [x, y] = [table.columns[place(table, chart.x)], table.columns[place(table, chart.y)]];
    let all = { series: [], categories: [], points: 0 };
    const none = [];
    let rows = none;
    let [stale, seen, width, ended] = [true, false, 0, false];
    let drawn2 = null;
    let spots = [];
    let at = -1;
    const isOn = (name, place2) => switched.get(name) ?? (chart.first === null || place2 < chart.first);
    function prepare() {
      width = plot.clientWidth;
      all = drawing(table, chart, rows);
      listed();
      const series = all.series.filter((one, place2) => isOn(one.name, place2));
      const request = { table, chart, x, y, drawing: all, series, neighbours: neighbours(), look, width };
      const high = height(request);
      plot.style.height = `${high}px`;
      return { request, series, high };
    }
    function neighbours() {
      if (!chart.alike) return [];
      return section.filter((other) => other.alike && other !== chart).flatMap((other) => drawing(table, other, rows).series);
    }
    function draw() {
      if (ended || !stale) return;
      plot.hidden = false;
      if (plot.clientWidth === 0) return;
      stale = false;
      hide();
      const { request, series, high } = prepare();
      nothing.hidden = series.some((one) => one.points.length > 0);
      nothing.textContent = all.points === 0 ? "Nothing to draw: no row that is shown has these figures." : "No series is chosen.";
      plot.hidden = !nothing.hidden;
      for (const saver of savers) saver.disabled = plot.hidden;
      if (plot.hidden) return;
      drawn2 ??= globalThis.tareCharts.init(plot, null, { renderer: "svg", width, height: high });
      drawn2.resize({ width, height: high });
      drawn2.setOption(option(request), true);
      plot.querySelector("svg")?.setAttribute("viewBox", `0 0 ${width} ${high}`);
      spots = placed(series);
    }
    function placed(series) {
      if (!drawn2 || series.length === 0) return [];
      const [zero, one] = [[0, 0], [1, 1]].map((pair2) => drawn2?.convertToPixel({ xAxisIndex: 0, yAxisIndex: 0 }, pair2) ?? [0, 0]);
      const [dx, dy] = [one[0] - zero[0], one[1] - zero[1]];
      const found = series.flatMap(
        (one2) => one2.points.map((point) => ({ x: zero[0] + point.x * dx, y: zero[1] + point.y * dy, point, series: one2.name }))
      );
      return found;
    }
    function tell(spot) {
      if (!spot) return hide();
      at = spots.indexOf(spot);
      tip.replaceChildren(...words2(table, chart, spot));
      tip.hidden = ring.hidden = false;
      ring.style.transform = `translate(${spot.x}px, ${spot.y}px)`;
      const right = spot.x + 14;
      const left = right + tip.offsetWidth > area.clientWidth ? spot.x - 14 - tip.offsetWidth : right;
      const top = Math.min(Math.max(spot.y - tip.offsetHeight / 2, 0), Math.max(area.clientHeight - tip.offsetHeight, 0));
      tip.style.transform = `translate(${Math.max(left, 0)}px, ${top}px)`;
    }
    function hide() {
      tip.hidden = ring.hidden = true;
      at = -1;
    }
    function pointed(event) {
      const box = plot.getBoundingClientRect();
      tell(nearest2(spots, event.clientX - box.left, event.clientY - box.top, chart.y_scale === "names"));
    }
    function pressed(event) {
      const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };
      const by = Object.hasOwn(steps, event.key) ? steps[
        /** @type {keyof typeof steps} */
        event.key
      ] : 0;
      if (event.key === "Escape") hide();
      if (by === 0 || spots.length === 0) return;
      event.preventDefault();
      tell(spots[Math.min(Math.max(at < 0 && by > 0 ? 0 : at + by, 0), spots.length - 1)]);
    }
    plot.addEventListener("pointermove", pointed);
    plot.addEventListener("pointerdown", pointed);
    plot.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && hide());
    plot.addEventListener("keydown", pressed);
    plot.addEventListener("blur", hide);
    function signs() {
      if (chart.stack) return chart.stack.map((key2, at2) => ({ name: table.columns[place(table, key2)].title, swatch: swatch(partLook(at2), false) }));
      if (chart.against) {
        const published2 = all.series.some((one) => one.points.some((point) => point.against !== null));
        return published2 ? [{ name: "published", swatch: swatch(NO_LOOK, false, true) }, { name: "here", swatch: swatch(NO_LOOK, false) }] : [];
      }
      const isApart = all.series.some((one) => one.points.some((point) => point.apart));
      return isApart ? [{ name: table.columns[place(table, chart.apart)].title, swatch: swatch(NO_LOOK, false, true) }] : [];
    }
    function listed() {
      const [isChosen, meant] = [all.series.length > 1, signs()];
      legend2.hidden = !isChosen && meant.length === 0;
      const meanings = meant.map((one) => make("span", { class: "sign" }, one.swatch, one.name));
      if (!isChosen) return legend2.replaceChildren(...meanings);
      const had = legend2.contains(document.activeElement) ? document.activeElement?.textContent : null;
      const chips = all.series.map((one, place2) => {
        const on = isOn(one.name, place2);
        const chip = button("", () => change([[one.name, !on]]), { "aria-pressed": String(on), title: one.name });
        chip.append(swatch(look(one.name), chart.shape === "lines"), make("bdi", {}, one.name));
        return chip;
      });
      const every = (on) => () => change(all.series.map((one) => [one.name, on]));
      if (all.series.length > 3) chips.push(button("All", every(true), { class: "all" }), button("None", every(false), { class: "all" }));
      legend2.replaceChildren(...chips, ...meanings);
      if (had !== null) chips.find((chip) => chip.textContent === had)?.focus();
    }
    function entries() {
      const drawnNow = all.series.length < 2 ? [] : all.series.filter((one, place2) => isOn(one.name, place2));
      return [...drawnNow.map(({ name }) => ({ name, swatch: swatch(look(name), chart.shape === "lines") })), ...signs()];
    }
    function print2() {
      draw();
      key.replaceChildren(...entries().map((entry) => make("li", {}, entry.swatch, make("bdi", {}, entry.name))));
    }
    function alone() {
      print2();
      const named2 = entries();
      const shelf = make("div", {}, ...named2.map((entry) => entry.swatch));
      figure.append(shelf);
      const text = standalone(
        /** @type {SVGElement} */
        plot.querySelector("svg"),
        find(figure, "figcaption"),
        named2
      );
      shelf.remove();
      return text;
    }
    const file = `${figure.closest("section")?.id ?? "chart"}-${figure.dataset.chart}`;
    const savers = [
      button("Save SVG", () => save(`${file}.svg`, "image/svg+xml", alone())),
      button("Save PNG", async () => saveBlob(`${file}.png`, await pixels(alone())))
    ];
    figure.querySelector(".of")?.append(...savers);
    function change(names2) {
      for (const [name, on] of names2) switched.set(name, on);
      refresh();
    }
    function refresh() {
      stale = true;
      if (seen) soon(draw);
    }
    const sight = new IntersectionObserver(
      (entries2) => {
        seen = entries2.some((entry) => entry.isIntersecting);
        if (seen) soon(draw);
      },
      { rootMargin: "300px" }
    );
    sight.observe(figure);
    const size = new ResizeObserver(() => {
      if (plot.hidden || plot.clientWidth === width) return;
      refresh();
    });
    size.observe(plot);
    return {
      show(now) {
        const isFirst = rows === none;
        rows = now;
        if (isFirst) soon(() => width === 0 && prepare(), false);
        refresh();
      },
      print: print2,
      end() {
        ended = true;
        sight.disconnect();
        size.disconnect();
        drawn2?.dispose();
      }
    };
  }

  // src/pair.js
  var PAIRS = "pairs";
  var INVERSE = { "at-least": "at-most", "at-most": "at-least" };
  function rowOf(pairs, [one, other]) {
    const [first, second] = [place(pairs, "first"), place(pairs, "second")];
    const is = (row2, a, b) => row2[first] === a && row2[second] === b;
    const row = pairs.rows.find((row2) => is(row2, one, other) || is(row2, other, one));
    return row ? { row, inverse: !is(row, one, other) } : null;
  }
  function ratio(pairs, { row, inverse: isInverse }, key) {
    const at = place(pairs, key);
    const value2 = number(row, at);
    if (value2 === null) return null;
    const range = ends(pairs, pairs.columns[at], row);
    const bound2 = (
      /** @type {Bound} */
      row[place(pairs, `${key}_bound`)] ?? null
    );
    const found = { value: value2, ends: range, bound: bound2 };
    return isInverse ? inverse(found) : found;
  }
  function inverse({ value: value2, ends: ends2, bound: bound2 }) {
    return { value: 1 / value2, ends: ends2 && [1 / ends2[1], 1 / ends2[0]], bound: bound2 && INVERSE[bound2] };
  }
  function times({ value: value2, bound: bound2 }) {
    return `${bound2 === null ? "" : `${bound2.replace("-", " ")} `}${show("times", value2).replace("x", "")} times`;
  }
  function interval2({ ends: ends2 }) {
    return ends2 ? ` (${both("times", ends2, " .. ").replaceAll("x", "")})` : "";
  }
  var timesOf = (of, other, what) => `${times(of)} ${other}'s ${what}${interval2(of)}`;
  function leftOpen(of) {
    return of?.ends ? Math.max(of.ends[1], 1 / of.ends[0]) - 1 : null;
  }
  function sentence(main, pairs, names2) {
    let found = rowOf(pairs, names2);
    if (!found) return null;
    const costs = names2.map((name) => own(main, name, "cpu_ratio"));
    const asked = ratio(pairs, found, "cpu_ratio");
    const isLess = asked ? asked.value < 1 : costs[0] !== null && costs[1] !== null && costs[0].value < costs[1].value;
    if (isLess) {
      names2 = [names2[1], names2[0]];
      costs.reverse();
      found = { row: found.row, inverse: !found.inverse };
    }
    const [cpu, throughput] = [ratio(pairs, found, "cpu_ratio"), ratio(pairs, found, "throughput_ratio")];
    const separated = found.row[place(pairs, "separated")];
    return [
      answer(main, names2, cpu, costs, separated),
      ...more(main, names2, cpu, throughput, number(found.row, place(pairs, "blocks")), separated),
      ...separated === false ? excluded(pairs, found.row, cpu, throughput) : [],
      ...beside2(main, names2)
    ].join(" ");
  }
  function answer(main, [one, other], cpu, costs, separated) {
    const [first, second] = costs;
    const what = "CPU time per request";
    let figures = `There is no valid ratio of the ${what} of ${one} and ${other}`;
    if (cpu) figures = `${one} needs ${timesOf(cpu, other, what)}`;
    else if (first && second) figures = `${one} needs ${timesOf(first, reference(main), what)}, and ${other} ${times(second)}${interval2(second)}`;
    return `${separated === false ? `The data do not separate ${one} and ${other}: ` : ""}${figures}.`;
  }
  function more(main, names2, cpu, throughput, blocks, separated) {
    const lines2 = [];
    if (throughput) {
      const [faster, slower] = throughput.value >= 1 ? names2 : [names2[1], names2[0]];
      lines2.push(`${faster} has ${timesOf(throughput.value >= 1 ? throughput : inverse(throughput), slower, "throughput")}.`);
    }
    if (separated === null) lines2.push("There are too few blocks to say whether they differ.");
    if (!cpu?.ends && blocks === 0) lines2.push("No block had both of them, so there is no interval of the pair.");
    if (!cpu?.ends && blocks === 1) lines2.push("One block had both of them, and an interval takes two.");
    if (!throughput && names2.some((name) => own(main, name, "requests_per_second") === null)) {
      lines2.push("There is no valid ratio of their throughputs.");
    }
    return lines2;
  }
  function reference(main) {
    const row = main.rows.find((row2) => row2[place(main, "is_reference")] === true && number(row2, place(main, "cpu_ratio")) === 1);
    return String(row?.[place(main, "label")] ?? "the reference");
  }
  function own(main, name, key) {
    const [label, at] = [place(main, "label"), place(main, key)];
    const row = main.rows.find((row2) => row2[label] === name);
    const value2 = row ? number(row, at) : null;
    return row && value2 !== null ? { value: value2, ends: ends(main, main.columns[at], row), bound: null } : null;
  }
  function beside2(main, names2) {
    const of = (key, title) => {
      const unit = main.columns[place(main, key)]?.unit;
      const texts = names2.map((name) => {
        const figure = own(main, name, key);
        return figure && `${name} ${show(unit, figure.value)}`;
      });
      return texts.includes(null) ? [] : [`${title}: ${texts.join(", ")}.`];
    };
    return [...of("latency_ns_p99", "p99"), ...of("rss_bytes_peak", "Peak memory")];
  }
  function excluded(pairs, row, cpu, throughput) {
    const ofAll = number(row, place(pairs, "differ_most"));
    const decides = row[place(pairs, "separated_by")] === "throughput" ? throughput : cpu;
    const most = ofAll ?? leftOpen(decides);
    const blocks = number(row, place(pairs, "blocks"));
    if (most === null || blocks === null) return [];
    const held = ofAll === null ? "for this pair alone" : "for all pairs together";
    const isApart = decides?.ends && (decides.ends[0] > 1 || decides.ends[1] < 1);
    return [
      ...isApart ? ["As a pair alone they would be apart; with all pairs of the run allowed for they are not."] : [],
      `A difference of more than ${show("share", most)} is excluded (95% ${held}).`,
      `Four times as many blocks, ${4 * blocks}, would about halve that.`
    ];
  }

  // src/compare.js
  function comparing(main, pairs, asked, changed) {
    const label = place(main, "label");
    const known = new Set(["first", "second"].flatMap((key) => pairs.rows.map((row) => row[place(pairs, key)])));
    const names2 = main.rows.map((row) => String(row[label] ?? "")).filter((name) => known.has(name));
    if (names2.length < 2) return null;
    const field = (title) => {
      const options = names2.map((name) => make("option", { value: name }, name));
      const select = make("select", { "aria-label": title, autocomplete: "off" }, make("option", { value: "" }, "service"), ...options);
      select.addEventListener("change", chosen);
      return select;
    };
    const [one, other] = [field("Compare this service"), field("with this one")];
    const form = make("div", { class: "compare", role: "group", "aria-label": "Compare two services" }, "Compare ", one, " with ", other);
    const text = make("p", { role: "status" });
    const copier = button("Copy", async () => told(copier, await copied(`${text.textContent}
${location.href}`)), {
      "aria-label": "Copy the sentence and a link"
    });
    const close = button("Close", () => {
      one.value = other.value = "";
      chosen();
      one.focus();
    }, { "aria-label": "Close the comparison" });
    const answer2 = make("div", { class: "compared", hidden: true }, text, make("span", {}, copier, close));
    function chosen() {
      asked.pair = one.value !== "" && other.value !== "" && one.value !== other.value ? [one.value, other.value] : null;
      changed();
      refresh();
    }
    function refresh() {
      const said = asked.pair && sentence(main, pairs, asked.pair);
      if (said && asked.pair) [one.value, other.value] = asked.pair;
      const isSame = one.value !== "" && one.value === other.value;
      answer2.hidden = !said && !isSame;
      copier.hidden = !said;
      text.textContent = said || (isSame ? "These are the same service: choose another one." : "");
    }
    function begin2(name) {
      one.value = name;
      other.value = "";
      chosen();
      other.focus();
    }
    return { form, answer: answer2, refresh, begin: begin2 };
  }

  // src/contents.js
  function contents(main) {
    const links = new Map([...document.querySelectorAll(".contents a")].map((link) => [link.getAttribute("href")?.slice(1) ?? "", link]));
    const sections = [...main.querySelectorAll("section.part")];
    for (const section of sections) {
      const title = section.querySelector("h2");
      title?.append(make("a", { class: "anchor", href: `#${section.id}`, "aria-label": `Link to: ${title.textContent}` }, "#"));
    }
    const seen = /* @__PURE__ */ new Set();
    const mark = () => {
      const now = sections.find((section) => seen.has(section))?.id;
      for (const [id, link] of links) {
        if (id !== now) link.removeAttribute("aria-current");
        else if (!link.hasAttribute("aria-current")) {
          link.setAttribute("aria-current", "true");
          if (link instanceof HTMLElement) link.closest("ol")?.scrollTo({ left: link.offsetLeft - 40 });
        }
      }
      if (now === void 0 && scrollY < 100) document.querySelector(".contents ol")?.scrollTo({ left: 0 });
    };
    const watch = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) {
          if (entry.isIntersecting) seen.add(entry.target);
          else seen.delete(entry.target);
        }
        mark();
      },
      { rootMargin: "-20% 0px -70% 0px" }
    );
    for (const section of sections) watch.observe(section);
    return () => watch.disconnect();
  }
  function openTarget() {
    const target = document.getElementById(parts(location.hash).id);
    let isFolded = false;
    for (let fold = target?.closest("details"); fold; fold = fold.parentElement?.closest("details")) {
      isFolded ||= !fold.open;
      fold.open = true;
    }
    if (isFolded) target?.scrollIntoView();
  }

  // src/live.js
  function follow(events, changed) {
    const view = progressView();
    const ask = asking(changed);
    const end = listen(events, view.lost, {
      progress: (data) => view.show(JSON.parse(data)),
      document: ask,
      done: () => {
        end();
        view.end();
        ask();
      }
    });
  }
  function followList() {
    const list2 = document.querySelector("#main [data-events]");
    if (!(list2 instanceof HTMLElement) || !list2.dataset.events) return;
    const lost = make("p", { class: "lost", role: "status" });
    find(document, ".bar").append(lost);
    const tell = (isLost) => lost.replaceChildren(isLost ? LOST : "");
    const ask = asking((page) => {
      const now = page.querySelector("#main > *");
      const at = document.activeElement?.getAttribute("href");
      if (now) find(document, "#main").replaceChildren(document.adoptNode(now));
      for (const link of document.links) if (at && link.getAttribute("href") === at) link.focus();
    });
    listen(list2.dataset.events, tell, { list: ask });
  }
  var LOST = "The server does not answer: this is what it said last.";
  function listen(events, lost, hear) {
    let source = null;
    const open = () => {
      source = new EventSource(events);
      for (const [name, heard] of Object.entries(hear)) {
        source.addEventListener(name, (event) => heard(event.data));
      }
      source.addEventListener("open", () => lost(false));
      source.addEventListener("error", () => lost(true));
    };
    const look = () => {
      if (document.hidden) {
        source?.close();
        source = null;
      } else if (!source) {
        open();
        hear.list?.("");
      }
    };
    document.addEventListener("visibilitychange", look);
    if (!document.hidden) open();
    return () => {
      document.removeEventListener("visibilitychange", look);
      source?.close();
    };
  }
  function asking(answered) {
    let [isAsking, again] = [false, false];
    const ask = async () => {
      again = isAsking;
      if (isAsking) return;
      isAsking = true;
      const page = await thisPage();
      try {
        if (page !== null) answered(new DOMParser().parseFromString(page, "text/html"));
      } finally {
        isAsking = false;
        if (again) ask();
      }
    };
    return ask;
  }
  async function thisPage() {
    try {
      const answer2 = await fetch(location.pathname + location.search, { cache: "no-store" });
      return answer2.ok ? await answer2.text() : null;
    } catch {
      return null;
    }
  }
  function progressView() {
    const bar = make("progress", { max: 1, "aria-label": "Share of the expected time that is over" });
    const stage = make("strong", { role: "status" });
    const left = make("span");
    const now = make("span", { class: "now" });
    const lost = make("span", { class: "lost", role: "status" });
    const view = make("div", { class: "live" }, bar, stage, left, now, lost);
    find(document, ".bar .tools").before(view);
    return {
      show: (progress) => {
        bar.value = progress.share;
        for (
          const [element, text] of
          /** @type {[HTMLElement, string][]} */
          [
            [stage, progress.stage],
            [left, progress.left],
            [now, progress.now]
          ]
        ) {
          if (element.textContent !== text) element.textContent = text;
        }
      },
      lost: (isLost) => lost.replaceChildren(isLost ? LOST : ""),
      end: () => view.replaceChildren(make("strong", { role: "status" }, "The run has ended"))
    };
  }

  // src/panel.js
  var ROWS_MAX = 8;
  var PLACES = { homepage: "Website", source: "Source", package_page: "Its package, as the registry shows it" };
  function panel(data, { closed, compare, pins: pins2 }) {
    const dialog = make("dialog", { class: "panel", "aria-labelledby": "panel-title" });
    dialog.addEventListener("close", closed);
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    document.body.append(dialog);
    function open(name) {
      const seen = /* @__PURE__ */ new Set();
      const parts2 = data.sections.flatMap((section) => part(section, name, seen, () => dialog.close()));
      if (parts2.length === 0) return false;
      const copier = button("Copy link", async () => told(copier, await copied(location.href)));
      const tools2 = make("div", { class: "tools" }, copier);
      if (compare) tools2.prepend(button("Compare", () => {
        dialog.close();
        compare(name);
      }));
      if (pins2.may(name)) {
        const pin = button("", () => {
          pins2.toggle(name);
          say();
        });
        const say = () => pin.textContent = pins2.has(name) ? "Unpin" : "Pin";
        say();
        tools2.prepend(pin);
      }
      const inSite = pageOf(name);
      if (inSite) tools2.append(make("a", { href: inSite, class: "button" }, "In all experiments"));
      tools2.append(button("Close", () => dialog.close()));
      const head = make("header", {}, make("h2", { id: "panel-title" }, make("bdi", {}, name)), tools2);
      dialog.replaceChildren(head, make("div", { class: "parts", tabindex: "0", role: "region", "aria-label": "What is known of it" }, ...parts2));
      if (!dialog.open) dialog.showModal();
      return true;
    }
    return { open, close: () => dialog.open && dialog.close(), end: () => dialog.remove() };
  }
  function pageOf(name) {
    const pages = document.getElementById("site-services")?.textContent;
    return pages ? JSON.parse(pages)[name] : void 0;
  }
  function part(section, name, seen, leave) {
    const table = section.table;
    if (!table) return [];
    const at = place(table, "label") < 0 ? place(table, "service") : place(table, "label");
    const rows = table.rows.filter((row) => at >= 0 && row[at] === name);
    if (rows.length === 0) return [];
    const link = make("a", { href: `#${section.id}` }, section.title);
    link.addEventListener("click", leave);
    return [make("section", {}, make("h3", {}, link), ...ofRows(table, rows, at, seen, section, leave))];
  }
  function ofRows(table, rows, at, seen, section, leave) {
    const has2 = (place2) => rows.some((row) => row[place2] !== null && row[place2] !== "");
    const columns = table.columns.map((column2, place2) => ({ column: column2, place: place2 })).filter(({ column: column2, place: place2 }) => place2 !== at && !column2.hidden && has2(place2));
    if (rows.length === 1) {
      const fresh = columns.filter(({ column: column2 }) => !seen.has(column2.key));
      for (const { column: column2 } of columns) seen.add(column2.key);
      return [list(table, rows[0], fresh), ...elsewhere(table, rows[0])];
    }
    if (rows.length <= ROWS_MAX) return [grid(table, rows, columns)];
    const filter = new URLSearchParams({ find: String(rows[0][at]) });
    const link = make("a", { href: `${location.href.split("#")[0]}#${section.id}?${filter}` }, `${rows.length} rows`);
    link.addEventListener("click", leave);
    return [make("p", {}, link)];
  }
  function cell(table, row, { column: column2, place: place2 }) {
    const value2 = row[place2] ?? null;
    const both2 = typeof value2 === "number" ? ends(table, column2, row) : null;
    const text = make("bdi", {}, value2 === null ? "-" : sign(table, column2, row) + shown(column2.unit, value2));
    return both2 ? [text, " ", make("small", {}, interval(column2, both2))] : [text];
  }
  function list(table, row, columns) {
    return make("dl", {}, ...columns.map((of) => make("div", {}, make("dt", { title: of.column.help ?? false }, of.column.title), make("dd", {}, ...cell(table, row, of)))));
  }
  function grid(table, rows, columns) {
    const first = names(table);
    const head = make("tr", {}, ...columns.map(({ column: column2 }) => make("th", { scope: "col" }, column2.title)));
    const lines2 = rows.map((row) => make("tr", {}, ...columns.map((of) => make("td", { class: of.place !== first && of.column.unit !== "text" && "number" }, ...cell(table, row, of)))));
    const box = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": table.caption });
    box.append(make("table", {}, make("thead", {}, head), make("tbody", {}, ...lines2)));
    return box;
  }
  function elsewhere(table, row) {
    const links = Object.entries(PLACES).flatMap(([key, title]) => {
      const to = row[place(table, key)];
      if (typeof to !== "string" || !/^https?:\/\//.test(to)) return [];
      return [make("a", { href: to, rel: "noreferrer noopener", target: "_blank" }, title)];
    });
    return links.length === 0 ? [] : [make("p", { class: "places" }, ...links)];
  }

  // src/table.js
  var PAGE_ROWS = 100;
  var SHORT_LETTERS_MAX = 32;
  function writtenRows(body) {
    const rows = /* @__PURE__ */ new Map();
    for (const row of body.querySelectorAll("tr[data-row]")) {
      const next2 = row.nextElementSibling;
      rows.set(Number(row.getAttribute("data-row")), next2?.classList.contains("said") ? [row, next2] : [row]);
    }
    return rows;
  }
  function tableOf(box, table, id, position, chosen, turned) {
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
      button("Download CSV", () => save(`${id}.csv`, "text/csv", csv(table)))
    );
    box.append(below);
    let rows = [];
    let stale = true;
    for (const head of heads) {
      const at = Number(head.dataset.place);
      const sort = button("", () => turn(at));
      sort.append(...head.childNodes);
      head.append(sort);
    }
    function turn(at) {
      const first = ["per-second", "share", "flag"].includes(table.columns[at].unit);
      const now = position.sorting;
      if (now?.place !== at) position.sorting = { place: at, down: first };
      else position.sorting = now.down === first ? { place: at, down: !first } : null;
      position.page = 0;
      render();
      turned();
    }
    const isPinned = (row) => chosen.pinned.has(String(table.rows[row][nameAt]));
    function inOrder() {
      const order = position.sorting ? sorted(table, rows, position.sorting) : rows;
      const group = (row) => table.rows[row][referenceAt] === true ? 0 : isPinned(row) ? 1 : 2;
      return [0, 1, 2].flatMap((which) => order.filter((row) => group(row) === which));
    }
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
    function turnPages(count) {
      pages.hidden = count < 2;
      if (pages.hidden) return;
      const to = (text, page2) => {
        const control = button(text, () => {
          position.page = page2;
          render();
          [...pages.querySelectorAll("button")].find((one) => one.textContent === text)?.focus();
        });
        control.disabled = page2 < 0 || page2 >= count;
        return control;
      };
      const { page } = position;
      pages.replaceChildren(to("Previous", page - 1), `page ${page + 1} of ${count}`, to("Next", page + 1));
    }
    function made(row) {
      const values = table.rows[row];
      const line = make("tr", { "data-row": row });
      for (const at of places) {
        const [column2, value2] = [table.columns[at], values[at] ?? null];
        const raw = value2 === null ? "" : typeof value2 === "number" ? plain(value2) : String(value2);
        const text = sign(table, column2, values) + shown(column2.unit, value2);
        const numeric = column2.unit !== "text" && column2.unit !== "flag";
        const attributes = { "data-value": raw, class: numeric && "number" };
        const cell2 = at === nameAt ? make("th", { scope: "row", ...attributes }) : make("td", attributes);
        cell2.append(numeric ? text : make("bdi", { title: text.length > SHORT_LETTERS_MAX && text }, text));
        const both2 = typeof value2 === "number" ? ends(table, column2, values) : null;
        if (both2) cell2.append(" ", make("small", {}, interval(column2, both2)));
        line.append(cell2);
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
      }
    };
  }

  // src/theme.js
  var KEY = "tare-theme";
  function remembered() {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null;
    }
  }
  function remember(theme) {
    try {
      localStorage.setItem(KEY, theme);
    } catch {
    }
  }
  function themeButton() {
    const root = document.documentElement;
    const system = matchMedia("(prefers-color-scheme: dark)");
    const chosen = remembered();
    if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
    const next2 = () => {
      const [same, other] = system.matches ? ["dark", "light"] : ["light", "dark"];
      if (root.dataset.theme === void 0) return other;
      return root.dataset.theme === other ? same : "system";
    };
    const control = button("", () => {
      const theme = next2();
      if (theme === "system") delete root.dataset.theme;
      else root.dataset.theme = theme;
      remember(theme);
      refresh();
    }, { id: "theme" });
    const refresh = () => {
      control.textContent = `Colours: ${root.dataset.theme ?? "system"}`;
      control.title = `Next: ${next2()}`;
    };
    system.addEventListener("change", refresh);
    refresh();
    return control;
  }

  // src/page.js
  var memories = /* @__PURE__ */ new Map();
  var recalls = /* @__PURE__ */ new Map();
  var asks = /* @__PURE__ */ new Map();
  var pictures = [];
  var stop = () => {
  };
  function memoryOf(section) {
    let memory = memories.get(section.id);
    if (!memory) {
      memory = { chosen: nothingChosen(), position: { sorting: null, page: 0 }, switched: [], open: null, asked: { pair: null, service: null } };
      memories.set(section.id, memory);
    }
    while (memory.switched.length < section.charts.length) memory.switched.push(/* @__PURE__ */ new Map());
    return memory;
  }
  function begin() {
    const data = JSON.parse(find(document, "#document").textContent ?? "");
    filesOf(data);
    const main = find(document, "#main");
    const first = data.sections[0];
    const order = first?.table ? column(first.table, names(first.table)) : [];
    const coloured = servicesOf(data) ?? order;
    const tones = new Map(data.sections.flatMap((section) => Object.entries(section.table?.tones ?? {})));
    const look = looks([...new Set(coloured)], tones);
    const some = make("div", { class: "some-only", role: "status", hidden: true });
    main.append(some);
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
    const leave = first?.table ? services(data, first, first.table, update) : () => {
    };
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
  function services(data, first, table, update) {
    const memory = memoryOf(first);
    const noted = () => noteInAddress(first.id, table, memory);
    const pairs = data.sections.find((section) => section.id === PAIRS)?.table;
    const box = find(document, `#${CSS.escape(first.id)}-table`);
    const pair2 = pairs ? comparing(table, pairs, memory.asked, noted) : null;
    if (pair2) {
      const filters = box.querySelector(".filters") ?? make("div", { class: "filters" });
      box.prepend(make("div", { class: "top" }, filters, pair2.form), pair2.answer);
      pair2.refresh();
    }
    const beside3 = panel(data, {
      closed() {
        memory.asked.service = null;
        noted();
      },
      compare: pair2 && pair2.begin,
      pins: pins(table, memory.chosen.pinned, () => {
        noted();
        update();
      })
    });
    const open = (name) => {
      memory.asked.service = name !== null && beside3.open(name) ? name : null;
      if (memory.asked.service === null) beside3.close();
    };
    const label = place(table, "label");
    for (const cell2 of label < 0 ? [] : box.querySelectorAll("tbody tr[data-row] th[scope=row]")) {
      const name = String(table.rows[Number(cell2.closest("tr")?.dataset.row)]?.[label] ?? "");
      const link = make("a", { href: `#${encodeURIComponent(first.id)}?service=${encodeURIComponent(name)}`, class: "name" });
      cell2.firstElementChild?.replaceWith(link);
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
      pair2?.refresh();
      open(asked.service);
    });
    if (memory.asked.service !== null) open(memory.asked.service);
    return beside3.end;
  }
  function pins(table, pinned, changed) {
    const known = new Set(column(table, names(table)));
    return {
      may: (name) => known.has(name),
      has: (name) => pinned.has(name),
      toggle(name) {
        if (!pinned.delete(name)) pinned.add(name);
        changed();
      }
    };
  }
  function column(table, at) {
    return at < 0 ? [] : table.rows.map((row) => String(row[at] ?? "-"));
  }
  function visibleNames(table, chosen) {
    return new Set(column({ ...table, rows: table.rows.filter(passes(table, chosen, true)) }, names(table)));
  }
  function servicesOf(data) {
    const table = data.sections.map((section) => section.table).find((table2) => table2 !== null && place(table2, "label") >= 0);
    return table && column(table, place(table, "label"));
  }
  function sectionOf(element, section, table, first, look, update) {
    const memory = memoryOf(section);
    const isFirst = table === first;
    const box = find(element, ".table");
    const fold = box.closest("details.fold");
    if (fold instanceof HTMLDetailsElement) {
      if (memory.open !== null) fold.open = memory.open;
      fold.addEventListener("toggle", () => memory.open = fold.open);
    }
    const noted = () => noteInAddress(section.id, table, memory);
    const shown2 = tableOf(box, table, section.id, memory.position, memory.chosen, noted);
    const what = isFirst ? "services" : "rows";
    let visible = null;
    let filters = null;
    function filterable() {
      filters = fields(table, what, memory.chosen, () => {
        noted();
        changed();
      });
      if (filters) box.prepend(filters.element);
    }
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
    const own2 = section.charts.flatMap((chart, at) => {
      const figure = element.querySelector(`figure[data-chart="${at}"]`);
      if (!(figure instanceof HTMLElement)) return [];
      if (chart.shape !== "flame") return [picture(figure, table, chart, look, memory.switched[at], section.charts)];
      if (!globalThis.tareFlame) find(figure, ".plot").replaceWith(make("p", { class: "empty" }, "Load this page again to see it."));
      return globalThis.tareFlame ? [globalThis.tareFlame(figure, table, chart)] : [];
    });
    pictures.push(...own2);
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
      for (const [key2, values] of seen.chosen.facets) memory.chosen.facets.set(key2, values);
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
      shown2.show(rows);
      for (const one of own2) one.show(rows);
    }
    return (now) => {
      visible = now;
      refresh();
    };
  }
  function recall() {
    const { id, query } = parts(location.hash);
    if (query.size === 0) return;
    recalls.get(id)?.(query);
    asks.get(id)?.(askedFor(location.hash));
  }
  function noteInAddress(id, table, { chosen, position, asked }) {
    history.replaceState(null, "", address(id, table, { chosen, sorting: position.sorting }, asked));
  }
  function printable() {
    const root = document.documentElement;
    let opened = [];
    addEventListener("beforeprint", () => {
      if (!root.classList.contains("print-all")) return;
      opened = [...document.querySelectorAll("details:is(.level, .fold, .meanings, .remarks, .checks *):not([open])")].filter((fold) => fold instanceof HTMLDetailsElement).filter((fold) => !fold.querySelector("table[data-long]"));
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
  var tools = find(document, "#tools");
  tools.append(themeButton());
  if (document.getElementById("document")) {
    tools.prepend(button("Download JSON", () => {
      save("document.json", "application/json", find(document, "#document").textContent ?? "");
    }));
    closeElsewhere();
    begin();
    printable();
    openTarget();
    addEventListener("hashchange", () => {
      recall();
      openTarget();
    });
    document.addEventListener("click", (event) => {
      if (event.target instanceof Element && event.target.closest("a[href^='#']")) setTimeout(openTarget);
    });
    const events = document.body.dataset.events;
    if (events) follow(events, replace);
  } else {
    followList();
  }
})();
