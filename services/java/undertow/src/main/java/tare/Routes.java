package tare;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.undertow.Handlers;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.server.handlers.BlockingHandler;
import io.undertow.util.Headers;
import io.undertow.util.PathTemplateMatch;
import io.undertow.util.StatusCodes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;

/** Answers requests: those of a known path here, others by Undertow itself. */
final class Routes {

  private static final int COUNT_DEFAULT = 10_000;
  private static final int COUNT_MAX = 1_000_000;
  private static final TypeReference<Map<String, Object>> OBJECT = new TypeReference<>() {};

  private static final ObjectMapper MAPPER =
      JsonMapper.builder()
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  private final int delayMs;

  Routes(int delayMs) {
    this.delayMs = delayMs;
  }

  HttpHandler handler() {
    // What sleeps has to leave the I/O thread; nothing else here blocks.
    HttpHandler echo = delayMs > 0 ? new BlockingHandler(this::echo) : this::echo;
    return Handlers.routing()
        .get("/", exchange -> text(exchange, "Hello world!"))
        .get("/api/test", exchange -> text(exchange, "Hello, World!"))
        .post("/test", echo)
        .get("/test/status", exchange -> text(exchange, "OK"))
        .get("/test/labels/{label}", Routes::label)
        .get("/framework", exchange -> json(exchange, Map.of("Hello", "world")))
        .get("/benchmark", Routes::benchmark);
  }

  private void echo(HttpServerExchange exchange) {
    exchange.getRequestReceiver().receiveFullBytes(this::echo);
  }

  private void echo(HttpServerExchange exchange, byte[] body) {
    try {
      Map<String, Object> message = MAPPER.readValue(body, OBJECT);
      if (message == null) {
        refuse(exchange);
        return;
      }
      if (delayMs > 0) {
        Thread.sleep(delayMs);
      }
      message.put("text", "received");
      json(exchange, message);
    } catch (IOException e) {
      refuse(exchange);
    } catch (InterruptedException e) {
      // The server has been stopped; what is in its delay then is not answered.
      exchange.setStatusCode(StatusCodes.SERVICE_UNAVAILABLE).endExchange();
    }
  }

  private static void label(HttpServerExchange exchange) {
    PathTemplateMatch match = exchange.getAttachment(PathTemplateMatch.ATTACHMENT_KEY);
    text(exchange, match.getParameters().get("label"));
  }

  private static void benchmark(HttpServerExchange exchange) throws JsonProcessingException {
    int count = parseCount(exchange.getQueryParameters().get("count"));
    if (count < 0 || count > COUNT_MAX) {
      refuse(exchange);
      return;
    }
    List<String> strings = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      strings.add("Index " + i);
    }
    json(exchange, strings.subList(0, Math.min(10, count)));
  }

  /** What is no integer is -1. */
  private static int parseCount(Deque<String> values) {
    if (values == null) {
      return COUNT_DEFAULT;
    }
    try {
      return Integer.parseInt(values.getFirst());
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  private static void text(HttpServerExchange exchange, String text) {
    exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "text/plain; charset=utf-8");
    exchange.getResponseSender().send(text);
  }

  private static void json(HttpServerExchange exchange, Object value)
      throws JsonProcessingException {
    exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "application/json");
    exchange.getResponseSender().send(ByteBuffer.wrap(MAPPER.writeValueAsBytes(value)));
  }

  private static void refuse(HttpServerExchange exchange) {
    exchange.setStatusCode(StatusCodes.BAD_REQUEST).endExchange();
  }
}
