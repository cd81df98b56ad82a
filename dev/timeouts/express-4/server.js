import express from "express";

const app = express();

app.get("/", (req, res) => {
  res.type("text/plain").send("Hello world!");
});

app.listen(process.env.PORT, "127.0.0.1");
