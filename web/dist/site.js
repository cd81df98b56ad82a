"use strict";
(() => {
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

  // src/figures.js
  function fixed(number, places) {
    if (Math.abs(number) >= 1e21) return BigInt(number) + (places === 0 ? "" : `.${"0".repeat(places)}`);
    const halves = number * 2 ** (places + 1);
    let text = Math.abs(number).toFixed(places);
    if (Number.isInteger(halves) && halves % 2 !== 0) {
      const ten = 10 ** places;
      const below = Math.floor(Math.abs(number) * ten);
      text = ((below % 2 === 0 ? below : below + 1) / ten).toFixed(places);
    }
    return number < 0 || Object.is(number, -0) ? `-${text}` : text;
  }
  function plain(number) {
    if (Object.is(number, -0)) return "-0";
    const text = String(number);
    const parts = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
    if (!parts) return text;
    const [, sign2, whole, rest = "", power] = parts;
    const shift = Number(power);
    if (shift < 0) return `${sign2}0.${"0".repeat(-shift - 1)}${whole}${rest}`;
    return sign2 + whole + rest.padEnd(shift, "0");
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
  function show(unit, number) {
    return SHOWN[unit](number);
  }
  function split(text) {
    const [, number, unit] = /^(.*?\d)(\D*)$/.exec(text) ?? ["", text, ""];
    return { number, unit };
  }
  function both(unit, [one, other], between) {
    const [first, second] = [show(unit, one), show(unit, other)];
    return (split(first).unit === split(second).unit ? split(first).number : first) + between + second;
  }

  // src/calculator.js
  function cpus(rate, [, value, ends2]) {
    const of = (nanoseconds) => nanoseconds * rate / 1e9;
    const interval2 = ends2 ? ` (${both("number", [of(ends2[0]), of(ends2[1])], " .. ")})` : "";
    return `${show("number", of(value))} CPUs${interval2}`;
  }
  function sentence(rate, time) {
    if (!(rate > 0) || !Number.isFinite(rate)) return "";
    return `${rate.toLocaleString("en")} requests a second of ${time[0]} need at least ${cpus(rate, time)}.`;
  }
  function calculator() {
    const place2 = document.getElementById("cpus");
    const told2 = document.getElementById("cpus-told");
    const data = document.getElementById("cpu-times");
    if (!place2 || !told2 || !data?.textContent) return;
    const times = JSON.parse(data.textContent);
    const rate = make("input", { type: "number", min: 1, step: "any", value: 1e4, "aria-label": "Requests per second" });
    const slider = make("input", { type: "range", min: 1, max: 7, step: 0.01, value: 4, "aria-label": "Requests per second, in tenfold steps" });
    const service = make("select", { "aria-label": "Service", autocomplete: "off" }, ...times.map(([name], at) => make("option", { value: at }, name)));
    const show2 = () => {
      told2.textContent = sentence(rate.valueAsNumber, times[Number(service.value)]);
    };
    rate.addEventListener("input", () => {
      if (rate.valueAsNumber > 0) slider.value = String(Math.log10(rate.valueAsNumber));
      show2();
    });
    slider.addEventListener("input", () => {
      rate.value = String(Number((10 ** Number(slider.value)).toPrecision(2)));
      show2();
    });
    service.addEventListener("change", show2);
    told2.setAttribute("role", "status");
    place2.append(rate, " requests a second ", slider);
    if (times.length > 1) place2.append(" of ", service);
    show2();
  }

  // src/landing.js
  var MORE_IS_BETTER = /* @__PURE__ */ new Set(["requests_per_second"]);
  function landing() {
    const place2 = document.getElementById("choose");
    const strips = (
      /** @type {HTMLElement[]} */
      [...document.querySelectorAll(".strip")]
    );
    const body = document.querySelector("#services tbody");
    if (!place2 || !body || strips.length === 0) return;
    const rows = grouped(body);
    const chosen = /* @__PURE__ */ new Set();
    const metrics = strips.map((strip) => button(strip.dataset.name ?? "", () => by(strip), { "aria-pressed": !strip.hidden ? "true" : "false" }));
    const by = (shown) => {
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
      const passes = (language) => chosen.size === 0 || chosen.has(language);
      for (const lane of document.querySelectorAll(".lane[data-language]")) lane.toggleAttribute("hidden", !passes(lane.getAttribute("data-language")));
      for (const { row, said, language, isReference } of rows) {
        for (const one of [row, ...said]) one.toggleAttribute("hidden", !isReference && !passes(language));
      }
    };
    place2.append(
      make("div", { role: "group", "aria-label": "Figure" }, ...metrics),
      make("div", { role: "group", "aria-label": "Languages" }, ...chips)
    );
    for (const strip of strips) {
      strip.addEventListener("click", ({ target }) => {
        const point = target instanceof Element ? target.closest("circle") : null;
        const row = point && rows.find(({ row: row2 }) => row2.dataset.row === point.getAttribute("data-row"));
        row?.row.querySelector("a")?.click();
      });
    }
  }
  function grouped(body) {
    const groups = [];
    const languages = JSON.parse(document.getElementById("languages-of")?.textContent ?? "[]");
    for (const row of body.children) {
      if (!(row instanceof HTMLTableRowElement)) continue;
      if (row.dataset.row === void 0) groups.at(-1)?.said.push(row);
      else groups.push({ row, said: [], language: languages[Number(row.dataset.row)], isReference: row.classList.contains("reference") });
    }
    return groups;
  }
  function sort(body, groups, column, isDown) {
    const value = ({ row }) => {
      const text = row.cells[column]?.dataset.value ?? "";
      if (text === "") return Infinity;
      return isDown ? -Number(text) : Number(text);
    };
    const sorted = groups.toSorted((one, other) => Number(other.isReference) - Number(one.isReference) || value(one) - value(other) || 0);
    const lines = sorted.flatMap(({ row, said }) => [row, ...said]);
    if (lines.some((line, at) => line !== body.children[at])) body.replaceChildren(...lines);
  }

  // src/save.js
  function copiers(root) {
    for (const code of root.querySelectorAll(".facts .code code")) {
      const label = code.closest("div")?.querySelector("dt")?.textContent ?? "";
      const copier = button("Copy", async () => {
        told(copier, await copy(code), "Selected");
      }, { class: "copy", "aria-label": `Copy: ${label}` });
      code.closest("dd")?.append(copier);
    }
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

  // src/search.js
  function matches(known, text) {
    const words = text.toLowerCase().split(/\s+/).filter((word) => word !== "");
    if (words.length === 0) return [];
    const place2 = ([name, kind]) => {
      const of = `${name} ${kind}`.toLowerCase();
      if (!words.every((word) => of.includes(word))) return -1;
      if (name.toLowerCase() === words.join(" ")) return 0;
      return of.startsWith(words[0]) ? 1 : 2;
    };
    const placed = known.map((one) => (
      /** @type {const} */
      [place2(one), one]
    )).filter(([at]) => at >= 0);
    return placed.sort(([one], [other]) => one - other).map(([, one]) => one);
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
    const next = () => {
      const [same, other] = system.matches ? ["dark", "light"] : ["light", "dark"];
      if (root.dataset.theme === void 0) return other;
      return root.dataset.theme === other ? same : "system";
    };
    const control = button("", () => {
      const theme = next();
      if (theme === "system") delete root.dataset.theme;
      else root.dataset.theme = theme;
      remember(theme);
      refresh();
    }, { id: "theme" });
    const refresh = () => {
      control.textContent = `Colours: ${root.dataset.theme ?? "system"}`;
      control.title = `Next: ${next()}`;
    };
    system.addEventListener("change", refresh);
    refresh();
    return control;
  }

  // src/versus.js
  function askPair() {
    const ask = document.getElementById("ask");
    const data = document.getElementById("pairs-of");
    if (!ask || !data?.textContent) return;
    const { services, pairs } = JSON.parse(data.textContent);
    const pages = pagesOf(services, pairs);
    const asked = byAddress(services, pages, location.hash);
    if (asked) location.replace(asked);
    const option = (at) => make("option", { value: at }, services[at][1]);
    const [first, second] = ["First service", "Second service"].map((label) => make("select", { "aria-label": label, autocomplete: "off" }));
    const link = make("a", { class: "button" });
    first.append(...services.map((_, at) => option(at)));
    const show2 = () => {
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
      show2();
    };
    first.addEventListener("change", partners);
    second.addEventListener("change", () => {
      second.dataset.chosen = "yes";
      show2();
    });
    partners();
    ask.append(first, " against ", second, " ", link);
    ask.hidden = false;
  }
  function pagesOf(services, pairs) {
    const pages = services.map(() => /* @__PURE__ */ new Map());
    pairs.forEach((others, one) => {
      for (const other of others) {
        const path = `${services[one][0]}/${services[other][0]}/index.html`;
        pages[one].set(other, path);
        pages[other].set(one, path);
      }
    });
    return pages;
  }
  function byAddress(services, pages, hash) {
    const [one, other] = hash.slice(1).split(",").map((slug) => services.findIndex(([known]) => known === slug));
    return pages[one]?.get(other) ?? null;
  }

  // src/site.js
  var FOUND_MAX = 12;
  var tools = document.getElementById("tools");
  if (tools) {
    tools.prepend(searchBox(tools.dataset.root ?? ""));
  }
  if (!document.getElementById("document")) {
    tools?.append(themeButton());
    copiers(document);
  }
  askPair();
  landing();
  calculator();
  function searchBox(root) {
    const list = make("ul", { class: "found", hidden: true });
    const input = make("input", { type: "search", placeholder: "Search", "aria-label": "Search this site" });
    const told2 = make("span", { class: "sr", role: "status" });
    let known = null;
    const show2 = async () => {
      known ??= load(`${root}assets/search.js`);
      const found = matches(await known, input.value).slice(0, FOUND_MAX);
      list.replaceChildren(...found.map(([name, kind, path]) => make("li", {}, make("a", { href: root + path }, make("bdi", {}, name), " ", make("small", {}, kind)))));
      list.hidden = found.length === 0;
      told2.textContent = input.value === "" ? "" : `${found.length} found`;
    };
    input.addEventListener("input", show2);
    input.addEventListener("focus", show2);
    const box = make("search", { class: "search" }, input, list, told2);
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
  function load(source) {
    return new Promise((done) => {
      const script = make("script", { src: source });
      script.addEventListener("load", () => done(globalThis.tareSearch ?? []));
      script.addEventListener("error", () => done([]));
      document.head.append(script);
    });
  }
})();
