export function sendText(res, status, text) {
  res.statusCode = status;
  res.setHeader("Content-Type", "text/plain; charset=utf-8");
  res.end(text);
}

export function sendJson(res, value, status = 200) {
  res.statusCode = status;
  res.setHeader("Content-Type", "application/json");
  res.end(JSON.stringify(value));
}

// For handlers that wait for others: what they throw is answered.
export function answered(handler) {
  return async (req, res, ...rest) => {
    try {
      await handler(req, res, ...rest);
    } catch (error) {
      // A client that has gone during its upload is neither answered nor logged.
      if (req.errored) return;
      console.error(error);
      sendText(res, 500, "Internal Server Error");
    }
  };
}
