package tare;

import com.networknt.handler.LightHttpHandler;
import io.undertow.server.HttpServerExchange;
import java.util.Map;

public final class FrameworkGetHandler implements LightHttpHandler {

  @Override
  public void handleRequest(HttpServerExchange exchange) throws Exception {
    Responses.json(exchange, Map.of("Hello", "world"));
  }
}
