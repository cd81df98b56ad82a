// Counts a body as it comes, whatever its type and length are.

const schema = {
  response: {
    200: {
      type: "object",
      properties: { bytes: { type: "integer" }, byte: { type: "integer" } },
    },
  },
};

export default async function upload(app) {
  // JSON and plain text would be read whole.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", async (request, payload) => payload);

  // A bad request is read to its end too: an earlier answer would reset a stream
  // of HTTP/2.
  app.post("/upload", { schema }, async (request, reply) => {
    const digits = request.headers["x-offset"];
    const offset = /^[0-9]+$/.test(digits) ? Number(digits) : NaN;
    let bytes = 0;
    let byte;
    for await (const chunk of request.body ?? []) {
      byte ??= chunk[offset - bytes];
      bytes += chunk.length;
    }
    if (byte === undefined)
      return reply.code(400).send({ message: "X-Offset is not in the body" });
    return { bytes, byte };
  });
}
