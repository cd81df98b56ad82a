import { readFileSync } from "node:fs";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { createDelay } from "./delay.js";
import { readSettings } from "./settings.js";
import { upload } from "./upload.js";

if (process.argv.length === 3 && process.argv[2] === "--version") {
  // Hono does not export its package.json.
  const file = new URL("node_modules/hono/package.json", import.meta.url);
  console.log(JSON.parse(readFileSync(file, "utf8")).version);
  process.exit();
}

const settings = await readSettings();
const { port, serveOn, threads, delayMs, protocol, tls } = settings;
const delay = delayMs > 0 ? createDelay(threads, delayMs) : undefined;
const app = new Hono();

app.get("/", (c) => c.text("Hello world!"));

app.get("/api/test", (c) => c.text("Hello, World!"));

app.get("/test/status", (c) => c.text("OK"));

app.get("/test/labels/:label", (c) => c.text(c.req.param("label")));

app.post("/test", async (c) => {
  let message;
  try {
    message = await c.req.json();
  } catch {
    throw new HTTPException(400, { message: "The body is not JSON" });
  }
  if (message === null || typeof message !== "object" || Array.isArray(message))
    throw new HTTPException(400, { message: "The body is not a JSON object" });

  if (delay) await delay();
  return c.json({ ...message, text: "received" });
});

app.get("/framework", (c) => c.json({ Hello: "world" }));

app.get("/benchmark", (c) => {
  const digits = c.req.query("count") ?? "10000";
  const count = /^[0-9]+$/.test(digits) ? Number(digits) : NaN;
  if (!(count <= 1_000_000))
    throw new HTTPException(400, { message: "count is 0 to 1000000" });

  const strings = [];
  for (let i = 0; i < count; i++) strings.push(`Index ${i}`);
  return c.json(strings.slice(0, 10));
});

app.post("/upload", upload);

// Without the variable that they need, these routes and their packages are not
// loaded.
if (settings.database) {
  const { default: postgres } = await import("postgres");
  const sql = postgres(settings.database, { max: settings.connections });
  app.route("/", (await import("./database.js")).createDatabase(sql));
  app.route("/crud", (await import("./crud.js")).createCrud(sql));
}
if (settings.products) {
  const { createProducts } = await import("./products.js");
  app.route("/", createProducts(settings.products));
}
if (settings.folder) {
  const { serveFiles } = await import("./files.js");
  app.get("/static/*", serveFiles(settings.folder));
}
if (settings.upstream) {
  const { createGateway } = await import("./gateway.js");
  app.route("/", createGateway(settings.upstream));
}

// The adapter takes the server of node:http if it is given none.
async function selectServer() {
  if (protocol === "http/1.1" && !tls) return undefined;
  if (protocol === "http/1.1") return (await import("node:https")).createServer;
  const http2 = await import("node:http2");
  return tls ? http2.createSecureServer : http2.createServer;
}

const server = serve({
  fetch: app.fetch,
  port,
  hostname: serveOn,
  createServer: await selectServer(),
  serverOptions: { keepAliveTimeout: 120_000, ...tls },
});

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
