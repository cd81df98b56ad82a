import Router from "@koa/router";
import { readInteger } from "./integer.js";
import { parseJson } from "./parse-json.js";

const INT4_MAX = 2_147_483_647;
const INT4_MIN = -INT4_MAX - 1;

// A statement with a name is prepared once for each connection.
const read = {
  name: "read-item",
  text: "SELECT id, name, category, price, quantity FROM items WHERE id = $1",
};
const list = {
  name: "list-items",
  text: `SELECT id, name, category, price, quantity FROM items
    WHERE category = $1 ORDER BY id LIMIT $2 OFFSET $3`,
};
const create = {
  name: "create-item",
  text: `INSERT INTO items (name, category, price, quantity)
    VALUES ($1, $2, $3, $4) RETURNING id, name, category, price, quantity`,
};
const update = {
  name: "update-item",
  text: `UPDATE items SET name = $2, category = $3, price = $4, quantity = $5
    WHERE id = $1 RETURNING id, name, category, price, quantity`,
};

export function createRouter(pool) {
  const router = new Router({ prefix: "/crud" });

  async function query(statement, values) {
    const { rows } = await pool.query({ ...statement, values });
    return rows;
  }

  router.get("/items/:id", async (ctx) => {
    const id = readInteger(ctx.params.id, INT4_MIN, INT4_MAX);
    if (Number.isNaN(id)) ctx.throw(400);

    const [item] = await query(read, [id]);
    // Without a body Koa answers 404 by itself.
    if (item) ctx.body = item;
  });

  router.get("/items", async (ctx) => {
    const { category } = ctx.query;
    const page = readInteger(ctx.query.page, 1, INT4_MAX);
    const limit = readInteger(ctx.query.limit, 1, 50);
    if (typeof category !== "string" || !(page && limit)) ctx.throw(400);

    const items = await query(list, [category, limit, (page - 1) * limit]);
    ctx.body = { items, page, limit };
  });

  router.post("/items", parseJson, async (ctx) => {
    const values = readItem(ctx.request.body);
    if (!values) ctx.throw(400);

    const [item] = await query(create, values);
    ctx.status = 201;
    ctx.body = item;
  });

  router.put("/items/:id", parseJson, async (ctx) => {
    const id = readInteger(ctx.params.id, INT4_MIN, INT4_MAX);
    const values = readItem(ctx.request.body);
    if (Number.isNaN(id) || !values) ctx.throw(400);

    const [item] = await query(update, [id, ...values]);
    if (item) ctx.body = item;
  });

  return router;
}

// Undefined where a member is missing or of another type.
function readItem(body) {
  const { name, category, price, quantity } = body ?? {};
  const texts = [name, category].every((value) => typeof value === "string");
  const numbers = [price, quantity].every(isInt4);
  return texts && numbers ? [name, category, price, quantity] : undefined;
}

function isInt4(value) {
  return Number.isInteger(value) && value >= INT4_MIN && value <= INT4_MAX;
}
