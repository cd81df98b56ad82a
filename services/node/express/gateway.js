import { Router } from "express";

export function createRouter(upstream) {
  const router = Router();

  router.get("/gateway/:id", async (req, res) => {
    const id = encodeURIComponent(req.params.id);
    const response = await fetch(new URL(`/items/${id}`, upstream));
    if (!response.ok) {
      await response.body?.cancel();
      return res.sendStatus(response.status === 404 ? 404 : 502);
    }
    res.json({ ...(await response.json()), via: "gateway" });
  });

  return router;
}
