package tare;

import com.networknt.handler.LightHttpHandler;
import io.undertow.server.HttpServerExchange;

public final class ApiTestGetHandler implements LightHttpHandler {

  @Override
  public void handleRequest(HttpServerExchange exchange) {
    Responses.text(exchange, "Hello, World!");
  }
}
