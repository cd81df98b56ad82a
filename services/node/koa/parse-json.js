import { bodyParser } from "@koa/bodyparser";

export const parseJson = bodyParser({
  enableTypes: ["json"],
  // An error that is the client's is answered, but not logged with its stack.
  onError: (error, ctx) => ctx.throw(error.status ?? 500, error.message),
});
