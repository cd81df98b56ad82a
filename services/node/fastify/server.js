import { createRequire } from "node:module";
import Fastify from "fastify";
import { createDelay } from "./delay.js";
import { readSettings } from "./settings.js";

if (process.argv.length === 3 && process.argv[2] === "--version") {
  const require = createRequire(import.meta.url);
  console.log(require("fastify/package.json").version);
  process.exit();
}

const settings = await readSettings();
const { port, serveOn, threads, delayMs, protocol, tls } = settings;
const delay = delayMs > 0 ? createDelay(threads, delayMs) : undefined;
const app = Fastify({
  http2: protocol !== "http/1.1",
  https: tls,
  keepAliveTimeout: 120_000,
  http2SessionTimeout: 120_000,
  // Fastify's "array" takes [{}] for {}; here it is an error.
  ajv: { customOptions: { coerceTypes: true } },
});

app.get("/", async () => "Hello world!");

app.get("/api/test", async () => "Hello, World!");

app.get("/test/status", async () => "OK");

app.get("/test/labels/:label", async (request) => request.params.label);

// The members of a message are not known, so its answer has no schema.
const messageSchema = { body: { type: "object" } };

app.post("/test", { schema: messageSchema }, async (request) => {
  if (delay) await delay();
  return { ...request.body, text: "received" };
});

const frameworkSchema = {
  response: {
    200: { type: "object", properties: { Hello: { type: "string" } } },
  },
};

app.get("/framework", { schema: frameworkSchema }, async () => ({
  Hello: "world",
}));

const benchmarkSchema = {
  querystring: {
    type: "object",
    properties: {
      count: {
        type: "integer",
        minimum: 0,
        maximum: 1_000_000,
        default: 10_000,
      },
    },
  },
  response: {
    200: { type: "array", items: { type: "string" } },
  },
};

app.get("/benchmark", { schema: benchmarkSchema }, async (request) => {
  const strings = [];
  for (let i = 0; i < request.query.count; i++) strings.push(`Index ${i}`);
  return strings.slice(0, 10);
});

app.register(import("./upload.js"));

// Without the variable that they need, these routes and their packages are not
// loaded.
if (settings.database) app.register(import("./database.js"), { settings });
if (settings.products) app.register(import("./products.js"), { settings });
if (settings.folder) app.register(import("./files.js"), { settings });
if (settings.upstream) app.register(import("./gateway.js"), { settings });

process.on("SIGTERM", () => {
  app.close();
  // Requests that are being handled may end, but not at their leisure.
  setTimeout(() => process.exit(), 500).unref();
});

try {
  await app.listen({ port, host: serveOn });
} catch (error) {
  console.error(`cannot listen on ${serveOn}:${port}: ${error.code}`);
  process.exit(1);
}
