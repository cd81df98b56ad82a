import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";

export function createGateway(upstream) {
  const app = new Hono();

  app.get("/gateway/:id", async (c) => {
    const id = encodeURIComponent(c.req.param("id"));
    const response = await fetch(new URL(`/items/${id}`, upstream));
    if (!response.ok) {
      await response.body?.cancel();
      if (response.status === 404) return c.notFound();
      throw new HTTPException(502, { message: `upstream: ${response.status}` });
    }
    return c.json({ ...(await response.json()), via: "gateway" });
  });

  return app;
}
