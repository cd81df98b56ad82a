// Which names a reader means. Pure.

/** Name, kind, path. @typedef {[string, string, string]} Known */

/**
 * What begins with the text first, then what has it anywhere; each word of it must be found.
 * @param {Known[]} known
 * @param {string} text
 * @returns {Known[]}
 */
export function matches(known, text) {
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return [];
  const place = (/** @type {Known} */ [name, kind]) => {
    const of = `${name} ${kind}`.toLowerCase();
    if (!words.every((word) => of.includes(word))) return -1;
    if (name.toLowerCase() === words.join(" ")) return 0;
    return of.startsWith(words[0]) ? 1 : 2;
  };
  const placed = known.map((one) => /** @type {const} */ ([place(one), one])).filter(([at]) => at >= 0);
  return placed.sort(([one], [other]) => one - other).map(([, one]) => one);
}
