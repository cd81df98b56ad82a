// Counts a body as it comes. A bad request is read to its end too.
export async function upload(req) {
  const digits = req.headers.get("X-Offset");
  const offset = /^[0-9]+$/.test(digits) ? Number(digits) : NaN;
  let bytes = 0;
  let byte;
  for await (const chunk of req.body ?? []) {
    byte ??= chunk[offset - bytes];
    bytes += chunk.length;
  }
  if (byte === undefined)
    return new Response("X-Offset is not in the body", { status: 400 });
  return Response.json({ bytes, byte });
}
