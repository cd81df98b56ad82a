import Router from "@koa/router";
import compress from "koa-compress";
import { readInteger } from "./integer.js";

export function createRouter(products) {
  const router = new Router();

  function answer(ctx) {
    const count = readInteger(ctx.params.count, 1, 50);
    const m = readInteger(ctx.query.m, 1, 1_000_000);
    if (!(count && m)) ctx.throw(400);

    const items = products.slice(0, count).map((product) => ({
      ...product,
      total: product.price * product.quantity * m,
    }));
    ctx.body = { items, count };
  }

  router.get("/json/:count", answer);
  router.get("/compress/:count", compress({ threshold: 200 }), answer);

  return router;
}
