import { fileURLToPath } from "node:url";
import { Eta } from "eta";

const ROWS = 10_000;

export function createRoutes(sql) {
  const views = fileURLToPath(new URL("views", import.meta.url));
  const eta = new Eta({ views, cache: true });

  async function readWorld(id) {
    const [world] = await sql`
      SELECT id, randomnumber AS "randomNumber" FROM world WHERE id = ${id}`;
    return world;
  }

  async function db() {
    return Response.json(await readWorld(random()));
  }

  async function queries(req) {
    const length = readCount(req);
    const reads = Array.from({ length }, () => readWorld(random()));
    return Response.json(await Promise.all(reads));
  }

  async function updates(req) {
    const ids = drawIds(readCount(req));
    const worlds = await Promise.all(ids.map(readWorld));
    for (const world of worlds) world.randomNumber = random();
    await sql.begin(async (tx) =>
      worlds.map(
        ({ id, randomNumber }) => tx`
          UPDATE world SET randomnumber = ${randomNumber} WHERE id = ${id}`,
      ),
    );
    return Response.json(worlds);
  }

  async function fortunes() {
    const fortunes = await sql`SELECT id, message FROM fortune`;
    const message = "Additional fortune added at request time.";
    fortunes.push({ id: 0, message });
    fortunes.sort(byMessage);
    const headers = { "Content-Type": "text/html; charset=utf-8" };
    return new Response(eta.render("fortunes", { fortunes }), { headers });
  }

  return {
    "/db": { GET: db },
    "/queries": { GET: queries },
    "/updates": { GET: updates },
    "/fortunes": { GET: fortunes },
  };
}

function random() {
  return 1 + Math.floor(Math.random() * ROWS);
}

// Whatever is no number of queries counts as one of 1 to 500.
function readCount(req) {
  const text = new URL(req.url).searchParams.get("queries");
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
