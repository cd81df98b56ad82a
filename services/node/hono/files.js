import { serveStatic } from "@hono/node-server/serve-static";

const PREFIX = "/static";

export function serveFiles(root) {
  const rewriteRequestPath = (path) => path.slice(PREFIX.length);
  return serveStatic({ root, rewriteRequestPath });
}
