import { HTTPException } from "hono/http-exception";

// Counts a body as it comes. A bad request is read to its end too: an earlier
// answer would reset a stream of HTTP/2.
export async function upload(c) {
  const digits = c.req.header("X-Offset");
  const offset = /^[0-9]+$/.test(digits) ? Number(digits) : NaN;
  let bytes = 0;
  let byte;
  try {
    for await (const chunk of c.req.raw.body ?? []) {
      byte ??= chunk[offset - bytes];
      bytes += chunk.length;
    }
  } catch (cause) {
    throw new HTTPException(400, { message: "The body broke off", cause });
  }
  if (byte === undefined)
    throw new HTTPException(400, { message: "X-Offset is not in the body" });
  return c.json({ bytes, byte });
}
