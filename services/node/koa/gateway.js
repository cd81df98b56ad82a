import Router from "@koa/router";

export function createRouter(upstream) {
  const router = new Router();

  router.get("/gateway/:id", async (ctx) => {
    const id = encodeURIComponent(ctx.params.id);
    const response = await fetch(new URL(`/items/${id}`, upstream));
    if (!response.ok) {
      await response.body?.cancel();
      ctx.throw(response.status === 404 ? 404 : 502);
    }
    ctx.body = { ...(await response.json()), via: "gateway" };
  });

  return router;
}
