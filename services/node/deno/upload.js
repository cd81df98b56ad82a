// Counts a body as it comes. A bad request is read to its end too: an earlier
// answer would reset a stream of HTTP/2.
export async function upload(req) {
  const digits = req.headers.get("X-Offset");
  const offset = /^[0-9]+$/.test(digits) ? Number(digits) : NaN;
  let bytes = 0;
  let byte;
  try {
    for await (const chunk of req.body ?? []) {
      byte ??= chunk[offset - bytes];
      bytes += chunk.length;
    }
  } catch {
    return new Response("The body broke off", { status: 400 });
  }
  if (byte === undefined) {
    return new Response("X-Offset is not in the body", { status: 400 });
  }
  return Response.json({ bytes, byte });
}
