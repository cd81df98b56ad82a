package tare;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.networknt.config.Config;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;

/** The two types of response that the handlers send. */
final class Responses {

  static void text(HttpServerExchange exchange, String text) {
    exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "text/plain; charset=utf-8");
    exchange.getResponseSender().send(text);
  }

  static void json(HttpServerExchange exchange, Object value) throws JsonProcessingException {
    exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "application/json");
    exchange.getResponseSender().send(Config.getInstance().getMapper().writeValueAsString(value));
  }

  private Responses() {}
}
