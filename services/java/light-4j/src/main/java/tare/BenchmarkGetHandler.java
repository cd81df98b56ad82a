package tare;

import com.networknt.handler.LightHttpHandler;
import io.undertow.server.HttpServerExchange;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

public final class BenchmarkGetHandler implements LightHttpHandler {

  private static final int COUNT_DEFAULT = 10_000;
  private static final int COUNT_MAX = 1_000_000;

  @Override
  public void handleRequest(HttpServerExchange exchange) throws Exception {
    int count = parseCount(exchange.getQueryParameters().get("count"));
    if (count < 0 || count > COUNT_MAX) {
      exchange.setStatusCode(400).endExchange();
      return;
    }
    List<String> strings = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      strings.add("Index " + i);
    }
    Responses.json(exchange, strings.subList(0, Math.min(10, count)));
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
}
