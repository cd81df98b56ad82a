package tare;

import com.networknt.body.BodyHandler;
import com.networknt.handler.LightHttpHandler;
import io.undertow.server.HttpServerExchange;
import java.util.Map;

/** Runs after the body handler, and like that on a worker thread, which may sleep. */
public final class TestPostHandler implements LightHttpHandler {

  private static final String BAD_REQUEST = "ERR10015";

  private final int delayMs = Settings.fromEnvironment().delayMs();

  @Override
  @SuppressWarnings("unchecked")
  public void handleRequest(HttpServerExchange exchange) throws Exception {
    if (!(exchange.getAttachment(BodyHandler.REQUEST_BODY) instanceof Map<?, ?> body)) {
      setExchangeStatus(exchange, BAD_REQUEST, "application/json");
      return;
    }
    if (delayMs > 0) {
      Thread.sleep(delayMs);
    }
    Map<String, Object> message = (Map<String, Object>) body;
    message.put("text", "received");
    Responses.json(exchange, message);
  }
}
