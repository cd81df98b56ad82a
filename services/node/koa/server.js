import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import Router from "@koa/router";
import Koa from "koa";
import { createDelay } from "./delay.js";
import { parseJson } from "./parse-json.js";
import { readSettings } from "./settings.js";
import { upload } from "./upload.js";

if (process.argv.length === 3 && process.argv[2] === "--version") {
  const require = createRequire(import.meta.url);
  console.log(require("koa/package.json").version);
  process.exit();
}

const settings = await readSettings();
const { port, serveOn, threads, delayMs, protocol, tls } = settings;
const delay = delayMs > 0 ? createDelay(threads, delayMs) : undefined;
const app = new Koa();
const router = new Router();

router.get("/", (ctx) => {
  ctx.body = "Hello world!";
});

router.get("/api/test", (ctx) => {
  ctx.body = "Hello, World!";
});

router.get("/test/status", (ctx) => {
  ctx.body = "OK";
});

router.get("/test/labels/:label", (ctx) => {
  ctx.body = ctx.params.label;
});

router.post("/test", parseJson, async (ctx) => {
  const { body, rawBody } = ctx.request;
  // The parser passes arrays too, and takes an empty body for {}.
  if (!rawBody || Array.isArray(body)) ctx.throw(400);

  if (delay) await delay();
  ctx.body = { ...body, text: "received" };
});

router.get("/framework", (ctx) => {
  ctx.body = { Hello: "world" };
});

router.get("/benchmark", (ctx) => {
  const digits = ctx.query.count ?? "10000";
  const count = /^[0-9]+$/.test(digits) ? Number(digits) : NaN;
  if (!(count <= 1_000_000)) ctx.throw(400);

  const strings = [];
  for (let i = 0; i < count; i++) strings.push(`Index ${i}`);
  ctx.body = strings.slice(0, 10);
});

router.post("/upload", upload);

// Without the variable that they need, these routes and their packages are not
// loaded.
const routers = [router];
if (settings.database) {
  const { default: render } = await import("@koa/ejs");
  const root = fileURLToPath(new URL("views", import.meta.url));
  render(app, { root, layout: false, viewExt: "ejs" });
  const { createPool } = await import("./pool.js");
  const pool = createPool(settings);
  routers.push((await import("./database.js")).createRouter(pool));
  routers.push((await import("./crud.js")).createRouter(pool));
}
if (settings.products)
  routers.push((await import("./products.js")).createRouter(settings.products));
if (settings.upstream)
  routers.push((await import("./gateway.js")).createRouter(settings.upstream));

for (const router of routers)
  app.use(router.routes()).use(router.allowedMethods());
if (settings.folder)
  app.use((await import("./files.js")).serveFiles(settings.folder));

// As by default, but a client that has gone during its upload is not logged.
app.on("error", (error, ctx) => {
  if (ctx?.writable !== false) app.onerror(error);
});

// app.listen() serves HTTP/1.1 without TLS; for the rest the application is given
// to a server of Node.
async function listen() {
  if (protocol === "http/1.1" && !tls) return app.listen(port, serveOn);
  const server = await createServer();
  return server.listen(port, serveOn);
}

async function createServer() {
  if (protocol === "http/1.1") {
    const https = await import("node:https");
    return https.createServer(tls, app.callback());
  }
  const http2 = await import("node:http2");
  if (tls) return http2.createSecureServer(tls, app.callback());
  return http2.createServer(app.callback());
}

const server = await listen();
server.keepAliveTimeout = 120_000;

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
