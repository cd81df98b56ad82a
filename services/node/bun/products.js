import Negotiator from "negotiator";
import { readInteger } from "./integer.js";

const ENCODINGS = ["br", "gzip", "identity"];

export function createRoutes(products) {
  // Undefined where the request is a bad one.
  function compute(req) {
    const count = readInteger(req.params.count, 1, 50);
    const m = new URL(req.url).searchParams.get("m");
    const factor = readInteger(m, 1, 1_000_000);
    if (!(count && factor)) return undefined;

    const items = products.slice(0, count).map((product) => ({
      ...product,
      total: product.price * product.quantity * factor,
    }));
    return { items, count };
  }

  function plain(req) {
    const answer = compute(req);
    return answer ? Response.json(answer) : refuse();
  }

  function compressed(req) {
    const answer = compute(req);
    return answer ? compress(req, Response.json(answer)) : refuse();
  }

  return {
    "/json/:count": { GET: plain },
    "/compress/:count": { GET: compressed },
  };
}

function compress(req, response) {
  response.headers.set("Vary", "Accept-Encoding");
  const headers = { "accept-encoding": req.headers.get("Accept-Encoding") };
  const negotiator = new Negotiator({ headers });
  const encoding = negotiator.encoding(ENCODINGS, { preferred: ENCODINGS });
  if (encoding === undefined || encoding === "identity") return response;

  response.headers.set("Content-Encoding", encoding);
  const format = encoding === "br" ? "brotli" : encoding;
  const stream = new CompressionStream(format);
  return new Response(response.body.pipeThrough(stream), response);
}

function refuse() {
  return new Response("count is 1 to 50, m a number", { status: 400 });
}
