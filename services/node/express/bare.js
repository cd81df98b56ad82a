// The answer of the contract `bare`, with no header that can be left out.

// Before Node 20 a removed `Connection` ended the connection after the answer,
// without a word.
const mayOmitConnection = parseInt(process.versions.node) >= 20;

export function sendBare(req, res) {
  if (mayOmitConnection) res.removeHeader("Connection");
  res.end("Hello World!");
}
