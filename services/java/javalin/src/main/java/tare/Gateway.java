package tare;

import io.javalin.config.RoutesConfig;
import io.javalin.http.BadGatewayResponse;
import io.javalin.http.Context;
import io.javalin.http.NotFoundResponse;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;

/** Passes on what another server answers. */
final class Gateway {

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private final URI upstream;

  Gateway(URI upstream) {
    this.upstream = upstream;
  }

  void register(RoutesConfig routes) {
    routes.get("/gateway/{id}", this::pass);
  }

  private void pass(Context context) throws IOException, InterruptedException {
    String id = URLEncoder.encode(context.pathParam("id"), StandardCharsets.UTF_8);
    HttpRequest request = HttpRequest.newBuilder(upstream.resolve("/items/" + id)).build();
    HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
    if (answer.statusCode() == 404) {
      throw new NotFoundResponse();
    }
    if (answer.statusCode() != 200) {
      throw new BadGatewayResponse();
    }
    Json.Message item = context.jsonMapper().fromJsonString(answer.body(), Json.Message.class);
    item.put("via", "gateway");
    context.json(item);
  }
}
