import { fileURLToPath } from "node:url";
import fastifyPostgres from "@fastify/postgres";
import fastifyView from "@fastify/view";
import ejs from "ejs";
import crud from "./crud.js";

const ROWS = 10_000;

// A statement with a name is prepared once for each connection.
const selectWorld = {
  name: "select-world",
  text: 'SELECT id, randomnumber AS "randomNumber" FROM world WHERE id = $1',
};
const updateWorld = {
  name: "update-world",
  text: "UPDATE world SET randomnumber = $2 WHERE id = $1",
};
const selectFortunes = {
  name: "select-fortunes",
  text: "SELECT id, message FROM fortune",
};

const world = {
  type: "object",
  properties: { id: { type: "integer" }, randomNumber: { type: "integer" } },
};
const worldSchema = { response: { 200: world } };
const worldsSchema = { response: { 200: { type: "array", items: world } } };

export default async function database(app, { settings }) {
  await app.register(fastifyPostgres, {
    connectionString: settings.database,
    max: settings.connections,
    idleTimeoutMillis: 0,
  });
  // A connection that breaks while it is idle leaves the pool, and that is all.
  app.pg.pool.on("error", () => {});
  await app.register(fastifyView, {
    engine: { ejs },
    root: fileURLToPath(new URL("views", import.meta.url)),
    production: true,
  });
  app.register(crud);

  async function readWorld(id) {
    const { rows } = await app.pg.query({ ...selectWorld, values: [id] });
    return rows[0];
  }

  app.get("/db", { schema: worldSchema }, async () => readWorld(random()));

  app.get("/queries", { schema: worldsSchema }, async (request) => {
    const count = readCount(request.query.queries);
    return Promise.all(
      Array.from({ length: count }, () => readWorld(random())),
    );
  });

  app.get("/updates", { schema: worldsSchema }, async (request) => {
    const ids = drawIds(readCount(request.query.queries));
    const worlds = await Promise.all(ids.map(readWorld));
    for (const world of worlds) world.randomNumber = random();
    await app.pg.transact(async (client) => {
      for (const { id, randomNumber } of worlds)
        await client.query({ ...updateWorld, values: [id, randomNumber] });
    });
    return worlds;
  });

  app.get("/fortunes", async (request, reply) => {
    const { rows } = await app.pg.query(selectFortunes);
    rows.push({ id: 0, message: "Additional fortune added at request time." });
    rows.sort(byMessage);
    return reply.viewAsync("fortunes.ejs", { fortunes: rows });
  });
}

function random() {
  return 1 + Math.floor(Math.random() * ROWS);
}

// Whatever is no number of queries counts as one of 1 to 500.
function readCount(text) {
  const count = /^-?[0-9]+$/.test(text) ? Number(text) : 1;
  return Math.min(Math.max(count, 1), 500);
}

// Different ones, in the order in which all requests lock them.
function drawIds(count) {
  const ids = new Set();
  while (ids.size < count) ids.add(random());
  return [...ids].sort((a, b) => a - b);
}

// By code points; `<` would compare units of UTF-16.
function byMessage({ message: a }, { message: b }) {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    if (a.charCodeAt(i) !== b.charCodeAt(i))
      return a.codePointAt(i) - b.codePointAt(i);
  }
  return a.length - b.length;
}
