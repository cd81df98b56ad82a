// What the environment variables say; nothing else is read.

function refuse(message) {
  console.error(message);
  Deno.exit(2);
}

function integer(name, { min, max, fallback }) {
  const text = Deno.env.get(name) ?? fallback;
  const value = /^[0-9]+$/.test(text) ? Number(text) : NaN;
  if (value >= min && value <= max) return value;
  refuse(`${name} must be an integer from ${min} to ${max}`);
}

// isIPv4 of node:net would be loaded for this alone: 3 MB in Bun, 7 MB in Deno.
const octet = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";
const ipv4 = new RegExp(`^${octet}(\\.${octet}){3}$`);

function readServeOn() {
  const text = Deno.env.get("SERVE_ON") || "127.0.0.1";
  if (ipv4.test(text)) return text;
  refuse(`SERVE_ON must be an IPv4 address, such as 0.0.0.0, not "${text}"`);
}

function readPem(name) {
  try {
    return Deno.readTextFileSync(Deno.env.get(name));
  } catch (error) {
    refuse(`${name} cannot be read: ${error.name}`);
  }
}

function readTls() {
  const withCert = Deno.env.has("TLS_CERT");
  if (withCert !== Deno.env.has("TLS_KEY")) {
    refuse("TLS_CERT and TLS_KEY must be set together");
  }
  if (!withCert) return undefined;
  return { cert: readPem("TLS_CERT"), key: readPem("TLS_KEY") };
}

function readProtocol(tls) {
  const protocol = Deno.env.get("PROTOCOL") ?? "http/1.1";
  if (!["http/1.1", "h2", "h2c"].includes(protocol)) {
    refuse("PROTOCOL must be http/1.1, h2 or h2c");
  }
  if (protocol === "h2" && !tls) {
    refuse("PROTOCOL h2 needs TLS_CERT and TLS_KEY");
  }
  if (protocol === "h2c" && tls) {
    refuse("PROTOCOL h2c is without TLS_CERT and TLS_KEY");
  }
  return protocol;
}

function readUrl(name, protocol) {
  const text = Deno.env.get(name);
  if (text === undefined) return undefined;
  if (URL.parse(text)?.protocol === protocol) return text;
  refuse(`${name} must be a URL that begins with ${protocol}//`);
}

function readProducts() {
  const file = Deno.env.get("DATA_PRODUCTS");
  if (file === undefined) return undefined;
  try {
    const products = JSON.parse(Deno.readTextFileSync(file));
    if (Array.isArray(products)) return products;
  } catch (error) {
    refuse(`DATA_PRODUCTS cannot be read: ${error.name}`);
  }
  refuse("DATA_PRODUCTS must be an array of JSON");
}

export function readSettings() {
  const tls = readTls();
  return {
    port: integer("PORT", { min: 1, max: 65535 }),
    serveOn: readServeOn(),
    threads: integer("THREADS", { min: 1, max: 1024, fallback: "1" }),
    delayMs: integer("DELAY_MS", { min: 0, max: 60000, fallback: "0" }),
    protocol: readProtocol(tls),
    tls,
    products: readProducts(),
    upstream: readUrl("UPSTREAM_URL", "http:"),
  };
}
