// Counts a body as it comes. A bad request is read to its end too.
export async function upload(req, res) {
  const digits = req.get("X-Offset");
  const offset = /^[0-9]+$/.test(digits) ? Number(digits) : NaN;
  let bytes = 0;
  let byte;
  for await (const chunk of req) {
    byte ??= chunk[offset - bytes];
    bytes += chunk.length;
  }
  if (byte === undefined) return res.sendStatus(400);
  res.json({ bytes, byte });
}
