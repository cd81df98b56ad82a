// What the program is told, by environment variables and by nothing else.
// Node 10 has no `??` and no modules by `import` yet.

const { isIPv4 } = require("net");

function refuse(message) {
  console.error(message);
  process.exit(2);
}

function integer(name, { min, max, fallback }) {
  const text = name in process.env ? process.env[name] : fallback;
  const value = /^[0-9]+$/.test(text) ? Number(text) : NaN;
  if (value >= min && value <= max) return value;
  refuse(`${name} must be an integer from ${min} to ${max}`);
}

function readServeOn() {
  const text = process.env.SERVE_ON || "127.0.0.1";
  if (isIPv4(text)) return text;
  refuse(`SERVE_ON must be an IPv4 address, such as 0.0.0.0, not "${text}"`);
}

exports.readSettings = () => ({
  port: integer("PORT", { min: 1, max: 65535 }),
  serveOn: readServeOn(),
  threads: integer("THREADS", { min: 1, max: 1024, fallback: "1" }),
  delayMs: integer("DELAY_MS", { min: 0, max: 60000, fallback: "0" }),
});
