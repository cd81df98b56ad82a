import Negotiator from "negotiator";
import { readInteger } from "./integer.js";

const ENCODINGS = ["br", "gzip", "identity"];

export function addRoutes(patterns, products) {
  // Undefined where the request is a bad one.
  function compute(query, text) {
    const count = readInteger(text, 1, 50);
    const m = readInteger(query.get("m"), 1, 1_000_000);
    if (!(count && m)) return undefined;

    const items = products.slice(0, count).map((product) => ({
      ...product,
      total: product.price * product.quantity * m,
    }));
    return { items, count };
  }

  function plain(_req, query, text) {
    const answer = compute(query, text);
    return answer ? Response.json(answer) : refuse();
  }

  function compressed(req, query, text) {
    const answer = compute(query, text);
    return answer ? compress(req, Response.json(answer)) : refuse();
  }

  patterns.push([/^GET \/json\/([^/]+)$/, plain]);
  patterns.push([/^GET \/compress\/([^/]+)$/, compressed]);
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
