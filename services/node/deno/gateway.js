export function addRoutes(patterns, upstream) {
  async function gateway(_req, _query, id) {
    const response = await fetch(new URL(`/items/${id}`, upstream));
    if (!response.ok) {
      await response.body?.cancel();
      const status = response.status === 404 ? 404 : 502;
      return new Response(`upstream: ${response.status}`, { status });
    }
    return Response.json({ ...(await response.json()), via: "gateway" });
  }

  // A segment of a path is passed on as it was sent.
  patterns.push([/^GET \/gateway\/([^/]+)$/, gateway]);
}
