import { fileURLToPath } from "node:url";
import { Eta } from "eta";
import { answered, sendJson } from "./answers.js";

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

export function addDatabase(routes, pool) {
  const views = fileURLToPath(new URL("views", import.meta.url));
  const eta = new Eta({ views, cache: true });

  async function readWorld(id) {
    const { rows } = await pool.query({ ...selectWorld, values: [id] });
    return rows[0];
  }

  async function db(req, res) {
    sendJson(res, await readWorld(random()));
  }

  async function queries(req, res, query) {
    const length = readCount(query);
    const reads = Array.from({ length }, () => readWorld(random()));
    sendJson(res, await Promise.all(reads));
  }

  async function updates(req, res, query) {
    const ids = drawIds(readCount(query));
    const worlds = await Promise.all(ids.map(readWorld));
    for (const world of worlds) world.randomNumber = random();
    await writeWorlds(pool, worlds);
    sendJson(res, worlds);
  }

  async function fortunes(req, res) {
    const { rows } = await pool.query(selectFortunes);
    rows.push({ id: 0, message: "Additional fortune added at request time." });
    rows.sort(byMessage);
    res.setHeader("Content-Type", "text/html; charset=utf-8");
    res.end(eta.render("fortunes", { fortunes: rows }));
  }

  routes.set("GET /db", answered(db));
  routes.set("GET /queries", answered(queries));
  routes.set("GET /updates", answered(updates));
  routes.set("GET /fortunes", answered(fortunes));
}

async function writeWorlds(pool, worlds) {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    for (const { id, randomNumber } of worlds)
      await client.query({ ...updateWorld, values: [id, randomNumber] });
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  } finally {
    client.release();
  }
}

function random() {
  return 1 + Math.floor(Math.random() * ROWS);
}

// Whatever is no number of queries counts as one of 1 to 500.
function readCount(query) {
  const text = new URLSearchParams(query).get("queries");
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
