import http from "node:http";
import { json } from "node:stream/consumers";
import { answered, sendJson, sendText } from "./answers.js";

export function addGateway(patterns, upstream) {
  const agent = new http.Agent({ keepAlive: true });

  function ask(path) {
    return new Promise((resolve, reject) => {
      const url = new URL(path, upstream);
      http.get(url, { agent }, resolve).on("error", reject);
    });
  }

  async function gateway(req, res, query, id) {
    const response = await ask(`/items/${id}`);
    if (response.statusCode !== 200) {
      response.resume();
      if (response.statusCode === 404) return sendText(res, 404, "Not Found");
      return sendText(res, 502, `upstream: ${response.statusCode}`);
    }
    sendJson(res, { ...(await json(response)), via: "gateway" });
  }

  // A segment of a path is passed on as it was sent.
  patterns.push([/^GET \/gateway\/([^/]+)$/, answered(gateway)]);
}
