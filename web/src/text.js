// How wide texts are, and how they are broken and cut so that they fit: an SVG does neither.

/** @type {CanvasRenderingContext2D|null|undefined} */
let pen;
let family = "";

/**
 * @param {string} text
 * @param {number} size
 * @param {number} [weight]
 */
export function textWidth(text, size, weight = 400) {
  if (pen === undefined) {
    pen = document.createElement("canvas").getContext("2d");
    family = getComputedStyle(document.body).fontFamily;
  }
  if (!pen) return text.length * size * 0.6;
  pen.font = `${weight} ${size}px ${family}`;
  return pen.measureText(text).width;
}

/**
 * A name in lines of this width, as far as its words allow.
 * @param {string} name
 * @param {number} wide
 * @param {number} size
 */
export function broken(name, wide, size) {
  /** @type {string[]} */
  const lines = [];
  for (const word of name.split(" ")) {
    const longer = `${lines.at(-1) ?? ""} ${word}`.trim();
    if (lines.length > 0 && textWidth(longer, size) <= wide) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/**
 * As much of a text as has this width.
 * @param {string} text
 * @param {number} wide
 * @param {number} size
 */
export function cut(text, wide, size) {
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
