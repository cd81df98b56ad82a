import fastifyCompress from "@fastify/compress";

const product = {
  type: "object",
  properties: {
    id: { type: "integer" },
    name: { type: "string" },
    category: { type: "string" },
    price: { type: "integer" },
    quantity: { type: "integer" },
    active: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
    rating: {
      type: "object",
      properties: { score: { type: "integer" }, count: { type: "integer" } },
    },
    total: { type: "integer" },
  },
};

const schema = {
  params: {
    type: "object",
    properties: { count: { type: "integer", minimum: 1, maximum: 50 } },
  },
  querystring: {
    type: "object",
    properties: { m: { type: "integer", minimum: 1, maximum: 1_000_000 } },
    required: ["m"],
  },
  response: {
    200: {
      type: "object",
      properties: {
        items: { type: "array", items: product },
        count: { type: "integer" },
      },
    },
  },
};

export default async function products(app, { settings }) {
  async function answer(request) {
    const { count } = request.params;
    const { m } = request.query;
    const items = settings.products.slice(0, count).map((product) => ({
      ...product,
      total: product.price * product.quantity * m,
    }));
    return { items, count };
  }

  app.get("/json/:count", { schema }, answer);

  app.register(async (compressed) => {
    await compressed.register(fastifyCompress, { threshold: 200 });
    compressed.get("/compress/:count", { schema }, answer);
  });
}
