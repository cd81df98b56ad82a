// NaN where the text is no integer of this range.
export function readInteger(text, min, max) {
  const value = /^-?[0-9]+$/.test(text) ? Number(text) : NaN;
  return value >= min && value <= max ? value : NaN;
}
