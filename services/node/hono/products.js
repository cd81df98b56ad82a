import { Hono } from "hono";
import { compress } from "hono/compress";
import { HTTPException } from "hono/http-exception";
import { readInteger } from "./integer.js";

export function createProducts(products) {
  const app = new Hono();

  function answer(c) {
    const count = readInteger(c.req.param("count"), 1, 50);
    const m = readInteger(c.req.query("m"), 1, 1_000_000);
    if (!(count && m))
      throw new HTTPException(400, { message: "count is 1 to 50, m a number" });

    const items = products.slice(0, count).map((product) => ({
      ...product,
      total: product.price * product.quantity * m,
    }));
    return c.json({ items, count });
  }

  app.get("/json/:count", answer);
  app.get("/compress/:count", compress({ threshold: 200 }), answer);

  return app;
}
