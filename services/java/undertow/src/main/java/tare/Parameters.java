package tare;

import io.undertow.server.HttpServerExchange;
import io.undertow.util.PathTemplateMatch;
import java.util.Deque;

/** What is in a path or a query. */
final class Parameters {

  static String inPath(HttpServerExchange exchange, String name) {
    return exchange.getAttachment(PathTemplateMatch.ATTACHMENT_KEY).getParameters().get(name);
  }

  static String inQuery(HttpServerExchange exchange, String name, String fallback) {
    Deque<String> values = exchange.getQueryParameters().get(name);
    return values == null ? fallback : values.getFirst();
  }

  /** What is no integer is -1. */
  static int integer(String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  private Parameters() {}
}
