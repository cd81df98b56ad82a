package tare;

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
final class Gateway {

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private final URI upstream;

  Gateway(URI upstream) {
    this.upstream = upstream;
  }

  void pass(HttpServerExchange exchange) {
    String id = URLEncoder.encode(Parameters.inPath(exchange, "id"), StandardCharsets.UTF_8);
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
      Map<String, Object> item = Json.MAPPER.readValue(answer.body(), Json.OBJECT);
      item.put("via", "gateway");
      Json.send(exchange, item);
    } catch (IOException e) {
      exchange.setStatusCode(StatusCodes.BAD_GATEWAY).endExchange();
    }
  }
}
