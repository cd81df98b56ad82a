import { pipeline } from "node:stream";
import { constants, createBrotliCompress, createGzip } from "node:zlib";
import Negotiator from "negotiator";
import { sendJson, sendText } from "./answers.js";
import { readInteger } from "./integer.js";

const ENCODINGS = ["br", "gzip", "identity"];
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

export function addProducts(patterns, products) {
  // Undefined where the request is a bad one.
  function compute(query, text) {
    const count = readInteger(text, 1, 50);
    const m = readInteger(new URLSearchParams(query).get("m"), 1, 1_000_000);
    if (!(count && m)) return undefined;

    const items = products.slice(0, count).map((product) => ({
      ...product,
      total: product.price * product.quantity * m,
    }));
    return { items, count };
  }

  function plain(req, res, query, text) {
    const answer = compute(query, text);
    if (!answer) return sendText(res, 400, "count is 1 to 50, m a number");
    sendJson(res, answer);
  }

  function compressed(req, res, query, text) {
    const answer = compute(query, text);
    if (!answer) return sendText(res, 400, "count is 1 to 50, m a number");

    res.setHeader("Vary", "Accept-Encoding");
    const options = { preferred: ENCODINGS };
    const encoding = new Negotiator(req).encoding(ENCODINGS, options);
    if (encoding === undefined || encoding === "identity")
      return sendJson(res, answer);

    res.setHeader("Content-Type", "application/json");
    res.setHeader("Content-Encoding", encoding);
    const stream =
      encoding === "br" ? createBrotliCompress(BROTLI) : createGzip();
    // A client that has gone ends the stream, and that is all.
    pipeline(stream, res, () => {});
    stream.end(JSON.stringify(answer));
  }

  patterns.push([/^GET \/json\/([^/]+)$/, plain]);
  patterns.push([/^GET \/compress\/([^/]+)$/, compressed]);
}
