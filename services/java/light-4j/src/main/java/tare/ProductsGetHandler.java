package tare;

import com.networknt.handler.LightHttpHandler;
import io.undertow.server.HttpServerExchange;
import java.util.Deque;

/** Of {@code /json}, and after the handler that encodes of {@code /compress}. */
public final class ProductsGetHandler implements LightHttpHandler {

  private static final int FACTOR_MAX = 1_000_000;

  private final Products products = Products.fromEnvironment();

  @Override
  public void handleRequest(HttpServerExchange exchange) throws Exception {
    if (products.size() == 0) {
      exchange.setStatusCode(404).endExchange();
      return;
    }
    int count = integer(exchange.getQueryParameters().get("count"));
    int factor = integer(exchange.getQueryParameters().get("m"));
    if (count < 1 || count > products.size() || factor < 1 || factor > FACTOR_MAX) {
      exchange.setStatusCode(400).endExchange();
      return;
    }
    Responses.json(exchange, products.offers(count, factor));
  }

  /** What is no integer is 0, and with that refused. */
  private static int integer(Deque<String> values) {
    try {
      return values == null ? 0 : Integer.parseInt(values.getFirst());
    } catch (NumberFormatException e) {
      return 0;
    }
  }
}
