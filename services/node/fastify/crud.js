import { Ajv } from "ajv";

const INT4_MAX = 2_147_483_647;

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

const int4 = { type: "integer", minimum: -INT4_MAX - 1, maximum: INT4_MAX };
const text = { type: "string" };
const body = {
  type: "object",
  properties: { name: text, category: text, price: int4, quantity: int4 },
  required: ["name", "category", "price", "quantity"],
};
const params = { type: "object", properties: { id: int4 } };
const item = {
  type: "object",
  properties: { id: int4, ...body.properties },
};
const querystring = {
  type: "object",
  properties: {
    category: text,
    page: { ...int4, minimum: 1 },
    limit: { type: "integer", minimum: 1, maximum: 50 },
  },
  required: ["category", "page", "limit"],
};
const items = {
  type: "object",
  properties: {
    items: { type: "array", items: item },
    page: { type: "integer" },
    limit: { type: "integer" },
  },
};

// Paths and queries are text, so their numbers are converted; a number in JSON
// must be one.
const strict = new Ajv();
const converting = new Ajv({ coerceTypes: true });

export default async function crud(app) {
  app.setValidatorCompiler(({ schema, httpPart }) =>
    (httpPart === "body" ? strict : converting).compile(schema),
  );

  async function query(statement, values) {
    const { rows } = await app.pg.query({ ...statement, values });
    return rows;
  }

  app.get(
    "/crud/items/:id",
    { schema: { params, response: { 200: item } } },
    async (request, reply) => {
      const [found] = await query(read, [request.params.id]);
      return found ?? reply.callNotFound();
    },
  );

  app.get(
    "/crud/items",
    { schema: { querystring, response: { 200: items } } },
    async (request) => {
      const { category, page, limit } = request.query;
      const offset = (page - 1) * limit;
      return {
        items: await query(list, [category, limit, offset]),
        page,
        limit,
      };
    },
  );

  app.post(
    "/crud/items",
    { schema: { body, response: { 201: item } } },
    async (request, reply) => {
      const { name, category, price, quantity } = request.body;
      const [created] = await query(create, [name, category, price, quantity]);
      return reply.code(201).send(created);
    },
  );

  app.put(
    "/crud/items/:id",
    { schema: { params, body, response: { 200: item } } },
    async (request, reply) => {
      const { id } = request.params;
      const { name, category, price, quantity } = request.body;
      const values = [id, name, category, price, quantity];
      const [updated] = await query(update, values);
      return updated ?? reply.callNotFound();
    },
  );
}
