package tare;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.undertow.Handlers;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.server.RoutingHandler;
import io.undertow.server.handlers.BlockingHandler;
import io.undertow.server.handlers.encoding.ContentEncodingRepository;
import io.undertow.server.handlers.encoding.EncodingHandler;
import io.undertow.server.handlers.encoding.GzipEncodingProvider;
import io.undertow.server.handlers.resource.PathResourceManager;
import io.undertow.util.Headers;
import io.undertow.util.StatusCodes;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Answers requests: those of a known path here, others by Undertow itself. */
final class Routes {

  private static final String COUNT_DEFAULT = "10000";
  private static final int COUNT_MAX = 1_000_000;
  private final int delayMs;
  private final Backings backings;

  Routes(int delayMs, Backings backings) {
    this.delayMs = delayMs;
    this.backings = backings;
  }

  HttpHandler handler() {
    // What sleeps has to leave the I/O thread; nothing else here blocks.
    HttpHandler echo = delayMs > 0 ? new BlockingHandler(this::echo) : this::echo;
    RoutingHandler routes = Handlers.routing();
    routes
        .get("/", exchange -> text(exchange, "Hello world!"))
        .get("/api/test", exchange -> text(exchange, "Hello, World!"))
        .post("/test", echo)
        .get("/test/status", exchange -> text(exchange, "OK"))
        .get("/test/labels/{label}", Routes::label)
        .get("/framework", exchange -> Json.send(exchange, Map.of("Hello", "world")))
        .get("/benchmark", Routes::benchmark)
        .post("/upload", Upload::receive);
    return withBackings(routes);
  }

  private HttpHandler withBackings(RoutingHandler routes) {
    if (backings.products() != null) {
      Products products = Products.read(backings.products());
      routes.get("/json/{count}", products::offer);
      routes.get("/compress/{count}", compressed(products::offer));
    }
    if (backings.upstream() != null) {
      routes.get("/gateway/{id}", new Gateway(backings.upstream())::pass);
    }
    if (backings.folder() != null) {
      var files = Handlers.resource(new PathResourceManager(backings.folder().toPath()));
      return Handlers.path(routes).addPrefixPath("/static", files);
    }
    return routes;
  }

  private static HttpHandler compressed(HttpHandler handler) {
    var encodings = new ContentEncodingRepository();
    encodings.addEncodingHandler("gzip", new GzipEncodingProvider(), 100);
    return new EncodingHandler(handler, encodings);
  }

  private void echo(HttpServerExchange exchange) {
    exchange.getRequestReceiver().receiveFullBytes(this::echo);
  }

  private void echo(HttpServerExchange exchange, byte[] body) {
    try {
      Map<String, Object> message = Json.MAPPER.readValue(body, Json.OBJECT);
      if (message == null) {
        refuse(exchange);
        return;
      }
      if (delayMs > 0) {
        Thread.sleep(delayMs);
      }
      message.put("text", "received");
      Json.send(exchange, message);
    } catch (IOException e) {
      refuse(exchange);
    } catch (InterruptedException e) {
      // The server has been stopped; what is in its delay then is not answered.
      exchange.setStatusCode(StatusCodes.SERVICE_UNAVAILABLE).endExchange();
    }
  }

  private static void label(HttpServerExchange exchange) {
    text(exchange, Parameters.inPath(exchange, "label"));
  }

  private static void benchmark(HttpServerExchange exchange) throws JsonProcessingException {
    int count = Parameters.integer(Parameters.inQuery(exchange, "count", COUNT_DEFAULT));
    if (count < 0 || count > COUNT_MAX) {
      refuse(exchange);
      return;
    }
    List<String> strings = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      strings.add("Index " + i);
    }
    Json.send(exchange, strings.subList(0, Math.min(10, count)));
  }

  private static void text(HttpServerExchange exchange, String text) {
    exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "text/plain; charset=utf-8");
    exchange.getResponseSender().send(text);
  }

  private static void refuse(HttpServerExchange exchange) {
    exchange.setStatusCode(StatusCodes.BAD_REQUEST).endExchange();
  }
}
