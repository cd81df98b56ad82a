import { readInteger } from "./integer.js";

const INT4_MAX = 2_147_483_647;
const INT4_MIN = -INT4_MAX - 1;

export function createRoutes(sql) {
  async function read(req) {
    const id = readInteger(req.params.id, INT4_MIN, INT4_MAX);
    if (Number.isNaN(id)) return refuse("id is an integer");

    const [item] = await sql`
      SELECT id, name, category, price, quantity FROM items WHERE id = ${id}`;
    return item ? Response.json(item) : notFound();
  }

  async function list(req) {
    const { searchParams } = new URL(req.url);
    const category = searchParams.get("category");
    const page = readInteger(searchParams.get("page"), 1, INT4_MAX);
    const limit = readInteger(searchParams.get("limit"), 1, 50);
    if (category === null || !(page && limit))
      return refuse("category, page and limit are needed");

    const items = await sql`
      SELECT id, name, category, price, quantity FROM items
      WHERE category = ${category}
      ORDER BY id LIMIT ${limit} OFFSET ${(page - 1) * limit}`;
    return Response.json({ items, page, limit });
  }

  async function create(req) {
    const item = await readItem(req);
    if (!item) return refuse("The body is not an item");

    const [created] = await sql`
      INSERT INTO items ${sql(item)}
      RETURNING id, name, category, price, quantity`;
    return Response.json(created, { status: 201 });
  }

  async function update(req) {
    const id = readInteger(req.params.id, INT4_MIN, INT4_MAX);
    const item = await readItem(req);
    if (Number.isNaN(id) || !item)
      return refuse("id is an integer, and the body an item");

    const [updated] = await sql`
      UPDATE items SET ${sql(item)} WHERE id = ${id}
      RETURNING id, name, category, price, quantity`;
    return updated ? Response.json(updated) : notFound();
  }

  return {
    "/crud/items": { GET: list, POST: create },
    "/crud/items/:id": { GET: read, PUT: update },
  };
}

function refuse(why) {
  return new Response(why, { status: 400 });
}

function notFound() {
  return new Response("Not Found", { status: 404 });
}

// Undefined where it is not JSON, or a member is missing or of another type.
async function readItem(req) {
  let body;
  try {
    body = await req.json();
  } catch {
    return undefined;
  }
  const { name, category, price, quantity } = body ?? {};
  const texts = [name, category].every((value) => typeof value === "string");
  const numbers = [price, quantity].every(isInt4);
  return texts && numbers ? { name, category, price, quantity } : undefined;
}

function isInt4(value) {
  return Number.isInteger(value) && value >= INT4_MIN && value <= INT4_MAX;
}
