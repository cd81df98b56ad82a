import Router from "@koa/router";

export function createRouter(upstream) {
  const router = new Router();

  router.get("/gateway/:id", async (ctx) => {
    const id = encodeURIComponent(ctx.params.id);
    const response = await fetch(new URL(`/items/${id}`, upstream));
    if (response.ok) {
      ctx.body = { ...(await response.json()), via: "gateway" };
      return;
    }
    await response.body?.cancel();
    // Without a body Koa answers 404 by itself.
    if (response.status !== 404) ctx.throw(502);
  });

  return router;
}
