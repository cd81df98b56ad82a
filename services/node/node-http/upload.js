import { answered, sendJson, sendText } from "./answers.js";

// Counts a body as it comes. A bad request is read to its end too: an earlier
// answer would reset a stream of HTTP/2.
export const upload = answered(async (req, res) => {
  const digits = req.headers["x-offset"];
  const offset = /^[0-9]+$/.test(digits) ? Number(digits) : NaN;
  let bytes = 0;
  let byte;
  for await (const chunk of req) {
    byte ??= chunk[offset - bytes];
    bytes += chunk.length;
  }
  if (byte === undefined)
    return sendText(res, 400, "X-Offset is not in the body");
  sendJson(res, { bytes, byte });
});
