import { Hono } from "hono";
import { validator } from "hono/validator";
import { readInteger } from "./integer.js";

const INT4_MAX = 2_147_483_647;
const INT4_MIN = -INT4_MAX - 1;

const validId = validator("param", ({ id }, c) => {
  const value = readInteger(id, INT4_MIN, INT4_MAX);
  return Number.isNaN(value) ? c.text("Bad Request", 400) : value;
});

const validList = validator("query", ({ category, page, limit }, c) => {
  const list = {
    category,
    page: readInteger(page, 1, INT4_MAX),
    limit: readInteger(limit, 1, 50),
  };
  const valid = typeof category === "string" && list.page && list.limit;
  return valid ? list : c.text("Bad Request", 400);
});

const validItem = validator(
  "json",
  (body, c) => readItem(body) ?? c.text("Bad Request", 400),
);

export function createCrud(sql) {
  const app = new Hono();
  const columns = sql`id, name, category, price, quantity`;

  app.get("/items/:id", validId, async (c) => {
    const [item] = await sql`
      SELECT ${columns} FROM items WHERE id = ${c.req.valid("param")}`;
    return item ? c.json(item) : c.notFound();
  });

  app.get("/items", validList, async (c) => {
    const { category, page, limit } = c.req.valid("query");
    const items = await sql`
      SELECT ${columns} FROM items WHERE category = ${category}
      ORDER BY id LIMIT ${limit} OFFSET ${(page - 1) * limit}`;
    return c.json({ items, page, limit });
  });

  app.post("/items", validItem, async (c) => {
    const [item] = await sql`
      INSERT INTO items ${sql(c.req.valid("json"))} RETURNING ${columns}`;
    return c.json(item, 201);
  });

  app.put("/items/:id", validId, validItem, async (c) => {
    const [item] = await sql`
      UPDATE items SET ${sql(c.req.valid("json"))}
      WHERE id = ${c.req.valid("param")} RETURNING ${columns}`;
    return item ? c.json(item) : c.notFound();
  });

  return app;
}

// Undefined where a member is missing or of another type.
function readItem(body) {
  const { name, category, price, quantity } = body ?? {};
  const texts = [name, category].every((value) => typeof value === "string");
  const numbers = [price, quantity].every(isInt4);
  return texts && numbers ? { name, category, price, quantity } : undefined;
}

function isInt4(value) {
  return Number.isInteger(value) && value >= INT4_MIN && value <= INT4_MAX;
}
