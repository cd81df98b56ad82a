"use strict";
(() => {
  // src/data.js
  function read(json) {
    const doc = JSON.parse(json);
    for (const { table } of doc.sections) {
      if (!table?.packed) continue;
      const columns = table.packed.map(values);
      table.rows = Array.from({ length: table.count }, (_, row) => columns.map((column2) => column2[row]));
      delete table.packed;
      delete table.count;
    }
    return doc;
  }
  function values(packed) {
    if (Array.isArray(packed)) return packed;
    if ("words" in packed) return values(packed.of).map((at) => packed.words[Number(at)]);
    if ("runs" in packed) return unrolled(packed.runs);
    let now = packed.from;
    return [now, ...unrolled(packed.steps).map((step2) => now += Number(step2))];
  }
  function unrolled(runs) {
    return runs.flatMap((value2, at) => at % 2 === 0 ? [] : Array.from({ length: Number(runs[at - 1]) }, () => value2));
  }
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
      const below2 = Math.floor(Math.abs(number2) * ten);
      text = ((below2 % 2 === 0 ? below2 : below2 + 1) / ten).toFixed(places);
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
  function twoDigits(value2) {
    const places = value2 > 0 ? 1 - Math.floor(Math.log10(value2)) : 0;
    return Number(places > 100 ? value2.toExponential(1) : fixed(value2, places));
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
      if (percent > 1e4) return "> +10000%";
      return Math.abs(percent) < 0.05 ? "+0.0%" : `${percent > 0 ? "+" : ""}${fixed(percent, 1)}%`;
    },
    probability: (value2) => SHOWN.number(twoDigits(value2)),
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
  function shownIn(column2, value2) {
    return column2.names?.[String(value2)] ?? shown(column2.unit, value2);
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
      if (column2.hidden || !(isWhat || !ofServices) || typeof value2 !== "string") return false;
      return [value2, column2.names?.[value2] ?? ""].some((one) => one.toLowerCase().includes(text));
    });
  }

  // src/filter.js
  var TEXT_ROWS_MIN = { services: 8, rows: 30 };
  function nothingChosen() {
    return { text: "", facets: /* @__PURE__ */ new Map(), pinned: /* @__PURE__ */ new Set() };
  }
  function isActive(chosen) {
    return chosen.text !== "" || [...chosen.facets.values()].some((values2) => values2.size > 0);
  }
  function passes(table, chosen, ofServices = false) {
    const text = chosen.text.trim().toLowerCase();
    const facets = [...chosen.facets].filter(([, values2]) => values2.size > 0).map(([key, values2]) => ({ at: place(table, key), values: values2 }));
    const nameAt = ofServices ? names(table) : -1;
    const isPinned = (row) => nameAt >= 0 && chosen.pinned.has(String(row[nameAt]));
    return (row) => isPinned(row) || facets.every(({ at, values: values2 }) => values2.has(shown(table.columns[at].unit, row[at]))) && (text === "" || has(table, row, text, ofServices));
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
    const values2 = () => chosen.facets.get(column2.key) ?? /* @__PURE__ */ new Set();
    const boxes = [...counts].sort(([one], [other]) => shownIn(column2, one).localeCompare(shownIn(column2, other))).map(([text, count]) => {
      const box = make("input", { type: "checkbox" });
      box.addEventListener("change", () => {
        const now = values2();
        if (box.checked) now.add(text);
        else now.delete(text);
        chosen.facets.set(column2.key, now);
        changed();
      });
      return { box, text, label: make("label", {}, box, make("bdi", {}, shownIn(column2, text)), make("span", {}, String(count))) };
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
      const now = values2();
      for (const { box, text } of boxes) box.checked = now.has(text);
      element.classList.toggle("some", now.size > 0);
      summary.textContent = now.size === 0 ? column2.title : `${column2.title}: ${[...now].map((text) => shownIn(column2, text)).join(", ")}`;
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
    for (const [key, values2] of chosen.facets) for (const value2 of values2) query.append(ONLY + key, value2);
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
      const pair = raw("compare") ?? "";
      const names2 = pair.includes(",") ? pair.split(",").map(decodeURIComponent) : decodeURIComponent(pair).split(",");
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
    const drawn = svg("g", { transform: `translate(0 ${TITLE})` }, ...[...chart.childNodes].map(styled));
    const { group, lines } = legend(entries, width, text);
    group.setAttribute("transform", `translate(0 ${TITLE + height2})`);
    const all = { width, height: TITLE + height2 + lines * LINE + MARGIN };
    const ground = svg("rect", { ...all, fill: getComputedStyle(caption.closest("figure") ?? caption).backgroundColor });
    return new XMLSerializer().serializeToString(svg("svg", { ...all, viewBox: `0 0 ${all.width} ${all.height}` }, ground, title, drawn, group));
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
    let [x, line2] = [MARGIN, 0];
    for (const { name, swatch: swatch2 } of entries) {
      const symbol = Number(swatch2.getAttribute("width"));
      const room = symbol + 6 + (measure?.measureText(name).width ?? name.length * LETTERS) + 16;
      if (x > MARGIN && x + room > width) [x, line2] = [MARGIN, line2 + 1];
      const y = line2 * LINE + LINE / 2;
      const place2 = svg("g", { transform: `translate(${x + symbol / 2} ${y})` }, ...[...swatch2.childNodes].map(styled));
      group.append(place2, svg("text", { ...text, x: x + symbol + 6, y }, words(name)));
      x += room;
    }
    return { group, lines: entries.length === 0 ? 0 : line2 + 1 };
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

  // src/axis.js
  var NINES = [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999];
  var FACTORS = [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 5, 7], [1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9]];
  var NINES_MAX = 7;
  function coordinate(scale, value2) {
    if (scale === "log") return value2 > 0 ? Math.log10(value2) : null;
    if (scale === "percentile") {
      if (value2 < NINES[0] || value2 >= 1) return null;
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
    if (chosen.length < 3 && max - min < 0.5) {
      const { ticks } = linear(10 ** min, 10 ** max, unit, count);
      chosen = ticks.map((one) => Math.log10(one.at)).filter((at) => at >= min && at <= max);
    }
    return { min, max, ticks: chosen.map((at) => ({ at, text: tick(unit, 10 ** at) })) };
  }
  function nines(high) {
    const max = Math.max(high, 1);
    const ticks = NINES.map((share) => ({ at: -Math.log10(1 - share), text: show("percentile", share) }));
    return { min: ticks[0].at, max, ticks: ticks.filter((one) => one.at <= max + 1e-9) };
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
    if (at.x < 0 || at.y < 0) return { series: [], categories: [], points: 0, steps: null };
    const [columnX, columnY] = [table.columns[at.x], table.columns[at.y]];
    for (const row of chart.against ? greatestFirst(table, rows, at.x) : rows) {
      const values2 = table.rows[row];
      if (onlyAt >= 0 && values2[onlyAt] !== text) continue;
      const x = where(chart.x_scale, columnX, values2[at.x], categories);
      const y = x === null ? null : where(chart.y_scale, columnY, values2[at.y], categories);
      if (x === null || y === null) continue;
      const name = at.series < 0 ? "" : String(values2[at.series] ?? "-");
      let series = all.get(name);
      if (!series) all.set(name, series = { name, title: textOf(table.columns[at.series], name), points: [] });
      series.points.push({
        row,
        name: nameAt < 0 ? name : String(values2[nameAt] ?? "-"),
        title: nameAt < 0 ? series.title : textOf(table.columns[nameAt], values2[nameAt]),
        x,
        y,
        xEnds: span(table, columnX, values2, chart.x_scale),
        yEnds: span(table, columnY, values2, chart.y_scale),
        bound: bound(chart.x_scale, number(values2, at.bound)),
        against: bound(chart.x_scale, number(values2, at.against)),
        band: band ? claimed(chart.x_scale, band.map((at2) => number(values2, at2))) : null,
        parts: stack ? stack.map((at2) => number(values2, at2) ?? 0) : null,
        apart: at.apart >= 0 && values2[at.apart] === true
      });
      count += 1;
    }
    const isCounted = chart.shape === "lines" && chart.x_scale === "linear" && columnX.unit === "count";
    const steps = isCounted ? stepsOf(table, at.x, (values2) => onlyAt < 0 || values2[onlyAt] === text) : null;
    return { series: [...all.values()], categories: [...categories.keys()], points: count, steps };
  }
  function stepsOf(table, at, isDrawn) {
    const found = new Set(table.rows.filter(isDrawn).map((values2) => number(values2, at)).filter((one) => one !== null));
    return new Map([...found].sort((one, other) => one - other).map((one, place2) => [one, place2]));
  }
  function greatestFirst(table, rows, at) {
    const of = (row) => number(table.rows[row], at) ?? -Infinity;
    return [...rows].sort((one, other) => of(other) - of(one) || 0);
  }
  function shortened(names2) {
    const all = names2.map((name) => name.split(", "));
    const isAlike = (part2, at) => names2.length > 1 && all.every((parts2) => parts2[at] === part2);
    return all.map((parts2, at) => parts2.filter((part2, place2) => !isAlike(part2, place2)).join(", ") || names2[at]);
  }
  function textOf(column2, value2) {
    const text = String(value2 ?? "-");
    return column2 ? shownIn(column2, text) : text;
  }
  function where(scale, column2, value2, categories) {
    if (scale === "names") {
      const name = textOf(column2, value2);
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

  // src/text.js
  var pen;
  var family = "";
  function textWidth(text, size, weight = 400) {
    if (pen === void 0) {
      pen = document.createElement("canvas").getContext("2d");
      family = getComputedStyle(document.body).fontFamily;
    }
    if (!pen) return text.length * size * 0.6;
    pen.font = `${weight} ${size}px ${family}`;
    return pen.measureText(text).width;
  }
  function broken(name, wide, size) {
    const lines = [];
    for (const word of name.split(" ")) {
      const longer = `${lines.at(-1) ?? ""} ${word}`.trim();
      if (lines.length > 0 && textWidth(longer, size) <= wide) lines[lines.length - 1] = longer;
      else lines.push(word);
    }
    return lines;
  }
  function cut(text, wide, size) {
    if (textWidth(text, size) <= wide) return text;
    const letters = [...text];
    let [fits, tooLong] = [0, letters.length];
    while (tooLong - fits > 1) {
      const middle = Math.floor((fits + tooLong) / 2);
      if (textWidth(`${letters.slice(0, middle).join("")}…`, size) <= wide) fits = middle;
      else tooLong = middle;
    }
    return `${letters.slice(0, fits).join("")}…`;
  }

  // src/frame.js
  var END_LABELS_MAX = 12;
  var END_LABEL_WIDTH = { least: 96, share: 0.28 };
  var WHISKER_DECADES = 0.5;
  var NAME_HEIGHT = 14;
  var POINTS_HEIGHT = 30;
  var BELOW = 46;
  var ABOVE = 26;
  var GAP = 8;
  var TICK_WIDTH = 96;
  var SIZE = 12;
  var TEXT = { fill: "var(--muted)", "font-size": SIZE };
  var END_SIZE = 11;
  var isLength = ({ shape, against }) => shape === "bars" || against !== void 0;
  function height({ chart, drawing: drawing2, series, width }) {
    if (chart.y_scale !== "names") return width < 520 ? 300 : 340;
    const each = series.length > 1 && chart.shape === "bars" ? 12 * series.length + 8 : chart.shape === "points" ? POINTS_HEIGHT : 18;
    return Math.max(drawing2.categories.length, 1) * Math.max(each, named(drawing2, width).lines * NAME_HEIGHT + 4) + 6 + BELOW;
  }
  function named({ categories }, width) {
    const most = width < 520 ? Math.max(92, width * 0.4) : Math.min(Math.max(190, width * 0.3), 340);
    const longest = Math.max(0, ...categories.map((name) => textWidth(name, SIZE)));
    const wide = longest <= most * 0.8 ? longest + 2 : Math.min(most, Math.max(92, longest / 2 + 24));
    const names2 = new Map(categories.map((name) => [name, broken(name, wide, SIZE)]));
    return { wide: Math.ceil(wide), names: names2, lines: Math.max(1, ...[...names2.values()].map((lines) => lines.length)) };
  }
  function axisOf({ chart, x, y, drawing: drawing2, series, others, neighbours }, way, count) {
    const [scale, unit] = way === "x" ? [chart.x_scale, x.unit] : [chart.y_scale, y.unit];
    if (scale === "names") {
      const ticks = drawing2.categories.map((text, at) => ({ at, text }));
      return { min: -0.5, max: Math.max(ticks.length, 1) - 0.5, ticks };
    }
    let [low, high] = extent([...series, ...others, ...neighbours], way, scale === "log" ? WHISKER_DECADES : Infinity);
    if (isLength(chart) && scale === "linear") [low, high] = [Math.min(0, low), Math.max(0, high)];
    return axis(scale, unit, low, high, count);
  }
  function frame(request) {
    const { chart, drawing: drawing2, series, width } = request;
    const high = height(request);
    const y = axisOf(request, "y", 6);
    const hasNames = chart.y_scale === "names";
    const { wide, names: names2 } = named(hasNames ? drawing2 : { ...drawing2, categories: [] }, width);
    const left = 4 + GAP + Math.ceil(hasNames ? wide : Math.max(0, ...y.ticks.map((one) => textWidth(one.text, SIZE))));
    const ends2 = width > 640 && chart.shape === "lines" && chart.series !== null && series.length > 0 && series.length <= END_LABELS_MAX;
    const longest = ends2 ? Math.max(...series.map((one) => textWidth(one.title, END_SIZE))) : 0;
    const room = ends2 ? Math.min(Math.ceil(longest) + 2, Math.max(END_LABEL_WIDTH.least, Math.floor(width * END_LABEL_WIDTH.share))) : 0;
    const right = width - (ends2 ? room + 26 : isLength(chart) ? 64 : 22);
    const x = axisOf(request, "x", Math.max(2, Math.floor((right - left) / TICK_WIDTH)));
    const [top, bottom] = [hasNames ? 6 : ABOVE, high - BELOW];
    const toX = (at) => left + (at - x.min) / (x.max - x.min) * (right - left);
    const part2 = (at) => (at - y.min) / (y.max - y.min) * (bottom - top);
    const toY = (at) => hasNames ? top + part2(at) : bottom - part2(at);
    const row = hasNames ? (bottom - top) / Math.max(drawing2.categories.length, 1) : 0;
    return { left, top, right, bottom, high, x, y, toX, toY, row, names: names2, room };
  }
  var round = (number2) => Math.round(number2 * 10) / 10;
  function words2(text, x, y, more2 = {}) {
    return svg("text", { ...TEXT, "dominant-baseline": "central", x: round(x), y: round(y), ...more2 }, document.createTextNode(text));
  }
  function spaced(ticks, to2, width) {
    let free = -Infinity;
    return ticks.flatMap(({ at, text }) => {
      const half = textWidth(text, SIZE) / 2;
      const middle = Math.min(Math.max(to2(at), half + 1), width - half - 1);
      if (middle - half < free) return [];
      free = middle + half + GAP;
      return [{ at, text, middle }];
    });
  }
  var REFERENCES = { times: "1x", change: "+0%", share: "100%" };
  var isReference = ({ unit }, scale, text) => REFERENCES[unit] === text && (unit !== "share" || scale === "log");
  function axes({ chart, x, y, width }, of) {
    const { left, top, right, bottom, toX, toY } = of;
    const texts = [];
    const [faint, strong, related] = [
      /** @type {string[]} */
      [],
      [`M${left},${bottom}H${right}`],
      /** @type {string[]} */
      []
    ];
    if (chart.y_scale === "names") {
      strong.push(`M${left},${top}V${bottom}`);
      for (const { at, text } of of.y.ticks) {
        const lines = of.names.get(text) ?? [text];
        const first = toY(at) - (lines.length - 1) / 2 * NAME_HEIGHT;
        const look = { fill: "var(--ink)", "text-anchor": "end" };
        texts.push(...lines.map((line3, place2) => words2(cut(line3, left - GAP, SIZE), left - GAP, first + place2 * NAME_HEIGHT, look)));
      }
    } else {
      for (const { at, text } of of.y.ticks) {
        (isReference(y, chart.y_scale, text) ? related : faint).push(`M${left},${round(toY(at))}H${right}`);
        texts.push(words2(text, left - GAP, toY(at), { "text-anchor": "end" }));
      }
      texts.push(words2(cut(y.title, width - 8, SIZE), 4, 9, { "font-weight": 600 }));
    }
    if (chart.x_scale === "names") texts.push(...below(of, width));
    else {
      for (const { at, text } of of.x.ticks) (isReference(x, chart.x_scale, text) ? related : faint).push(`M${round(toX(at))},${top}V${bottom}`);
      for (const { at, text, middle } of spaced(of.x.ticks, toX, width)) {
        strong.push(`M${round(toX(at))},${bottom}v5`);
        texts.push(words2(text, middle, bottom + 15, { "text-anchor": "middle" }));
      }
    }
    texts.push(words2(cut(x.title, width - 8, SIZE), right, bottom + 35, { "text-anchor": "end", "font-weight": 600 }));
    const line2 = (d, more2) => svg("path", { d: d.join(""), fill: "none", ...more2 });
    return svg(
      "g",
      {},
      line2(faint, { stroke: "var(--line)" }),
      line2(related, { stroke: "var(--strong-line)", "stroke-dasharray": "3 3" }),
      line2(strong, { stroke: "var(--strong-line)" }),
      ...texts
    );
  }
  function below({ left, right, bottom, x, toX }, width) {
    const each = (right - left) / Math.max(x.ticks.length, 1);
    const longest = Math.max(0, ...x.ticks.flatMap((one) => one.text.split(" ")).map((word) => textWidth(word, SIZE)));
    const step2 = Math.max(1, Math.ceil((Math.min(longest, 120) + GAP) / each));
    return x.ticks.filter((_, place2) => place2 % step2 === 0).flatMap(({ at, text }) => {
      const room = Math.min(each * step2 - GAP / 2, 2 * toX(at), 2 * (width - toX(at)));
      const [first, ...rest] = broken(text, room - GAP / 2, SIZE);
      const lines = rest.length === 0 ? [first] : [first, rest.join(" ")];
      return lines.map((line2, place2) => words2(cut(line2, room, SIZE), toX(at), bottom + 11 + place2 * 12, { fill: "var(--ink)", "text-anchor": "middle" }));
    });
  }

  // src/looks.js
  var COLORS = 7;
  var SYMBOLS = [
    "m-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z",
    "m0,-4.5l4.5,8.3h-9z",
    "m-3.6,-3.6h7.2v7.2h-7.2z",
    "m0,-5l5,5l-5,5l-5,-5z",
    "m0,4.5l4.5,-8.3h-9z",
    "m-1.4,-4.4h2.8v3h3v2.8h-3v3h-2.8v-3h-3v-2.8h3z"
  ];
  var DASHES = ["solid", [6, 3], [2, 3]];
  var OF_TONE = {
    good: { color: "var(--good)", symbol: SYMBOLS[0], dash: "solid" },
    bad: { color: "var(--bad)", symbol: SYMBOLS[1], dash: "solid" },
    open: { color: "var(--muted)", symbol: SYMBOLS[2], dash: "solid" }
  };
  var NO_LOOK = { color: "var(--muted)", symbol: SYMBOLS[0], dash: "solid" };
  function partLook(at) {
    return { color: `var(--s${at % COLORS})`, symbol: SYMBOLS[2], dash: "solid" };
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
        symbol: SYMBOLS[at % SYMBOLS.length],
        dash: DASHES[Math.floor(at / COLORS) % DASHES.length]
      };
    };
  }
  function swatch(look, line2, hollow = false) {
    const path2 = `M0,0${look.symbol}`;
    const picture2 = svg("svg", { width: line2 ? 22 : 11, height: 11, "aria-hidden": "true", viewBox: line2 ? "-11 -5.5 22 11" : "-5.5 -5.5 11 11" });
    if (line2) {
      const dash = look.dash === "solid" ? "none" : look.dash.join(" ");
      picture2.append(svg("line", { x1: -11, x2: 11, stroke: look.color, "stroke-width": 2, "stroke-dasharray": dash }));
    }
    if (hollow !== null) picture2.append(svg("path", hollow ? { d: path2, fill: "var(--paper)", stroke: look.color, "stroke-width": 1.5 } : { d: path2, fill: look.color }));
    return picture2;
  }

  // src/marks.js
  var SYMBOLS_MAX = 30;
  var SMALL_MIN = 500;
  var WHISKERS_MAX = 400;
  var LABELS_MAX = 120;
  var BOUND_HEIGHT = 20;
  var BAR_HEIGHT = 14;
  var FIGURE = { fill: "var(--ink)", "font-size": 11 };
  var LABEL_SIZE = 11.5;
  var LARGE = 1.15;
  var path = (d, style) => svg("path", { d, fill: "none", ...style });
  var to = (x, y) => `${round(x)},${round(y)}`;
  function symbols({ toX, toY }, points2, { color, symbol }, { scale = 1, hollow = false, small = false } = {}) {
    const shape = small ? "m-2.5,0a2.5,2.5 0 1,0 5,0a2.5,2.5 0 1,0 -5,0z" : scaled(symbol, scale);
    const style = hollow ? { fill: "var(--paper)", stroke: color, "stroke-width": 1.75 } : { fill: color };
    const d = points2.map((point) => `M${to(toX(point.x), toY(point.y))}${shape}`).join("");
    return points2.length === 0 ? [] : [path(d, { class: "symbols", ...style })];
  }
  function scaled(symbol, by) {
    return symbol.replace(/ 0 1,0 |-?[\d.]+/g, (found) => found.startsWith(" ") ? found : String(round(Number(found) * by)));
  }
  function joined({ toX, toY }, points2, steps) {
    const place2 = (point) => steps?.get(point.x) ?? 0;
    return points2.map((point, at) => {
      const [before, after] = [points2[at - 1], points2[at + 1]];
      const begins = !before || steps !== null && place2(point) - place2(before) > 1;
      const ends2 = !after || steps !== null && place2(after) - place2(point) > 1;
      const [x, y] = [toX(point.x), toY(point.y)];
      if (begins && ends2) return `M${to(x - 1.5, y)}h3`;
      return `${begins ? "M" : "L"}${to(x, y)}`;
    }).join("");
  }
  function line(request, frame2, series) {
    const look = request.look(series.name);
    const [solid, apart] = [series.points.filter((point) => !point.apart), series.points.filter((point) => point.apart)];
    const total = request.series.reduce((sum, one) => sum + one.points.length, 0);
    const every = solid.length <= SYMBOLS_MAX ? 1 : Math.ceil(solid.length / 10);
    const marked = solid.filter((_, at) => at % every === Math.floor(every / 2));
    const width = solid.length > 100 ? 1.25 : 2;
    const style = { class: "line", stroke: look.color, "stroke-width": width, "stroke-linejoin": "round" };
    if (look.dash !== "solid") style["stroke-dasharray"] = look.dash.join(" ");
    return [
      ...total <= WHISKERS_MAX ? whiskers(request, frame2, series, look.color) : [],
      path(joined(frame2, solid, request.drawing.steps), style),
      ...symbols(frame2, marked, look, { scale: 0.9 }),
      ...symbols(frame2, apart, look, { hollow: true })
    ];
  }
  function greyLine(request, frame2, series) {
    const d = joined(frame2, series.points.filter((point) => !point.apart), request.drawing.steps);
    return path(d, { class: "line", stroke: "var(--strong-line)", "stroke-width": 1, opacity: 0.6 });
  }
  function points(request, frame2, series) {
    const total = request.drawing.points;
    const isAlone = series.name === "" && total <= WHISKERS_MAX;
    const groups = isAlone ? series.points.map((point) => ({ name: point.name, title: point.title, points: [point] })) : [series];
    return groups.flatMap((group) => {
      const look = request.look(group.name);
      const [solid, apart] = [group.points.filter((point) => !point.apart), group.points.filter((point) => point.apart)];
      const size = { scale: LARGE, small: total > SMALL_MIN };
      return [
        ...total <= WHISKERS_MAX ? whiskers(request, frame2, group, look.color) : [],
        ...symbols(frame2, solid, look, size),
        ...symbols(frame2, apart, look, { hollow: true })
      ];
    });
  }
  function bars(request, frame2, series, at) {
    const { chart, x } = request;
    const { toX, toY } = frame2;
    const alone = request.series.length === 1;
    const isLog = chart.x_scale === "log";
    const color = alone ? `var(--${isLog ? "accent" : "bar"})` : request.look(series.name).color;
    const { high, shift } = bar(request, frame2, at);
    const base = toX(0);
    const made = series.points.flatMap((point) => {
      const [end, y] = [toX(point.x), toY(point.y) + shift];
      const drawn = [];
      if (isLog) drawn.push(...symbols(frame2, [point], { color, symbol: CIRCLE, dash: "solid" }, { scale: LARGE, hollow: point.apart }));
      else if (point.parts) drawn.push(...stacked(frame2, point.parts, y - high / 2, high));
      else drawn.push(rectangle(base, end, y - high / 2, high, point.apart ? { ...DASHED, stroke: color } : { fill: color }));
      const edge = isLog ? end + 4 : Math.max(end, base);
      if ((alone || point.parts) && !point.xEnds) drawn.push(figure(edge, y, show(x.unit, value(request, point))));
      return drawn;
    });
    return [...made, ...whiskers(request, frame2, series, "var(--whisker)", shift, alone || chart.stack !== void 0)];
  }
  var CIRCLE = "m-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z";
  var DASHED = { fill: "var(--paper)", "stroke-width": 1.5, "stroke-dasharray": "4 3" };
  function bar({ series: { length } }, { row }, at) {
    const gap = 1.15;
    const high = Math.min(BAR_HEIGHT, row * 0.8 / (1 + (length - 1) * gap));
    return { high, shift: (at - (length - 1) / 2) * high * gap };
  }
  function rectangle(from, end, y, high, style) {
    const width = round(Math.max(Math.abs(end - from), 0.5));
    return svg("rect", { x: round(Math.min(from, end)), y: round(y), width, height: round(high), ...style });
  }
  function stacked({ toX }, parts2, y, high) {
    let sum = 0;
    return parts2.flatMap((part2, at) => {
      const from = sum;
      sum += part2;
      return part2 === 0 ? [] : [rectangle(toX(from), toX(sum), y, high, { fill: partLook(at).color })];
    });
  }
  function value({ table, x }, point) {
    const found = table.rows[point.row][table.columns.indexOf(x)];
    return typeof found === "number" ? found : 0;
  }
  var figure = (x, y, text) => words2(text, x + 7, y, FIGURE);
  function whiskers(request, { left, right, toX, toY }, series, color, shift = 0, isNamed = false) {
    const isBar = request.chart.shape === "bars";
    const [whole, cuts, heads] = [
      /** @type {string[]} */
      [],
      /** @type {string[]} */
      [],
      /** @type {string[]} */
      []
    ];
    const figures = [];
    for (const point of series.points) {
      const [x, y] = [toX(point.x), toY(point.y) + shift];
      if (point.xEnds) {
        const [from, end] = point.xEnds.map(toX);
        const [one, other] = [Math.max(from, left), Math.min(end, right + (isBar ? 40 : 0))];
        const isCut = one > from + 1 || other < end - 1;
        (isCut ? cuts : whole).push(`M${to(one, y)}H${round(other)}`);
        heads.push(head(one, y, one > from + 1 ? 5 : 0), head(other, y, other < end - 1 ? -5 : 0));
        if (isNamed) figures.push(figure(Math.max(other, x), y, show(request.x.unit, value(request, point))));
      }
      if (point.yEnds) {
        const [from, end] = point.yEnds.map(toY);
        whole.push(`M${to(x, from)}V${round(end)}M${to(x - 3.5, from)}h7M${to(x - 3.5, end)}h7`);
      }
    }
    if (whole.length + cuts.length === 0) return [];
    const style = { stroke: color, "stroke-width": isBar ? 1.25 : 1, opacity: isBar ? 1 : 0.55 };
    const dashed = cuts.length === 0 ? [] : [path(cuts.join(""), { ...style, "stroke-dasharray": "4 4" })];
    return [path(whole.join("") + heads.join(""), style), ...dashed, ...figures];
  }
  var head = (x, y, by) => by === 0 ? `M${to(x, y - 3.5)}v7` : `M${to(x + by, y - 3.5)}L${to(x, y)}L${to(x + by, y + 3.5)}`;
  function bounds({ series }, { toX, toY }) {
    const d = series.flatMap(({ points: points2 }) => points2.flatMap(({ bound: bound2, y }) => bound2 === null ? [] : [`M${to(toX(bound2), toY(y) - BOUND_HEIGHT / 2)}v${BOUND_HEIGHT}`]));
    return d.length === 0 ? [] : [path(d.join(""), { stroke: "var(--ink)", "stroke-width": 1.5, "stroke-dasharray": "3 2" })];
  }
  function bands({ series }, { left, right, toX, toY }) {
    return series.flatMap(({ points: points2 }) => points2.flatMap(({ band, y }) => {
      if (!band) return [];
      const [from, end] = [band[0] === null ? left : toX(band[0]), band[1] === null ? right : toX(band[1])];
      return [rectangle(from, Math.max(end, from + 2), toY(y) - BOUND_HEIGHT / 2, BOUND_HEIGHT, { fill: "var(--claimed)" })];
    }));
  }
  function published(request, { left, toX, toY }) {
    if (!request.chart.against) return [];
    return request.series.flatMap((series) => series.points.flatMap((point) => {
      const { color } = request.look(series.name || point.name);
      const [x, y] = [toX(point.x), toY(point.y)];
      const [there, low, high] = [point.against, point.xEnds?.[0], point.xEnds?.[1]].map((end2) => toX(end2 ?? point.x));
      const text = show(request.x.unit, value(request, point));
      const wide = textWidth(text, FIGURE["font-size"]);
      const [before, behind] = [Math.min(x - 4, low) - wide - 14, Math.max(x + 4, high)];
      const isFree = there <= x || there - behind > wide + 20;
      const isRoom = before > left - 4;
      const made = [figure(isFree ? behind : isRoom ? before : Math.max(behind, there + 5), y, text)];
      if (point.against === null) return made;
      const [from, end] = there <= x ? [there + 5, x - 5] : [isFree ? behind + wide + 12 : x + 5, there - 5];
      const dotted = { stroke: color, "stroke-width": 1.5, "stroke-dasharray": "2 3", opacity: 0.8 };
      if (end - from > 3) made.push(path(`M${to(from, y)}H${round(end)}`, dotted));
      made.push(svg("circle", { cx: round(there), cy: round(y), r: 5, fill: "var(--paper)", stroke: color, "stroke-width": 1.75 }));
      return made;
    }));
  }
  function labels({ chart, series, drawing: drawing2, width }, { left, top, bottom, toX, toY }) {
    if (chart.shape !== "points" || drawing2.points > LABELS_MAX) return [];
    const all = series.flatMap((one) => one.points);
    if (all.every((point) => chart.y_scale === "names" && drawing2.categories[point.y] === point.title)) return [];
    const isInside = (box) => box[0] > left && box[1] > top - 4 && box[2] < width - 4 && box[3] < bottom;
    const taken = all.map((point) => around(toX(point.x), toY(point.y), 6, 6));
    for (const point of all) if (point.bound !== null) taken.push(around(toX(point.bound), toY(point.y), 2, BOUND_HEIGHT / 2));
    return all.flatMap((point) => {
      const letters = [...point.title];
      const text = letters.length > 26 ? `${letters.slice(0, 25).join("")}…` : point.title;
      const long = textWidth(text, LABEL_SIZE);
      const [x, y] = [toX(point.x), toY(point.y)];
      const [before, middle] = [x - 8 - long, x - long / 2];
      const places = [[x + 8, y - 9], [before, y - 9], [x + 8, y + 9], [before, y + 9], [x + 9, y], [middle, y - 16], [middle, y + 16]];
      const boxes = places.map(([left2, at2]) => [left2, at2 - 8, left2 + long, at2 + 8]);
      const at = boxes.findIndex((box) => isInside(box) && !taken.some((other) => overlap(box, other)));
      if (at < 0) return [];
      taken.push(boxes[at]);
      return [words2(text, places[at][0], places[at][1], { fill: "var(--ink)", "font-size": LABEL_SIZE })];
    });
  }
  var around = (x, y, wide, high) => [x - wide, y - high, x + wide, y + high];
  var overlap = (one, other) => one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];

  // src/plot.js
  var LABEL_HEIGHT = 13;
  function plot(request) {
    const { chart, series, others, width } = request;
    const of = frame(request);
    const lines = /* @__PURE__ */ new Map();
    const noted = (name, parts2) => {
      const group = svg("g", {}, ...parts2);
      lines.set(name, group);
      return group;
    };
    const drawn = { bars, lines: line, points, flame: points }[chart.shape];
    const picture2 = svg(
      "svg",
      { width, height: of.high, viewBox: `0 0 ${width} ${of.high}`, "aria-hidden": "true" },
      ...bands(request, of),
      axes(request, of),
      ...others.map((one) => noted(one.name, [greyLine(request, of, one)])),
      ...chart.shape === "bars" ? [] : bounds(request, of),
      ...series.map((one, at) => noted(one.name, drawn(request, of, one, at))),
      ...chart.shape === "bars" ? bounds(request, of) : [],
      ...published(request, of),
      ...labels(request, of),
      ...of.room > 0 ? endLabels(request, of) : []
    );
    return { picture: picture2, at: (point) => [of.toX(point.x), of.toY(point.y)], lines };
  }
  function endLabels({ series, look }, { right, top, bottom, toX, toY, room }) {
    const ends2 = series.flatMap((one) => {
      const last = one.points.findLast((point) => !point.apart);
      return last ? [{ name: one.name, title: one.title, x: toX(last.x), y: toY(last.y), at: 0 }] : [];
    });
    ends2.sort((one, other) => one.y - other.y);
    let free = top;
    for (const one of ends2) {
      one.at = Math.max(one.y, free);
      free = one.at + LABEL_HEIGHT;
    }
    free = bottom;
    for (const one of [...ends2].reverse()) {
      one.at = Math.min(one.at, free);
      free = one.at - LABEL_HEIGHT;
    }
    return ends2.flatMap(({ name, title, x, y, at }) => {
      const text = words2(cut(title, room, END_SIZE), right + 22, at, { fill: "var(--ink)", "font-size": END_SIZE });
      const d = `M${round(x + 6)},${round(y)}H${round(Math.max(right, x) + 6)}L${right + 19},${round(at)}`;
      return [svg("path", { d, fill: "none", stroke: look(name).color, "stroke-width": 1, opacity: 0.55, "stroke-dasharray": "1 2" }), text];
    });
  }

  // src/save.js
  function harmless(of) {
    const hidden = /^[\s\p{Cc}\u200b-\u200f\u2060\ufeff]*/u;
    const isFormula = /^[\t\r\n]/.test(of) || /^[=+\-@＝＋－＠]/u.test(of.replace(hidden, ""));
    return isFormula ? `'${of}` : of;
  }
  function csv(table) {
    const field = (text) => /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    const lines = table.rows.map((row) => row.map((value2) => {
      if (value2 === null) return "";
      return typeof value2 === "number" ? plain(value2) : field(harmless(String(value2)));
    }));
    return [table.columns.map((column2) => field(column2.key)), ...lines].map((line2) => `${line2.join(",")}\r
`).join("");
  }
  function markdown(table, places, rows) {
    const escaped = (text) => text.replace(/[\\`*_[\]<>|#~]/g, "\\$&").replace(/\s+/g, " ");
    const cell2 = (row, at) => {
      const [column2, values2] = [table.columns[at], table.rows[row]];
      const both2 = typeof values2[at] === "number" ? ends(table, column2, values2) : null;
      return sign(table, column2, values2) + shownIn(column2, values2[at] ?? null) + (both2 ? ` (${interval(column2, both2)})` : "");
    };
    const line2 = (cells) => `| ${cells.join(" | ")} |
`;
    const isNumber = (at) => !["text", "flag"].includes(table.columns[at].unit);
    return [
      line2(places.map((at) => escaped(table.columns[at].title))),
      line2(places.map((at) => isNumber(at) ? "---:" : "---")),
      ...rows.map((row) => line2(places.map((at) => escaped(cell2(row, at)))))
    ].join("");
  }
  var prefix = "tare";
  function filesOf({ title, began }) {
    const words4 = title.split(":")[0].toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
    const day = /^\d{4}-\d\d-\d\d/.exec(began ?? "")?.[0];
    prefix = [...words4.slice(0, 6).map((word) => word.slice(0, 20)), ...day ? [day] : []].join("-") || "tare";
  }
  function fileName(name) {
    return `${prefix}-${name}`;
  }
  function tsv(table, places, rows) {
    const cell2 = (value2) => {
      if (value2 === null) return "";
      return typeof value2 === "number" ? plain(value2) : harmless(String(value2)).replace(/\s+/g, " ");
    };
    const head2 = places.map((at) => table.columns[at].key);
    const lines = rows.map((row) => places.map((at) => cell2(table.rows[row][at] ?? null)));
    return [head2, ...lines].map((line2) => `${line2.join("	")}
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
  function nearest(spots, x, y, rows) {
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
  function words3(table, chart, { point, title }) {
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
      if (at < 0 || told2.has(key) || row[at] === null || shownIn(column2, row[at]) === point.title) continue;
      told2.add(key);
      const both2 = ends(table, column2, row);
      say(column2, sign(table, column2, row) + shownIn(column2, row[at]), both2 ? interval(column2, both2) : void 0);
    }
    const name = title && title !== point.title ? `${point.title}, ${title}` : point.title;
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
  var LEGEND_MAX = 14;
  var wordOf = (button2) => button2?.getAttribute("title") ?? button2?.textContent ?? null;
  function picture(figure2, table, chart, look, switched, section = []) {
    const plot2 = find(figure2, ".plot");
    const area = make("div", { class: "area" });
    const tip = make("div", { class: "tip", hidden: true, role: "status" });
    const ring = make("div", { class: "ring", hidden: true });
    const legend2 = make("div", { class: "legend", role: "group", "aria-label": "Series of this chart" });
    const key = make("ul", { class: "key", "aria-hidden": "true" });
    const nothing = make("p", { class: "empty", hidden: true });
    plot2.replaceWith(area);
    area.append(plot2, nothing, ring, tip);
    area.before(legend2, key);
    plot2.tabIndex = 0;
    const [x, y] = [table.columns[place(table, chart.x)], table.columns[place(table, chart.y)]];
    let all = { series: [], categories: [], points: 0, steps: null };
    const none = [];
    let rows = none;
    let [stale, seen, width, ended, unfolded] = [true, false, 0, false, false];
    let drawn = null;
    let brief = /* @__PURE__ */ new Map();
    let spots = [];
    let at = -1;
    function isOn(name, place2) {
      if (switched.has(name) || chart.first === null) return switched.get(name) ?? true;
      const isLast = place2 === all.series.length - 1;
      return chart.grey && all.series.length > chart.first ? place2 < chart.first - 1 || isLast : place2 < chart.first;
    }
    function prepare() {
      width = plot2.clientWidth;
      all = drawing(table, chart, rows);
      listed();
      const series = all.series.filter((one, place2) => isOn(one.name, place2));
      const others = chart.grey ? all.series.filter((one) => !series.includes(one)) : [];
      const request = { table, chart, x, y, drawing: all, series, others, neighbours: neighbours(), look, width };
      plot2.style.height = `${height(request)}px`;
      return { request, shown: [...series, ...others] };
    }
    function neighbours() {
      if (!chart.alike) return [];
      return section.filter((other) => other.alike && other !== chart).flatMap((other) => drawing(table, other, rows).series);
    }
    function draw() {
      if (ended || !stale) return;
      plot2.hidden = false;
      if (plot2.clientWidth === 0) return;
      stale = false;
      hide();
      const { request, shown: shown2 } = prepare();
      nothing.hidden = shown2.some((one) => one.points.length > 0);
      nothing.textContent = all.points === 0 ? "Nothing to draw: no row that is shown has these figures." : "No series is chosen.";
      plot2.hidden = !nothing.hidden;
      for (const saver of savers) saver.disabled = plot2.hidden;
      if (plot2.hidden) return;
      const { picture: picture2, at: at2 } = drawn = plot(request);
      plot2.replaceChildren(picture2);
      spots = shown2.flatMap((one) => one.points.map((point) => {
        const [x2, y2] = at2(point);
        return { x: x2, y: y2, point, series: one.name, title: one.title };
      }));
    }
    function raise(name) {
      for (const [of, group] of drawn?.lines ?? []) group.classList.toggle("raised", of === name);
    }
    function tell(spot) {
      if (!spot) return hide();
      at = spots.indexOf(spot);
      raise(spot.series);
      tip.replaceChildren(...words3(table, chart, spot));
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
      raise(null);
    }
    function pointed(event) {
      const box = plot2.getBoundingClientRect();
      tell(nearest(spots, event.clientX - box.left, event.clientY - box.top, chart.y_scale === "names"));
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
      tell(spots[Math.min(Math.max(at + by, 0), spots.length - 1)]);
    }
    plot2.addEventListener("pointermove", pointed);
    plot2.addEventListener("pointerdown", pointed);
    plot2.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && hide());
    plot2.addEventListener("keydown", pressed);
    plot2.addEventListener("blur", hide);
    function signs() {
      const title = (key2) => table.columns[place(table, key2)].title;
      if (chart.stack) return chart.stack.map((key2, at2) => ({ name: title(key2), swatch: swatch(partLook(at2), false) }));
      if (chart.against) {
        const published2 = all.series.some((one) => one.points.some((point) => point.against !== null));
        const [there, here] = [true, false].map((hollow) => swatch(NO_LOOK, false, hollow));
        return published2 ? [{ name: "published", swatch: there }, { name: "here", swatch: here }] : [];
      }
      const isApart = all.series.some((one) => one.points.some((point) => point.apart));
      const grey = chart.grey ? all.series.filter((one, place2) => !isOn(one.name, place2)).length : 0;
      return [
        ...isApart ? [{ name: title(chart.apart), swatch: swatch(NO_LOOK, false, true) }] : [],
        ...grey > 0 ? [{ name: `${grey} ${grey === 1 ? "other" : "others"}, grey`, swatch: swatch(NO_LOOK, true, null) }] : []
      ];
    }
    function listed() {
      const [isChosen, meant] = [all.series.length > 1, signs()];
      legend2.hidden = !isChosen && meant.length === 0;
      const meanings = meant.map((one) => make("span", { class: "sign" }, one.swatch, one.name));
      if (!isChosen) return legend2.replaceChildren(...meanings);
      const had = legend2.contains(document.activeElement) ? wordOf(document.activeElement) : null;
      const isFolded = !unfolded && all.series.length > LEGEND_MAX;
      const known = all.series.map((one, place2) => ({ ...one, on: isOn(one.name, place2), place: place2 }));
      const areFew = known.filter(({ on }) => on).length <= LEGEND_MAX;
      const named2 = isFolded ? known.filter(({ on, place: place2 }) => place2 < LEGEND_MAX - 2 || areFew && on) : known;
      const short = shortened(known.map(({ title }) => title));
      brief = new Map(known.map(({ name }, at2) => [name, short[at2]]));
      const chips = named2.map(({ name, title, on }) => chipOf(name, title, brief.get(name) ?? title, on));
      if (isFolded) chips.push(button(`${known.length - named2.length} more`, unfold, { class: "all", "aria-expanded": "false" }));
      const every = (on) => () => change(all.series.map((one) => [one.name, on]));
      if (all.series.length > 3) chips.push(button("All", every(true), { class: "all" }), button("None", every(false), { class: "all" }));
      legend2.replaceChildren(...chips, ...meanings);
      if (had !== null) chips.find((chip) => wordOf(chip) === had)?.focus();
    }
    function chipOf(name, title, short, on) {
      const chip = button("", () => change([[name, !on]]), { "aria-pressed": String(on), title });
      chip.append(swatch(look(name), chart.shape === "lines"), make("bdi", {}, short));
      for (const event of ["pointerenter", "focus"]) chip.addEventListener(event, () => raise(name));
      for (const event of ["pointerleave", "blur"]) chip.addEventListener(event, () => raise(null));
      return chip;
    }
    function unfold() {
      const first = legend2.querySelectorAll("button").length - 3;
      unfolded = true;
      listed();
      legend2.querySelectorAll("button")[Math.max(first, 0)]?.focus();
    }
    function entries(inPage) {
      const drawnNow = all.series.length < 2 ? [] : all.series.filter((one, place2) => isOn(one.name, place2));
      return [...drawnNow.map(({ name, title }) => ({ name: (inPage ? brief.get(name) : null) ?? title, swatch: swatch(look(name), chart.shape === "lines") })), ...signs()];
    }
    function print2() {
      draw();
      key.replaceChildren(...entries(true).map((entry) => make("li", {}, entry.swatch, make("bdi", {}, entry.name))));
    }
    function alone() {
      print2();
      const named2 = entries(false);
      const shelf = make("div", {}, ...named2.map((entry) => entry.swatch));
      figure2.append(shelf);
      const text = standalone(
        /** @type {SVGElement} */
        plot2.querySelector("svg"),
        find(figure2, "figcaption"),
        named2
      );
      shelf.remove();
      return text;
    }
    const file = `${figure2.closest("section")?.id ?? "chart"}-${figure2.dataset.chart}`;
    const savers = [
      button("Save SVG", () => save(`${file}.svg`, "image/svg+xml", alone())),
      button("Save PNG", async () => saveBlob(`${file}.png`, await pixels(alone())))
    ];
    figure2.querySelector(".of")?.append(...savers);
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
    sight.observe(figure2);
    const size = new ResizeObserver(() => {
      if (plot2.hidden || plot2.clientWidth === width) return;
      refresh();
    });
    size.observe(plot2);
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
    return `${bound2 === null ? "" : `${bound2.replace("-", " ")} `}${show("times", value2)}`;
  }
  function interval2({ ends: ends2 }) {
    return ends2 ? ` (${both("times", ends2, " .. ")})` : "";
  }
  var timesOf = (of, other, what) => `${times(of)} ${other}'s ${what}${interval2(of)}`;
  function leftOpen(of) {
    return of?.ends ? Math.max(of.ends[1], 1 / of.ends[0]) - 1 : null;
  }
  function sentence(main, pairs, names2) {
    let found = rowOf(pairs, names2);
    if (!found) return null;
    const { key } = costOf(main);
    const costs = names2.map((name) => own(main, name, key));
    const asked = ratio(pairs, found, key);
    const isLess = asked ? asked.value < 1 : costs[0] !== null && costs[1] !== null && costs[0].value < costs[1].value;
    if (isLess) {
      names2 = [names2[1], names2[0]];
      costs.reverse();
      found = { row: found.row, inverse: !found.inverse };
    }
    const [cpu, throughput] = [ratio(pairs, found, key), ratio(pairs, found, "throughput_ratio")];
    const separated = found.row[place(pairs, "separated")];
    return [
      answer(main, names2, cpu, costs, separated),
      ...more(main, names2, cpu, throughput, number(found.row, place(pairs, "blocks")), separated),
      ...separated === false ? excluded(pairs, found.row, cpu, throughput) : [],
      ...beside(main, names2)
    ].join(" ");
  }
  function costOf(main) {
    const hasDatabase = place(main, "total_cpu_ratio") >= 0;
    return hasDatabase ? { key: "total_cpu_ratio", what: "CPU time per request with the database" } : { key: "cpu_ratio", what: "CPU time per request" };
  }
  function answer(main, [one, other], cpu, costs, separated) {
    const [first, second] = costs;
    const { what } = costOf(main);
    let figures = `There is no valid ratio of the ${what} of ${one} and ${other}`;
    if (cpu) figures = `${one} needs ${timesOf(cpu, other, what)}`;
    else if (first && second) figures = `${one} needs ${timesOf(first, reference(main), what)}, and ${other} ${times(second)}${interval2(second)}`;
    return `${separated === false ? `The data do not separate ${one} and ${other}: ` : ""}${figures}.`;
  }
  function more(main, names2, cpu, throughput, blocks, separated) {
    const lines = [];
    if (throughput) {
      const [faster, slower] = throughput.value >= 1 ? names2 : [names2[1], names2[0]];
      lines.push(`${faster} has ${timesOf(throughput.value >= 1 ? throughput : inverse(throughput), slower, "throughput")}.`);
    }
    if (separated === null) lines.push("There are too few blocks to say whether they differ.");
    if (!cpu?.ends) lines.push(...without(main, names2, cpu, blocks));
    if (!throughput && names2.some((name) => own(main, name, "requests_per_second") === null)) {
      lines.push("There is no valid ratio of their throughputs.");
    }
    return lines;
  }
  function without(main, names2, cpu, blocks) {
    const { key, what } = costOf(main);
    const lacking = cpu ? [] : names2.filter((name) => own(main, name, key) === null);
    if (lacking.length > 0) {
      return [
        `${lacking.join(" and ")} ${lacking.length > 1 ? "have" : "has"} no valid ${what}, so there is no ratio of the pair.`,
        "It takes a run in which both have one."
      ];
    }
    const reason = ["No block had both of them, so there is no interval of the pair.", "One block had both of them, and an interval takes two."][blocks ?? -1];
    const few = cpu ? "Too few starts had both of them for an interval." : "A block of both lacks the CPU time of one of them.";
    return [reason ?? few, "A run of these two alone puts both into every block."];
  }
  function reference(main) {
    const row = main.rows.find((row2) => row2[place(main, "is_reference")] === true && number(row2, place(main, costOf(main).key)) === 1);
    return String(row?.[place(main, "label")] ?? "the reference");
  }
  function own(main, name, key) {
    const [label, at] = [place(main, "label"), place(main, key)];
    const row = main.rows.find((row2) => row2[label] === name);
    const value2 = row ? number(row, at) : null;
    return row && value2 !== null ? { value: value2, ends: ends(main, main.columns[at], row), bound: null } : null;
  }
  function beside(main, names2) {
    const of = (key, title) => {
      const unit = main.columns[place(main, key)]?.unit;
      const texts = names2.map((name) => {
        const figure2 = own(main, name, key);
        return figure2 && `${name} ${show(unit, figure2.value)}`;
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
    const bar2 = make("progress", { max: 1, "aria-label": "Share of the expected time that is over" });
    const stage = make("strong", { role: "status" });
    const left = make("span");
    const now = make("span", { class: "now" });
    const lost = make("span", { class: "lost", role: "status" });
    const view = make("div", { class: "live" }, bar2, stage, left, now, lost);
    find(document, ".bar .tools").before(view);
    return {
      show: (progress) => {
        bar2.value = progress.share;
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
      const head2 = make("header", {}, make("h2", { id: "panel-title" }, make("bdi", {}, name)), tools2);
      dialog.replaceChildren(head2, make("div", { class: "parts", tabindex: "0", role: "region", "aria-label": "What is known of it" }, ...parts2));
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
    const text = make("bdi", {}, value2 === null ? "-" : sign(table, column2, row) + shownIn(column2, value2));
    return both2 ? [text, " ", make("small", {}, interval(column2, both2))] : [text];
  }
  function list(table, row, columns) {
    return make("dl", {}, ...columns.map((of) => make("div", {}, make("dt", { title: of.column.help ?? false }, of.column.title), make("dd", {}, ...cell(table, row, of)))));
  }
  function grid(table, rows, columns) {
    const first = names(table);
    const head2 = make("tr", {}, ...columns.map(({ column: column2 }) => make("th", { scope: "col" }, column2.title)));
    const lines = rows.map((row) => make("tr", {}, ...columns.map((of) => make("td", { class: of.place !== first && of.column.unit !== "text" && "number" }, ...cell(table, row, of)))));
    const box = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": table.caption });
    box.append(make("table", {}, make("thead", {}, head2), make("tbody", {}, ...lines)));
    return box;
  }
  function elsewhere(table, row) {
    const links = Object.entries(PLACES).flatMap(([key, title]) => {
      const to2 = row[place(table, key)];
      if (typeof to2 !== "string" || !/^https?:\/\//.test(to2)) return [];
      return [make("a", { href: to2, rel: "noreferrer noopener", target: "_blank" }, title)];
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
    const heads = [...element.querySelectorAll("thead th")].filter((head2) => head2 instanceof HTMLElement);
    const written = writtenRows(body);
    const [nameAt, referenceAt] = [names(table), place(table, "is_reference")];
    const places = heads.map((head2) => Number(head2.dataset.place));
    const status = make("span", { class: "tell", role: "status" });
    const pages = make("span", { class: "pages" });
    const below2 = make(
      "div",
      { class: "below" },
      status,
      pages,
      copyButton("Copy as Markdown", `${id}.md`, "text/markdown", () => markdown(table, visiblePlaces(), inOrder())),
      copyButton("Copy as TSV", `${id}.tsv`, "text/tab-separated-values", () => tsv(table, visiblePlaces(), inOrder())),
      button("Download CSV", () => save(`${id}.csv`, "text/csv", csv(table)))
    );
    box.append(below2);
    let rows = [];
    let stale = true;
    for (const head2 of heads) {
      const at = Number(head2.dataset.place);
      const sort = button("", () => turn(at));
      sort.append(...head2.childNodes);
      head2.append(sort);
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
      return heads.filter((head2) => head2.checkVisibility()).map((head2) => Number(head2.dataset.place));
    }
    function render() {
      stale = false;
      const { sorting } = position;
      const order = inOrder();
      const count = isLong ? Math.max(1, Math.ceil(order.length / PAGE_ROWS)) : 1;
      position.page = Math.min(position.page, count - 1);
      const shownRows = isLong ? order.slice(position.page * PAGE_ROWS, (position.page + 1) * PAGE_ROWS) : order;
      body.replaceChildren(...shownRows.flatMap((row) => written.get(row) ?? made(row)));
      for (const [row, [line2]] of written) line2.classList.toggle("pinned", isPinned(row));
      for (const head2 of heads) {
        const isIt = Number(head2.dataset.place) === sorting?.place;
        if (isIt) head2.setAttribute("aria-sort", sorting.down ? "descending" : "ascending");
        else head2.removeAttribute("aria-sort");
      }
      turnPages(count);
      const what = order.length === table.rows.length ? `${order.length}` : `${order.length} of ${table.rows.length}`;
      status.textContent = `${what} ${table.rows.length === 1 ? "row" : "rows"}${order.length === 0 ? ": no row passes the filters" : ""}`;
    }
    function turnPages(count) {
      pages.hidden = count < 2;
      if (pages.hidden) return;
      const to2 = (text, page2) => {
        const control = button(text, () => {
          position.page = page2;
          render();
          [...pages.querySelectorAll("button")].find((one) => one.textContent === text)?.focus();
        });
        control.disabled = page2 < 0 || page2 >= count;
        return control;
      };
      const { page } = position;
      pages.replaceChildren(to2("Previous", page - 1), `page ${page + 1} of ${count}`, to2("Next", page + 1));
    }
    function made(row) {
      const values2 = table.rows[row];
      const line2 = make("tr", { "data-row": row });
      for (const at of places) {
        const [column2, value2] = [table.columns[at], values2[at] ?? null];
        const raw = value2 === null ? "" : typeof value2 === "number" ? plain(value2) : String(value2);
        const text = sign(table, column2, values2) + shownIn(column2, value2);
        const numeric = column2.unit !== "text" && column2.unit !== "flag";
        const attributes = { "data-value": raw, class: numeric && "number" };
        const cell2 = at === nameAt ? make("th", { scope: "row", ...attributes }) : make("td", attributes);
        cell2.append(numeric ? text : make("bdi", { title: text.length > SHORT_LETTERS_MAX && text }, text));
        const both2 = typeof value2 === "number" ? ends(table, column2, values2) : null;
        if (both2) cell2.append(" ", make("small", {}, interval(column2, both2)));
        line2.append(cell2);
      }
      return line2;
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
    const pair = pairs ? comparing(table, pairs, memory.asked, noted) : null;
    if (pair) {
      const filters = box.querySelector(".filters") ?? make("div", { class: "filters" });
      box.prepend(make("div", { class: "top" }, filters, pair.form), pair.answer);
      pair.refresh();
    }
    const beside2 = panel(data, {
      closed() {
        memory.asked.service = null;
        noted();
      },
      compare: pair && pair.begin,
      pins: pins(table, memory.chosen.pinned, () => {
        noted();
        update();
      })
    });
    const open = (name) => {
      memory.asked.service = name !== null && beside2.open(name) ? name : null;
      if (memory.asked.service === null) beside2.close();
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
      pair?.refresh();
      open(asked.service);
    });
    if (memory.asked.service !== null) open(memory.asked.service);
    return beside2.end;
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
      const figure2 = element.querySelector(`figure[data-chart="${at}"]`);
      if (!(figure2 instanceof HTMLElement)) return [];
      if (chart.shape !== "flame") return [picture(figure2, table, chart, look, memory.switched[at], section.charts)];
      if (!globalThis.tareFlame) find(figure2, ".plot").replaceWith(make("p", { class: "empty" }, "Load this page again to see it."));
      return globalThis.tareFlame ? [globalThis.tareFlame(figure2, table, chart)] : [];
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
      for (const [key2, values2] of seen.chosen.facets) memory.chosen.facets.set(key2, values2);
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
      opened = [...document.querySelectorAll("details:is(.level, .fold, .meanings, .remarks, .checks *):not([open])")].filter((fold) => fold instanceof HTMLDetailsElement).filter((fold) => fold.matches(".level") || !fold.querySelector("table[data-long]"));
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
    document.addEventListener("click", (event) => {
      if (event.target instanceof Element && event.target.closest("a[href^='#']")) setTimeout(openTarget);
    });
    const events = document.body.dataset.events;
    if (events) follow(events, replace);
  } else {
    followList();
  }
})();
