// Numbers as people read them: the same texts as `Unit::show` of crates/report, letter for letter. What a page shows is
// written there where a table is short, and here where it is long; `test/figures.json` has what both must say.

import { place } from "./data.js";

/** @import { Column, Table, Unit, Value } from "./data.js" */

/**
 * A number with that many decimals; a number right between two goes to the even one, as in Rust.
 * @param {number} number
 * @param {number} places
 */
export function fixed(number, places) {
  // From here on `toFixed` gives up.
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

/**
 * The shortest text that means this number, without an exponent.
 * @param {number} number
 */
export function plain(number) {
  if (Object.is(number, -0)) return "-0";
  const text = String(number);
  const parts = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (!parts) return text;
  const [, sign, whole, rest = "", power] = parts;
  const shift = Number(power);
  if (shift < 0) return `${sign}0.${"0".repeat(-shift - 1)}${whole}${rest}`;
  return sign + whole + rest.padEnd(shift, "0");
}

/** @param {number} value */
function digits(value) {
  if (value === 0) return "0";
  if (value >= 99.95) return fixed(value, 0);
  if (value >= 9.995) return fixed(value, 1);
  return fixed(value, value > 0 && value < 0.0995 ? 3 : 2);
}

/** What a p-value is worth. @param {number} value */
function twoDigits(value) {
  const places = value > 0 ? 1 - Math.floor(Math.log10(value)) : 0;
  return Number(places > 100 ? value.toExponential(1) : fixed(value, places));
}

/** @type {Record<Unit, (number: number) => string>} */
const SHOWN = {
  "per-second": (value) => {
    if (value >= 999_500) return `${digits(value / 1e6)} M`;
    return value >= 999.5 ? `${digits(value / 1e3)} k` : digits(value);
  },
  nanoseconds: (value) => {
    // A difference may be below 0.
    if (value < 0) return `-${SHOWN.nanoseconds(-value)}`;
    if (value >= 999.5e6) return `${digits(value / 1e9)} s`;
    if (value >= 999.5e3) return `${digits(value / 1e6)} ms`;
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
    if (percent > 10_000) return "> +10000%";
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
    const least = [999.95, 99.995, 9.9995, 0.999_95, 0.099_995, 0.009_999_5, 0.000_999_95];
    const places = least.findIndex((bound) => size >= bound);
    if (places < 0) return value.toExponential(1);
    return fixed(value, places).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
  },
};

/**
 * @param {Unit} unit
 * @param {number} number
 */
export function show(unit, number) {
  return SHOWN[unit](number);
}

/**
 * A cell as a table shows it: `Column::show`.
 * @param {Column} column
 * @param {Value} value
 */
export function shownIn(column, value) {
  return column.names?.[String(value)] ?? shown(column.unit, value);
}

/**
 * A value in a unit.
 * @param {Unit} unit
 * @param {Value} value
 */
export function shown(unit, value) {
  if (value === null) return "-";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "number" ? show(unit, value) : value;
}

/** @type {Record<string, string>} */
const SIGNS = { "at-least": "≥ ", "at-most": "≤ " };

/**
 * The sign before a value that is an inequality.
 * @param {Table} table
 * @param {Column} column
 * @param {Value[]} row
 */
export function sign(table, column, row) {
  return SIGNS[String(row[place(table, `${column.key}_bound`)] ?? "")] ?? "";
}

/**
 * A number at an axis: without zeros that say nothing.
 * @param {Unit} unit
 * @param {number} number
 */
export function tick(unit, number) {
  if (number === 0 && unit !== "change") return "0";
  return show(unit, Number(number.toPrecision(12))).replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");
}

/**
 * A number without its unit, and its unit, as `Parts` of tare-analysis.
 * @param {string} text
 */
function split(text) {
  const [, number, unit] = /^(.*?\d)(\D*)$/.exec(text) ?? ["", text, ""];
  return { number, unit };
}

/**
 * Two numbers, with their unit once where it is the same: `99.5 .. 104.7%`, `3.99 against 5.04 MiB`.
 * @param {Unit} unit
 * @param {[number, number]} ends
 * @param {string} between
 */
export function both(unit, [one, other], between) {
  const [first, second] = [show(unit, one), show(unit, other)];
  return (split(first).unit === split(second).unit ? split(first).number : first) + between + second;
}

/**
 * What stands beside a value: the ends of its interval.
 * @param {Column} column
 * @param {[number, number]} ends
 */
export function interval(column, ends) {
  return both(column.unit, ends, " .. ");
}
