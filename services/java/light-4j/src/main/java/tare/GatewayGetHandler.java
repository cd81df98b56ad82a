package tare;

import com.fasterxml.jackson.core.type.TypeReference;
import com.networknt.config.Config;
import com.networknt.handler.LightHttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.SameThreadExecutor;
import io.undertow.util.StatusCodes;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** Passes on what another server answers, without holding a thread while it waits. */
public final class GatewayGetHandler implements LightHttpHandler {

  private static final TypeReference<Map<String, Object>> OBJECT = new TypeReference<>() {};

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private final URI upstream = Backings.fromEnvironment().upstream();

  @Override
  public void handleRequest(HttpServerExchange exchange) {
    if (upstream == null) {
      exchange.setStatusCode(StatusCodes.NOT_FOUND).endExchange();
      return;
    }
    String text = exchange.getQueryParameters().get("id").getFirst();
    String id = URLEncoder.encode(text, StandardCharsets.UTF_8);
    HttpRequest request = HttpRequest.newBuilder(upstream.resolve("/items/" + id)).build();
    exchange.dispatch(
        SameThreadExecutor.INSTANCE,
        () ->
            client
                .sendAsync(request, HttpResponse.BodyHandlers.ofByteArray())
                .whenComplete((answer, failure) -> answer(exchange, answer)));
  }

  /** Without an answer there was a failure. */
  private static void answer(HttpServerExchange exchange, HttpResponse<byte[]> answer) {
    if (answer != null && answer.statusCode() == StatusCodes.NOT_FOUND) {
      exchange.setStatusCode(StatusCodes.NOT_FOUND).endExchange();
      return;
    }
    if (answer == null || answer.statusCode() != StatusCodes.OK) {
      exchange.setStatusCode(StatusCodes.BAD_GATEWAY).endExchange();
      return;
    }
    try {
      Map<String, Object> item = Config.getInstance().getMapper().readValue(answer.body(), OBJECT);
      item.put("via", "gateway");
      Responses.json(exchange, item);
    } catch (IOException e) {
      exchange.setStatusCode(StatusCodes.BAD_GATEWAY).endExchange();
    }
  }
}
