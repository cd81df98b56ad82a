import send from "send";

export function addFiles(patterns, root) {
  patterns.push([
    /^GET \/static(\/.*)$/,
    (req, res, query, path) => send(req, path, { root }).pipe(res),
  ]);
}
