import { Hono } from "hono";
import { html } from "hono/html";

const ROWS = 10_000;

export function createDatabase(sql) {
  const app = new Hono();

  async function readWorld(id) {
    const [world] = await sql`
      SELECT id, randomnumber AS "randomNumber" FROM world WHERE id = ${id}`;
    return world;
  }

  // Each for itself: with transactions side by side, `sql.begin` of Postgres.js
  // can use one connection for two of them.
  function writeWorld({ id, randomNumber }) {
    return sql`
      UPDATE world SET randomnumber = ${randomNumber} WHERE id = ${id}`;
  }

  app.get("/db", async (c) => c.json(await readWorld(random())));

  app.get("/queries", async (c) => {
    const length = readCount(c.req.query("queries"));
    const reads = Array.from({ length }, () => readWorld(random()));
    return c.json(await Promise.all(reads));
  });

  app.get("/updates", async (c) => {
    const ids = drawIds(readCount(c.req.query("queries")));
    const worlds = await Promise.all(ids.map(readWorld));
    for (const world of worlds) world.randomNumber = random();
    await Promise.all(worlds.map(writeWorld));
    return c.json(worlds);
  });

  app.get("/fortunes", async (c) => {
    const fortunes = await sql`SELECT id, message FROM fortune`;
    const message = "Additional fortune added at request time.";
    fortunes.push({ id: 0, message });
    fortunes.sort(byMessage);
    return c.html(renderFortunes(fortunes));
  });

  return app;
}

function renderFortunes(fortunes) {
  return html`<!DOCTYPE html>
    <html>
      <head>
        <title>Fortunes</title>
      </head>
      <body>
        <table>
          <tr>
            <th>id</th>
            <th>message</th>
          </tr>
          ${fortunes.map(
            ({ id, message }) =>
              html`<tr>
                <td>${id}</td>
                <td>${message}</td>
              </tr>`,
          )}
        </table>
      </body>
    </html>`;
}

function random() {
  return 1 + Math.floor(Math.random() * ROWS);
}

// Whatever is no number of queries counts as one of 1 to 500.
function readCount(text) {
  const count = /^-?[0-9]+$/.test(text) ? Number(text) : 1;
  return Math.min(Math.max(count, 1), 500);
}

// Different ones, in ascending order.
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
