// Express as it was weighed in 2019. The removed `Connection` is the mistake
// that it is kept for: see the README.

const express = require("express");
const { readSettings } = require("./settings.js");

if (process.argv.length === 3 && process.argv[2] === "--version") {
  console.log(require("express/package.json").version);
  process.exit();
}

const { port, serveOn } = readSettings();
const app = express();

app.get("/", (req, res) => {
  res.removeHeader("X-Powered-By");
  res.removeHeader("Connection");
  res.end("Hello World!");
});

const server = app.listen(port, serveOn);
server.on("error", (error) => {
  console.error(`cannot listen on ${serveOn}:${port}: ${error.code}`);
  process.exit(1);
});

process.on("SIGTERM", () => process.exit());
