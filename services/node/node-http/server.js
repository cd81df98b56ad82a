import http from "node:http";
import { sendJson, sendText } from "./answers.js";
import { createDelay } from "./delay.js";
import { readSettings } from "./settings.js";
import { upload } from "./upload.js";

if (process.argv.length === 3 && process.argv[2] === "--version") {
  console.log(process.versions.node);
  process.exit();
}

const settings = await readSettings();
const { port, serveOn, threads, delayMs, protocol, tls } = settings;
const delay = delayMs > 0 ? createDelay(threads, delayMs) : undefined;

// node:http has no router: fixed routes are looked up, those with a parameter
// are matched.
const routes = new Map([
  ["GET /", (req, res) => sendText(res, 200, "Hello world!")],
  ["GET /api/test", (req, res) => sendText(res, 200, "Hello, World!")],
  ["GET /test/status", (req, res) => sendText(res, 200, "OK")],
  ["POST /test", receive],
  ["GET /framework", (req, res) => sendJson(res, { Hello: "world" })],
  ["GET /benchmark", benchmark],
  ["POST /upload", upload],
]);
const patterns = [
  [
    /^GET \/test\/labels\/([A-Za-z0-9_-]{1,24})$/,
    (req, res, query, label) => sendText(res, 200, label),
  ],
];

// Without the variable that they need, these routes and their packages are not
// loaded.
if (settings.database) {
  const { createPool } = await import("./pool.js");
  const { addDatabase } = await import("./database.js");
  const { addCrud } = await import("./crud.js");
  const pool = createPool(settings);
  addDatabase(routes, pool);
  addCrud(routes, patterns, pool);
}
if (settings.products) {
  const { addProducts } = await import("./products.js");
  addProducts(patterns, settings.products);
}
if (settings.folder) {
  const { addFiles } = await import("./files.js");
  addFiles(patterns, settings.folder);
}
if (settings.upstream) {
  const { addGateway } = await import("./gateway.js");
  addGateway(patterns, settings.upstream);
}

function handle(req, res) {
  const [path, query] = req.url.split("?", 2);
  const method = req.method === "HEAD" ? "GET" : req.method;
  const route = `${method} ${path}`;

  const handler = routes.get(route);
  if (handler) return handler(req, res, query);

  for (const [pattern, handler] of patterns) {
    const match = pattern.exec(route);
    if (match) return handler(req, res, query, match[1]);
  }

  sendText(res, 404, "Not Found");
}

function receive(req, res) {
  let body = "";
  req.setEncoding("utf8");
  req.on("data", (chunk) => (body += chunk));
  req.on("end", () => answer(body, res));
}

async function answer(body, res) {
  let message;
  try {
    message = JSON.parse(body);
  } catch {
    return sendText(res, 400, "The body is not JSON");
  }
  if (message === null || typeof message !== "object" || Array.isArray(message))
    return sendText(res, 400, "The body is not a JSON object");

  if (delay) await delay();
  sendJson(res, { ...message, text: "received" });
}

function benchmark(req, res, query) {
  const digits = new URLSearchParams(query).get("count") ?? "10000";
  const count = /^[0-9]+$/.test(digits) ? Number(digits) : NaN;
  if (!(count <= 1_000_000))
    return sendText(res, 400, "count is an integer from 0 to 1000000");

  const strings = [];
  for (let i = 0; i < count; i++) strings.push(`Index ${i}`);
  sendJson(res, strings.slice(0, 10));
}

const options = { keepAliveTimeout: 120_000, ...tls };

// The other modules are loaded only where they are needed.
async function createServer() {
  if (protocol === "http/1.1") {
    if (!tls) return http.createServer(options, handle);
    const https = await import("node:https");
    return https.createServer(options, handle);
  }
  const http2 = await import("node:http2");
  if (tls) return http2.createSecureServer(options, handle);
  return http2.createServer(options, handle);
}

const server = await createServer();

server.on("error", (error) => {
  console.error(`cannot listen on ${serveOn}:${port}: ${error.code}`);
  process.exit(1);
});

// It is left to the user of node:http2 to close the sessions that are open.
const sessions = new Set();
server.on("session", (session) => {
  sessions.add(session);
  session.on("close", () => sessions.delete(session));
});

process.on("SIGTERM", () => {
  // Connections to others stay open until the end.
  server.close(() => process.exit());
  server.closeIdleConnections?.();
  for (const session of sessions) session.close();
  // Requests that are being handled may end, but not at their leisure.
  setTimeout(() => process.exit(), 500).unref();
});

server.listen(port, serveOn);
