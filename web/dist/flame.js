"use strict";
(() => {
  // src/data.js
  function place(table, key) {
    return key == null ? -1 : table.columns.findIndex((column) => column.key === key);
  }
  function number(row, at) {
    const value = at < 0 ? null : row[at];
    return typeof value === "number" ? value : null;
  }
  function ends(table, column, row) {
    if (!column.interval) return null;
    const low = number(row, place(table, column.interval[0]));
    const high = number(row, place(table, column.interval[1]));
    return low === null || high === null ? null : [low, high];
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
    const parts = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
    if (!parts) return text;
    const [, sign, whole, rest = "", power] = parts;
    const shift = Number(power);
    if (shift < 0) return `${sign}0.${"0".repeat(-shift - 1)}${whole}${rest}`;
    return sign + whole + rest.padEnd(shift, "0");
  }
  function digits(value) {
    if (value === 0) return "0";
    if (value >= 99.95) return fixed(value, 0);
    if (value >= 9.995) return fixed(value, 1);
    return fixed(value, value > 0 && value < 0.0995 ? 3 : 2);
  }
  function twoDigits(value) {
    const places = value > 0 ? 1 - Math.floor(Math.log10(value)) : 0;
    return Number(places > 100 ? value.toExponential(1) : fixed(value, places));
  }
  var SHOWN = {
    "per-second": (value) => {
      if (value >= 999500) return `${digits(value / 1e6)} M`;
      return value >= 999.5 ? `${digits(value / 1e3)} k` : digits(value);
    },
    nanoseconds: (value) => {
      if (value < 0) return `-${SHOWN.nanoseconds(-value)}`;
      if (value >= 9995e5) return `${digits(value / 1e9)} s`;
      if (value >= 999500) return `${digits(value / 1e6)} ms`;
      return value >= 999.5 ? `${digits(value / 1e3)} µs` : `${digits(value)} ns`;
    },
    bytes: (value) => {
      const kib = value / 1024;
      if (kib >= 1023.5 * 1024) return `${digits(kib / 1024 / 1024)} GiB`;
      return kib >= 1023.5 ? `${digits(kib / 1024)} MiB` : `${digits(kib)} KiB`;
    },
    share: (value) => `${fixed(value * 100, 1)}%`,
    times: (value) => `${digits(value)}x`,
    change: (value) => {
      const percent = (value - 1) * 100;
      if (percent > 1e4) return "> +10000%";
      return Math.abs(percent) < 0.05 ? "+0.0%" : `${percent > 0 ? "+" : ""}${fixed(percent, 1)}%`;
    },
    probability: (value) => SHOWN.number(twoDigits(value)),
    percentile: (value) => `p${plain(Math.round(value * 1e8) / 1e6)}`,
    text: plain,
    flag: plain,
    count: plain,
    number: (value) => {
      if (Number.isInteger(value)) return plain(value);
      const size = Math.abs(value);
      const least = [999.95, 99.995, 9.9995, 0.99995, 0.099995, 99995e-7, 99995e-8];
      const places = least.findIndex((bound) => size >= bound);
      if (places < 0) return value.toExponential(1);
      return fixed(value, places).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
    }
  };
  function show(unit, number2) {
    return SHOWN[unit](number2);
  }
  function shown(unit, value) {
    if (value === null) return "-";
    if (typeof value === "boolean") return value ? "yes" : "no";
    return typeof value === "number" ? show(unit, value) : value;
  }
  function split(text) {
    const [, number2, unit] = /^(.*?\d)(\D*)$/.exec(text) ?? ["", text, ""];
    return { number: number2, unit };
  }
  function both(unit, [one, other], between) {
    const [first, second] = [show(unit, one), show(unit, other)];
    return (split(first).unit === split(second).unit ? split(first).number : first) + between + second;
  }
  function interval(column, ends2) {
    return both(column.unit, ends2, " .. ");
  }

  // src/boxes.js
  function boxes(table, chart) {
    const at = (key) => place(table, key);
    const [name, level, now, old, of] = [chart.y, "level", chart.x, chart.against, "function_ns"].map(at);
    const path = [];
    return table.rows.map((values, row) => {
      const deep = number(values, level) ?? 0;
      while (path.length > 0 && path[path.length - 1][0] >= deep) path.pop();
      const caller = path[path.length - 1]?.[1] ?? null;
      const box = {
        row,
        name: String(values[name] ?? ""),
        depth: path.length,
        now: number(values, now) ?? 0,
        old: number(values, old) ?? 0,
        caller,
        calls: [],
        moved: number(values, of),
        ends: of < 0 ? null : ends(table, table.columns[of], values)
      };
      caller?.calls.push(box);
      path.push([deep, box]);
      return box;
    });
  }
  function callers(box) {
    const found = [];
    for (let one = box.caller; one; one = one.caller) found.unshift(one);
    return found;
  }
  function placed(shown2, by, least) {
    const found = [...callers(shown2), shown2].map((box) => ({ box, x: 0, width: 1 }));
    const waiting = [found[found.length - 1]];
    for (let one = waiting.pop(); one; one = waiting.pop()) {
      const { box, width } = one;
      let x = one.x;
      const sum = box.calls.reduce((sum2, call) => sum2 + call[by], 0);
      const whole = Math.max(box[by], sum);
      for (const call of box.calls) {
        const of = { box: call, x, width: whole > 0 ? width * call[by] / whole : 0 };
        x += of.width;
        if (of.width < least) continue;
        found.push(of);
        waiting.push(of);
      }
    }
    return found;
  }
  var STEPS = [0.03, 0.15, 0.5];
  function greatest(all) {
    return all.slice(1).reduce((most, box) => Math.max(most, Math.abs(box.now - box.old)), 0);
  }
  function shade(box, most) {
    const by = box.now - box.old;
    const step = STEPS.filter((step2) => Math.abs(by) >= step2 * most).length;
    return most > 0 ? Math.sign(by) * step : 0;
  }
  function isUnsure({ ends: ends2, now, old }) {
    return !ends2 || (now < old ? ends2[1] >= 0 : ends2[0] <= 0);
  }
  function search(all, text, by) {
    const wanted = text.trim().toLowerCase();
    const found = new Set(wanted === "" ? [] : all.slice(1).filter((box) => box.name.toLowerCase().includes(wanted)));
    const outer = [...found].filter((box) => !callers(box).some((caller) => found.has(caller)));
    return { boxes: found, share: outer.reduce((sum, box) => sum + box[by], 0) / (all[0]?.[by] || 1) };
  }
  var signed = (ns) => (ns > 0 ? "+" : "") + shown("nanoseconds", ns);
  function words(box, whole, column) {
    const share = (by) => `${shown("nanoseconds", box[by])} (${shown("share", box[by] / (whole[by] || 1))} of a request)`;
    const here = `candidate ${share("now")}, baseline ${share("old")}: ${signed(box.now - box.old)}.`;
    if (box.moved === null || !box.ends || !column) return `${here} Too few samples for an interval of this function.`;
    const of = `${signed(box.moved)} (${interval(column, box.ends)})`;
    const what = box.caller ? "Its function, whoever calls it" : "With its interval";
    return `${here} ${what}: ${of}${box.ends[0] <= 0 && box.ends[1] >= 0 ? ", no sure difference" : ""}.`;
  }
  function next(box, key, by) {
    const seen = (calls) => calls.filter((call) => call[by] > 0);
    if (key === "ArrowUp") return box.caller;
    if (key === "ArrowDown") return seen(box.calls)[0] ?? null;
    const beside = seen(box.caller?.calls ?? []);
    const at = beside.indexOf(box);
    if (key === "ArrowLeft") return beside[at - 1] ?? null;
    return key === "ArrowRight" ? beside[at + 1] ?? null : null;
  }

  // src/dom.js
  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== void 0 && value !== false) element.setAttribute(name, value === true ? "" : String(value));
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
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
    element.append(...children);
    return element;
  }
  function find(root, selector) {
    const found = root.querySelector(selector);
    if (!(found instanceof HTMLElement)) throw new Error(`the page has no "${selector}"`);
    return found;
  }

  // src/flame.js
  var ROW = 20;
  var LETTER = 6.7;
  var PIXELS_MIN = 0.4;
  var COLOURS = ["down3", "down2", "down1", "", "up1", "up2", "up3"];
  var HELP = "Click a box to see it alone. Arrows go from box to box, Enter shows one alone, Escape goes back.";
  var charts = 0;
  function flame(figure, table, chart) {
    const all = boxes(table, chart);
    const whole = all[0];
    const plot = find(figure, ".plot");
    const [hatch, help] = ["hatch", "flame-help"].map((name) => `${name}-${charts}`);
    charts += 1;
    const said = make("p", { class: "about-box", role: "status" });
    const tell = make("span", { class: "tell", role: "status" });
    const field = make("input", { type: "search", placeholder: "Search functions", "aria-label": "Search functions in the flame graph" });
    if (!whole) return { show() {
    }, print() {
    }, end() {
    } };
    plot.classList.add("flame");
    for (const [name, value] of [["role", "application"], ["tabindex", "0"], ["aria-describedby", help]]) plot.setAttribute(name, value);
    let by = "now";
    let [at, zoomed, width, ended] = [whole, whole, 0, false];
    let found = search(all, "", by);
    const most = greatest(all);
    const column = table.columns[place(table, "function_ns")];
    const reset = button("Reset", () => {
      field.value = "";
      found = search(all, "", by);
      go(whole, whole);
    });
    const widths = button("", () => {
      by = by === "now" ? "old" : "now";
      found = search(all, field.value, by);
      draw();
    });
    field.addEventListener("input", () => {
      found = search(all, field.value, by);
      draw();
    });
    const sign = (colour, text) => make("span", { class: "sign" }, svg("svg", { width: 14, height: 11, class: "flame-key", "aria-hidden": "true" }, ...filled(colour, 0, 14, 11)), text);
    const signs = [sign("up2", "dearer"), sign("down2", "cheaper"), sign("unsure", "not surely different")];
    const key = make("ul", { class: "key", "aria-hidden": "true" }, ...signs.map((one) => make("li", {}, ...[...one.childNodes].map((node) => node.cloneNode(true)))));
    plot.before(make("div", { class: "legend" }, field, widths, reset, tell, ...signs), key);
    plot.after(said, make("p", { class: "about-box", id: help }, HELP));
    function filled(colour, x, wide, high) {
      const size2 = { x, width: wide, height: high };
      const box = svg("rect", { class: colour === "unsure" ? "" : colour, ...size2 });
      return colour.includes("unsure") ? [box, svg("rect", { ...size2, class: "hatch", fill: `url(#${hatch})` })] : [box];
    }
    function drawn(box, x, wide) {
      const colour = COLOURS[shade(box, most) + 3] + (isUnsure(box) ? " unsure" : "");
      const classes = ["box", box === at && "at", found.boxes.has(box) && "found", box.depth < zoomed.depth && "above"].filter(Boolean);
      const group = svg("g", { class: classes.join(" "), "data-row": box.row, transform: `translate(0 ${box.depth * ROW})` }, ...filled(colour, x, Math.max(wide - 0.6, 0.4), ROW - 1));
      const letters = Math.floor((wide - 6) / LETTER);
      if (letters < 3) return group;
      const name = [...box.name];
      const text = svg("text", { x: x + 3, y: ROW - 6 });
      text.textContent = name.length > letters ? `${name.slice(0, letters - 1).join("")}…` : box.name;
      group.append(text);
      return group;
    }
    function draw() {
      width = plot.clientWidth;
      if (ended || width === 0) return;
      const seen = placed(zoomed, by, PIXELS_MIN / width);
      const deepest = seen.reduce((most2, { box }) => Math.max(most2, box.depth), 0);
      const high = (deepest + 1) * ROW;
      const lines = svg("pattern", { id: hatch, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, svg("rect", { width: 2.4, height: 6 }));
      const picture = svg("svg", { width, height: high, viewBox: `0 0 ${width} ${high}`, "aria-hidden": "true" }, svg("defs", {}, lines));
      picture.append(...seen.map(({ box, x, width: share }) => drawn(box, x * width, share * width)));
      plot.replaceChildren(picture);
      tell.textContent = field.value.trim() === "" ? "" : `${found.boxes.size} found, ${shown("share", found.share)} of a request`;
      widths.textContent = `Widths: ${by === "now" ? "candidate" : "baseline"}`;
      reset.disabled = zoomed === whole && field.value === "";
      about(at);
    }
    function about(box) {
      said.replaceChildren(make("strong", {}, make("bdi", {}, box.name)), " ", words(box, whole, column));
    }
    function go(box, alone) {
      [at, zoomed] = [box, alone];
      draw();
      const top = box.depth * ROW;
      if (top < plot.scrollTop || top + ROW > plot.scrollTop + plot.clientHeight) plot.scrollTop = top - plot.clientHeight / 2;
    }
    function boxOf(event) {
      const group = event.target instanceof Element ? event.target.closest("[data-row]") : null;
      return group ? all[Number(group.getAttribute("data-row"))] : void 0;
    }
    function pressed(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Enter") go(at, at);
      else if (event.key === "Escape") go(zoomed.caller ?? whole, zoomed.caller ?? whole);
      else {
        const to = next(at, event.key, by);
        if (!to) return;
        const isDrawn = to === zoomed || callers(to).includes(zoomed) || callers(zoomed).includes(to);
        go(to, isDrawn ? zoomed : to.caller ?? whole);
      }
      event.preventDefault();
    }
    plot.addEventListener("keydown", pressed);
    plot.addEventListener("click", (event) => {
      const box = boxOf(event);
      if (box) go(box, box === zoomed ? box.caller ?? whole : box);
    });
    plot.addEventListener("pointerover", (event) => about(boxOf(event) ?? at));
    plot.addEventListener("pointerleave", () => about(at));
    const size = new ResizeObserver(() => plot.clientWidth !== width && draw());
    size.observe(plot);
    return {
      // The rows of the table are chosen below it; a tree without its callers would be none.
      show: draw,
      print: draw,
      end() {
        ended = true;
        size.disconnect();
      }
    };
  }
  globalThis.tareFlame = flame;
})();
