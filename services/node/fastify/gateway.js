import { Pool } from "undici";

export default async function gateway(app, { settings }) {
  const upstream = new Pool(settings.upstream);
  app.addHook("onClose", () => upstream.destroy());

  app.get("/gateway/:id", async (request, reply) => {
    const id = encodeURIComponent(request.params.id);
    const { statusCode, body } = await upstream.request({
      method: "GET",
      path: `/items/${id}`,
    });
    if (statusCode !== 200) {
      await body.dump();
      if (statusCode === 404) return reply.callNotFound();
      return reply.code(502).send({ message: `upstream: ${statusCode}` });
    }
    return { ...(await body.json()), via: "gateway" };
  });
}
