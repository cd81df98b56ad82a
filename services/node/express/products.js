import compression from "compression";
import { Router } from "express";
import { readInteger } from "./integer.js";

export function createRouter(products) {
  const router = Router();

  function answer(req, res) {
    const count = readInteger(req.params.count, 1, 50);
    const m = readInteger(req.query.m, 1, 1_000_000);
    if (!(count && m)) return res.sendStatus(400);

    const items = products.slice(0, count).map((product) => ({
      ...product,
      total: product.price * product.quantity * m,
    }));
    res.json({ items, count });
  }

  router.get("/json/:count", answer);
  router.get("/compress/:count", compression({ threshold: 200 }), answer);

  return router;
}
