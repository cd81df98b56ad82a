import express, { Router } from "express";
import { readInteger } from "./integer.js";

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
  const router = Router();

  async function query(statement, values) {
    const { rows } = await pool.query({ ...statement, values });
    return rows;
  }

  router.get("/items/:id", async (req, res) => {
    const id = readInteger(req.params.id, INT4_MIN, INT4_MAX);
    if (Number.isNaN(id)) return res.sendStatus(400);

    const [item] = await query(read, [id]);
    if (!item) return res.sendStatus(404);
    res.json(item);
  });

  router.get("/items", async (req, res) => {
    const { category } = req.query;
    const page = readInteger(req.query.page, 1, INT4_MAX);
    const limit = readInteger(req.query.limit, 1, 50);
    if (typeof category !== "string" || !(page && limit))
      return res.sendStatus(400);

    const items = await query(list, [category, limit, (page - 1) * limit]);
    res.json({ items, page, limit });
  });

  router.post("/items", express.json(), async (req, res) => {
    const values = readItem(req.body);
    if (!values) return res.sendStatus(400);

    const [item] = await query(create, values);
    res.status(201).json(item);
  });

  router.put("/items/:id", express.json(), async (req, res) => {
    const id = readInteger(req.params.id, INT4_MIN, INT4_MAX);
    const values = readItem(req.body);
    if (Number.isNaN(id) || !values) return res.sendStatus(400);

    const [item] = await query(update, [id, ...values]);
    if (!item) return res.sendStatus(404);
    res.json(item);
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
