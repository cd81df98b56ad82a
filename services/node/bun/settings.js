// What the environment variables say; nothing else is read.

import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";

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

// isIPv4 of node:net would be loaded for this alone: 3 MB in Bun, 7 MB in Deno.
const octet = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";
const ipv4 = new RegExp(`^${octet}(\\.${octet}){3}$`);

function readServeOn() {
  const text = process.env.SERVE_ON || "127.0.0.1";
  if (ipv4.test(text)) return text;
  refuse(`SERVE_ON must be an IPv4 address, such as 0.0.0.0, not "${text}"`);
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

function readUrl(name, protocol) {
  const text = process.env[name];
  if (text === undefined) return undefined;
  try {
    if (new URL(text).protocol === protocol) return text;
  } catch {
    // It is refused like one of another protocol.
  }
  refuse(`${name} must be a URL that begins with ${protocol}//`);
}

function readProducts() {
  const file = process.env.DATA_PRODUCTS;
  if (file === undefined) return undefined;
  try {
    const products = JSON.parse(readFileSync(file, "utf8"));
    if (Array.isArray(products)) return products;
  } catch (error) {
    refuse(`DATA_PRODUCTS cannot be read: ${error.code ?? error.name}`);
  }
  refuse("DATA_PRODUCTS must be an array of JSON");
}

function readFolder(name) {
  const folder = process.env[name];
  if (folder === undefined) return undefined;
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    return resolve(folder);
  refuse(`${name} must be a folder`);
}

export async function readSettings() {
  const tls = await readTls();
  return {
    port: integer("PORT", { min: 1, max: 65535 }),
    serveOn: readServeOn(),
    threads: integer("THREADS", { min: 1, max: 1024, fallback: "1" }),
    delayMs: integer("DELAY_MS", { min: 0, max: 60000, fallback: "0" }),
    protocol: readProtocol(tls),
    tls,
    database: readUrl("DATABASE_URL", "postgres:"),
    connections: integer("DATABASE_MAX_CONN", {
      min: 1,
      max: 10000,
      fallback: "8",
    }),
    products: readProducts(),
    folder: readFolder("FOLDER_STATIC"),
    upstream: readUrl("UPSTREAM_URL", "http:"),
  };
}
