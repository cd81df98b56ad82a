import { json } from "node:stream/consumers";
import { answered, sendJson, sendText } from "./answers.js";
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

export function addCrud(routes, patterns, pool) {
  async function query(statement, values) {
    const { rows } = await pool.query({ ...statement, values });
    return rows;
  }

  async function readOne(req, res, _, text) {
    const id = readInteger(text, INT4_MIN, INT4_MAX);
    if (Number.isNaN(id)) return sendText(res, 400, "id is an integer");

    const [item] = await query(read, [id]);
    if (!item) return sendText(res, 404, "Not Found");
    sendJson(res, item);
  }

  async function readPage(req, res, search) {
    const params = new URLSearchParams(search);
    const category = params.get("category");
    const page = readInteger(params.get("page"), 1, INT4_MAX);
    const limit = readInteger(params.get("limit"), 1, 50);
    if (category === null || !(page && limit))
      return sendText(res, 400, "category, page and limit are needed");

    const items = await query(list, [category, limit, (page - 1) * limit]);
    sendJson(res, { items, page, limit });
  }

  async function createOne(req, res) {
    const values = await readItem(req);
    if (!values) return sendText(res, 400, "The body is not an item");

    const [item] = await query(create, values);
    sendJson(res, item, 201);
  }

  async function updateOne(req, res, _, text) {
    const id = readInteger(text, INT4_MIN, INT4_MAX);
    const values = await readItem(req);
    if (Number.isNaN(id) || !values)
      return sendText(res, 400, "id is an integer, and the body an item");

    const [item] = await query(update, [id, ...values]);
    if (!item) return sendText(res, 404, "Not Found");
    sendJson(res, item);
  }

  routes.set("GET /crud/items", answered(readPage));
  routes.set("POST /crud/items", answered(createOne));
  patterns.push([/^GET \/crud\/items\/([^/]+)$/, answered(readOne)]);
  patterns.push([/^PUT \/crud\/items\/([^/]+)$/, answered(updateOne)]);
}

// Undefined where it is not JSON, or a member is missing or of another type.
async function readItem(req) {
  let body;
  try {
    body = await json(req);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const { name, category, price, quantity } = body ?? {};
  const texts = [name, category].every((value) => typeof value === "string");
  const numbers = [price, quantity].every(isInt4);
  return texts && numbers ? [name, category, price, quantity] : undefined;
}

function isInt4(value) {
  return Number.isInteger(value) && value >= INT4_MIN && value <= INT4_MAX;
}
