// What the program is told, by environment variables and by nothing else.
// Node 10 has no `??` and no modules by `import` yet.

function integer(name, { min, max, fallback }) {
  const text = name in process.env ? process.env[name] : fallback;
  const value = /^[0-9]+$/.test(text) ? Number(text) : NaN;
  if (value >= min && value <= max) return value;
  console.error(`${name} must be an integer from ${min} to ${max}`);
  process.exit(2);
}

exports.readSettings = () => ({
  port: integer("PORT", { min: 1, max: 65535 }),
  threads: integer("THREADS", { min: 1, max: 1024, fallback: "1" }),
  delayMs: integer("DELAY_MS", { min: 0, max: 60000, fallback: "0" }),
});
