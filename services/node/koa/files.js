import mount from "koa-mount";
import serve from "koa-static";

export function serveFiles(folder) {
  return mount("/static", serve(folder));
}
