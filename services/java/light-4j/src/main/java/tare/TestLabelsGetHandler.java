package tare;

import com.networknt.handler.LightHttpHandler;
import io.undertow.server.HttpServerExchange;

public final class TestLabelsGetHandler implements LightHttpHandler {

  @Override
  public void handleRequest(HttpServerExchange exchange) {
    Responses.text(exchange, exchange.getPathParameters().get("label").getFirst());
  }
}
