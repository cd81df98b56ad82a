import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import express from "express";
import { sendBare } from "./bare.js";
import { createDelay } from "./delay.js";
import { readSettings } from "./settings.js";
import { upload } from "./upload.js";

if (process.argv.length === 3 && process.argv[2] === "--version") {
  const require = createRequire(import.meta.url);
  console.log(require("express/package.json").version);
  process.exit();
}

const settings = await readSettings();
const { port, serveOn, threads, delayMs, tls } = settings;
const delay = delayMs > 0 ? createDelay(threads, delayMs) : undefined;
const app = express();

if (process.argv[2] === "--bare") {
  app.disable("x-powered-by");
  app.get("/", sendBare);
} else {
  app.get("/", (req, res) => {
    res.type("text/plain").send("Hello world!");
  });
}

app.get("/api/test", (req, res) => {
  res.type("text/plain").send("Hello, World!");
});

app.get("/test/status", (req, res) => {
  res.type("text/plain").send("OK");
});

app.get("/test/labels/:label", (req, res) => {
  res.type("text/plain").send(req.params.label);
});

// express.json() takes an empty body for {}; here it is an error.
function refuseEmpty(req, res, body) {
  if (body.length === 0)
    throw Object.assign(new Error("the body is empty"), { status: 400 });
}

app.post("/test", express.json({ verify: refuseEmpty }), async (req, res) => {
  // express.json() passes arrays too, and leaves alone what is not sent as JSON.
  if (req.body === undefined || Array.isArray(req.body))
    return res.sendStatus(400);

  if (delay) await delay();
  res.json({ ...req.body, text: "received" });
});

app.get("/framework", (req, res) => {
  res.json({ Hello: "world" });
});

app.get("/benchmark", (req, res) => {
  const digits = req.query.count ?? "10000";
  const count = /^[0-9]+$/.test(digits) ? Number(digits) : NaN;
  if (!(count <= 1_000_000)) return res.sendStatus(400);

  const strings = [];
  for (let i = 0; i < count; i++) strings.push(`Index ${i}`);
  res.json(strings.slice(0, 10));
});

app.post("/upload", upload);

// Without the variable that they need, these routes and their packages are not
// loaded.
if (settings.database) {
  app.set("view engine", "pug");
  app.set("views", fileURLToPath(new URL("views", import.meta.url)));
  const { createPool } = await import("./pool.js");
  const pool = createPool(settings);
  app.use((await import("./database.js")).createRouter(pool));
  app.use("/crud", (await import("./crud.js")).createRouter(pool));
}
if (settings.products)
  app.use((await import("./products.js")).createRouter(settings.products));
if (settings.folder) {
  const options = { redirect: false };
  app.use("/static", express.static(settings.folder, options));
}
if (settings.upstream)
  app.use((await import("./gateway.js")).createRouter(settings.upstream));

// A client's mistake is answered, but not logged with its stack, as Express
// does by default; nor is a client that has gone during its upload.
app.use((error, req, res, next) => {
  if (error.status >= 400 && error.status < 500) res.sendStatus(error.status);
  else if (!req.errored) next(error);
});

// app.listen() serves without TLS only.
async function listen() {
  if (!tls) return app.listen(port, serveOn, exitOnError);
  const { createServer } = await import("node:https");
  const server = createServer(tls, app);
  return server.on("error", exitOnError).listen(port, serveOn);
}

function exitOnError(error) {
  if (!error) return;
  console.error(`cannot listen on ${serveOn}:${port}: ${error.code}`);
  process.exit(1);
}

const server = await listen();
server.keepAliveTimeout = 120_000;

process.on("SIGTERM", () => {
  // Connections to others stay open until the end.
  server.close(() => process.exit());
  server.closeIdleConnections();
  // Requests that are being handled may end, but not at their leisure.
  setTimeout(() => process.exit(), 500).unref();
});
