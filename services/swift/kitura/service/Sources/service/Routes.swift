import Kitura

private let countMax = 1_000_000

func routes(_ settings: Settings) -> Router {
  let router = Router(enableWelcomePage: false)
  router.get("/") { _, response, next in
    send("Hello world!", to: response)
    next()
  }
  router.get("/api/test") { _, response, next in
    send("Hello, World!", to: response)
    next()
  }

  router.post("/test", middleware: BodyParser())
  router.post("/test", handler: echo(settings))
  router.get("/test/status") { _, response, next in
    send("OK", to: response)
    next()
  }
  router.get("/test/labels/:label") { request, response, next in
    send(request.parameters["label"] ?? "", to: response)
    next()
  }

  router.get("/framework") { _, response, next in
    response.send(json: ["Hello": "world"])
    next()
  }
  router.get("/benchmark", handler: benchmark)
  return router
}

/// Answers the object it is sent with the member "text" added.
private func echo(_ settings: Settings) -> RouterHandler {
  let delay =
    settings.delayMs > 0 ? Delay(milliseconds: settings.delayMs, slots: settings.threads) : nil
  return { request, response, next in
    guard var message = request.body?.asJSON else {
      response.status(.badRequest)
      send("the body is no JSON object", to: response)
      return next()
    }
    message["text"] = "received"
    let answer = {
      response.send(json: message)
      next()
    }
    if let delay {
      delay.run(answer)
    } else {
      answer()
    }
  }
}

private func benchmark(request: RouterRequest, response: RouterResponse, next: () -> Void) {
  guard let count = Int(request.queryParameters["count"] ?? "10000"), 0...countMax ~= count else {
    response.status(.badRequest)
    send("count must be an integer from 0 to \(countMax)", to: response)
    return next()
  }
  let strings = (0..<count).map { "Index \($0)" }
  response.send(json: Array(strings.prefix(10)))
  next()
}

private func send(_ text: String, to response: RouterResponse) {
  response.headers.setType("txt", charset: "utf-8")
  response.send(text)
}
