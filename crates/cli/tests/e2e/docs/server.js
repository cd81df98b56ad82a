// A shop: `GET /items/1` and `POST /items`.
const http = require("http");

const server = http.createServer((request, response) => {
  const created = request.method === "POST";
  request.resume().on("end", () => {
    const body = JSON.stringify({ id: 1, name: "a chair" });
    response.writeHead(created ? 201 : 200, {
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(body),
    });
    response.end(body);
  });
});
server.listen(process.env.PORT, "127.0.0.1");
