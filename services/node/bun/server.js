import { createDelay } from "./delay.js";
import { readSettings } from "./settings.js";
import { upload } from "./upload.js";

if (process.argv.length === 3 && process.argv[2] === "--version") {
  console.log(Bun.version);
  process.exit();
}

const settings = await readSettings();
const { port, serveOn, threads, delayMs, protocol, tls } = settings;
const delay = delayMs > 0 ? createDelay(threads, delayMs) : undefined;

const routes = {
  "/": { GET: () => new Response("Hello world!") },
  "/api/test": { GET: () => new Response("Hello, World!") },
  "/test": { POST: receive },
  "/test/status": { GET: () => new Response("OK") },
  "/test/labels/:label": { GET: (req) => new Response(req.params.label) },
  "/framework": { GET: () => Response.json({ Hello: "world" }) },
  "/benchmark": { GET: benchmark },
  "/upload": { POST: upload },
};

// Without the variable that they need, these routes and their packages are not
// loaded.
if (settings.database) {
  const sql = new Bun.SQL(settings.database, { max: settings.connections });
  const database = await import("./database.js");
  const crud = await import("./crud.js");
  Object.assign(routes, database.createRoutes(sql), crud.createRoutes(sql));
}
if (settings.products) {
  const products = await import("./products.js");
  Object.assign(routes, products.createRoutes(settings.products));
}
if (settings.folder) routes["/static/*"] = { GET: { dir: settings.folder } };
if (settings.upstream) {
  const gateway = await import("./gateway.js");
  Object.assign(routes, gateway.createRoutes(settings.upstream));
}

async function receive(req) {
  let message;
  try {
    message = await req.json();
  } catch {
    return new Response("The body is not JSON", { status: 400 });
  }
  if (message === null || typeof message !== "object" || Array.isArray(message))
    return new Response("The body is not a JSON object", { status: 400 });

  if (delay) await delay();
  return Response.json({ ...message, text: "received" });
}

function benchmark(req) {
  const digits = new URL(req.url).searchParams.get("count") ?? "10000";
  const count = /^[0-9]+$/.test(digits) ? Number(digits) : NaN;
  if (!(count <= 1_000_000))
    return new Response("count is 0 to 1000000", { status: 400 });

  const strings = [];
  for (let i = 0; i < count; i++) strings.push(`Index ${i}`);
  return Response.json(strings.slice(0, 10));
}

let server;
try {
  server = Bun.serve({
    port,
    hostname: serveOn,
    idleTimeout: 120,
    http1: protocol !== "h2c",
    http2: protocol !== "http/1.1",
    tls,
    routes,
  });
} catch (error) {
  console.error(`cannot listen on ${serveOn}:${port}: ${error.code}`);
  process.exit(1);
}

process.on("SIGTERM", () => {
  server.stop();
  server.closeIdleConnections();
  // Requests that are being handled may end, but not at their leisure.
  setTimeout(() => process.exit(), 500).unref();
});
