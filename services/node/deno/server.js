import { createDelay } from "./delay.js";
import { readSettings } from "./settings.js";
import { upload } from "./upload.js";

if (Deno.args.length === 1 && Deno.args[0] === "--version") {
  console.log(Deno.version.deno);
  Deno.exit();
}

const settings = readSettings();
const { port, serveOn, threads, delayMs, protocol, tls } = settings;
const delay = delayMs > 0 ? createDelay(threads, delayMs) : undefined;

// Deno.serve has no router: fixed routes are looked up, those with a parameter
// are matched.
const routes = new Map([
  ["GET /", () => new Response("Hello world!")],
  ["GET /api/test", () => new Response("Hello, World!")],
  ["GET /test/status", () => new Response("OK")],
  ["POST /test", receive],
  ["GET /framework", () => Response.json({ Hello: "world" })],
  ["GET /benchmark", benchmark],
  ["POST /upload", upload],
]);
const patterns = [
  [
    /^GET \/test\/labels\/([A-Za-z0-9_-]{1,24})$/,
    (_req, _query, label) => new Response(label),
  ],
];

// Without the variable that they need, these routes and their packages are not
// loaded.
if (settings.products) {
  const products = await import("./products.js");
  products.addRoutes(patterns, settings.products);
}
if (settings.upstream) {
  const gateway = await import("./gateway.js");
  gateway.addRoutes(patterns, settings.upstream);
}

function handle(req) {
  const { pathname, searchParams } = new URL(req.url);
  const method = req.method === "HEAD" ? "GET" : req.method;
  const route = `${method} ${pathname}`;

  const handler = routes.get(route);
  if (handler) return handler(req, searchParams);

  for (const [pattern, handler] of patterns) {
    const match = pattern.exec(route);
    if (match) return handler(req, searchParams, match[1]);
  }

  return new Response("Not Found", { status: 404 });
}

// Deno leaves the body of an answer to HEAD out in HTTP/1.1; in HTTP/2 it would
// send it.
async function handleH2(req) {
  const response = await handle(req);
  return req.method === "HEAD" ? new Response(null, response) : response;
}

async function receive(req) {
  let message;
  try {
    message = await req.json();
  } catch {
    return new Response("The body is not JSON", { status: 400 });
  }
  if (
    message === null || typeof message !== "object" || Array.isArray(message)
  ) {
    return new Response("The body is not a JSON object", { status: 400 });
  }

  if (delay) await delay();
  return Response.json({ ...message, text: "received" });
}

function benchmark(_req, query) {
  const digits = query.get("count") ?? "10000";
  const count = /^[0-9]+$/.test(digits) ? Number(digits) : NaN;
  if (!(count <= 1_000_000)) {
    return new Response("count is 0 to 1000000", { status: 400 });
  }

  const strings = [];
  for (let i = 0; i < count; i++) strings.push(`Index ${i}`);
  return Response.json(strings.slice(0, 10));
}

const options = { port, hostname: serveOn, ...tls };

let server;
try {
  server = Deno.serve(options, protocol === "http/1.1" ? handle : handleH2);
} catch (error) {
  // What is wrong with an address has a code, what is wrong with a key has none.
  if (tls && !error.code) {
    console.error(`TLS_CERT and TLS_KEY cannot be used: ${error.message}`);
    Deno.exit(2);
  }
  console.error(`cannot listen on ${serveOn}:${port}: ${error.name}`);
  Deno.exit(1);
}

Deno.addSignalListener("SIGTERM", () => {
  server.shutdown().then(() => Deno.exit());
  // Requests that are being handled may end, but not at their leisure.
  setTimeout(() => Deno.exit(), 500);
});
