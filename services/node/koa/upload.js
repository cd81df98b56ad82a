// Counts a body as it comes. A bad request is read to its end too: an earlier
// answer would reset a stream of HTTP/2.
export async function upload(ctx) {
  const digits = ctx.get("X-Offset");
  const offset = /^[0-9]+$/.test(digits) ? Number(digits) : NaN;
  let bytes = 0;
  let byte;
  for await (const chunk of ctx.req) {
    byte ??= chunk[offset - bytes];
    bytes += chunk.length;
  }
  if (byte === undefined) ctx.throw(400);
  ctx.body = { bytes, byte };
}
