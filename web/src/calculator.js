// How many CPUs a rate of requests takes. Without this, the page has the sentence for one rate.

import { make } from "./dom.js";
import { both, show } from "./figures.js";

/** A service, its CPU time per request in nanoseconds, and both ends of its interval. @typedef {[string, number, [number, number]|null]} Time */

/**
 * `0.107 CPUs (0.104 .. 0.11)`: as `cpus` of `parts/site/src/calculator.rs`.
 * @param {number} rate
 * @param {Time} time
 */
export function cpus(rate, [, value, ends]) {
  const of = (/** @type {number} */ nanoseconds) => nanoseconds * rate / 1e9;
  const interval = ends ? ` (${both("number", [of(ends[0]), of(ends[1])], " .. ")})` : "";
  return `${show("number", of(value))} CPUs${interval}`;
}

/**
 * The sentence; nothing for what is no rate.
 * @param {number} rate
 * @param {Time} time
 */
export function sentence(rate, time) {
  if (!(rate > 0) || !Number.isFinite(rate)) return "";
  return `${rate.toLocaleString("en")} requests a second of ${time[0]} need at least ${cpus(rate, time)}.`;
}

export function calculator() {
  const place = document.getElementById("cpus");
  const told = document.getElementById("cpus-told");
  const data = document.getElementById("cpu-times");
  if (!place || !told || !data?.textContent) return;
  /** @type {Time[]} */
  const times = JSON.parse(data.textContent);
  const rate = make("input", { type: "number", min: 1, step: "any", value: 10000, "aria-label": "Requests per second" });
  const slider = make("input", { type: "range", min: 1, max: 7, step: 0.01, value: 4, "aria-label": "Requests per second, in tenfold steps" });
  const service = make("select", { "aria-label": "Service", autocomplete: "off" }, ...times.map(([name], at) => make("option", { value: at }, name)));
  const show = () => {
    told.textContent = sentence(rate.valueAsNumber, times[Number(service.value)]);
  };
  rate.addEventListener("input", () => {
    if (rate.valueAsNumber > 0) slider.value = String(Math.log10(rate.valueAsNumber));
    show();
  });
  slider.addEventListener("input", () => {
    rate.value = String(Number((10 ** Number(slider.value)).toPrecision(2)));
    show();
  });
  service.addEventListener("change", show);
  told.setAttribute("role", "status");
  place.append(rate, " requests a second ", slider);
  if (times.length > 1) place.append(" of ", service);
  show();
}
