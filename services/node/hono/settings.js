// What the environment variables say; nothing else is read.

import { readFileSync } from "node:fs";

function refuse(message) {
  console.error(message);
  process.exit(2);
}

function integer(name, { min, max, fallback }) {
  const text = process.env[name] ?? fallback;
  const value = /^[0-9]+$/.test(text) ? Number(text) : NaN;
  if (value >= min && value <= max) return value;
  refuse(`${name} must be an integer from ${min} to ${max}`);
}

function readPem(name) {
  try {
    return readFileSync(process.env[name]);
  } catch (error) {
    refuse(`${name} cannot be read: ${error.code}`);
  }
}

async function readTls() {
  const { TLS_CERT, TLS_KEY } = process.env;
  if (TLS_CERT === undefined && TLS_KEY === undefined) return undefined;
  if (TLS_CERT === undefined || TLS_KEY === undefined)
    refuse("TLS_CERT and TLS_KEY must be set together");

  const tls = { cert: readPem("TLS_CERT"), key: readPem("TLS_KEY") };
  const { createSecureContext } = await import("node:tls");
  try {
    createSecureContext(tls);
  } catch (error) {
    refuse(`TLS_CERT and TLS_KEY cannot be used: ${error.message}`);
  }
  return tls;
}

function readProtocol(tls) {
  const protocol = process.env.PROTOCOL ?? "http/1.1";
  if (!["http/1.1", "h2", "h2c"].includes(protocol))
    refuse("PROTOCOL must be http/1.1, h2 or h2c");
  if (protocol === "h2" && !tls)
    refuse("PROTOCOL h2 needs TLS_CERT and TLS_KEY");
  if (protocol === "h2c" && tls)
    refuse("PROTOCOL h2c is without TLS_CERT and TLS_KEY");
  return protocol;
}

export async function readSettings() {
  const tls = await readTls();
  return {
    port: integer("PORT", { min: 1, max: 65535 }),
    threads: integer("THREADS", { min: 1, max: 1024, fallback: "1" }),
    delayMs: integer("DELAY_MS", { min: 0, max: 60000, fallback: "0" }),
    protocol: readProtocol(tls),
    tls,
  };
}
