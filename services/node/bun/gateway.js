export function createRoutes(upstream) {
  async function gateway(req) {
    const id = encodeURIComponent(req.params.id);
    const response = await fetch(new URL(`/items/${id}`, upstream));
    if (!response.ok) {
      await response.body?.cancel();
      const status = response.status === 404 ? 404 : 502;
      return new Response(`upstream: ${response.status}`, { status });
    }
    return Response.json({ ...(await response.json()), via: "gateway" });
  }

  return { "/gateway/:id": { GET: gateway } };
}
