package tare;

import io.helidon.http.HttpException;
import io.helidon.http.NotFoundException;
import io.helidon.http.Status;
import io.helidon.json.JsonObject;
import io.helidon.webclient.api.HttpClientResponse;
import io.helidon.webclient.api.WebClient;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.net.URI;

/** Passes on what another server answers. */
final class Gateway implements HttpService {

  private final WebClient client;

  Gateway(URI upstream) {
    client = WebClient.builder().baseUri(upstream).build();
  }

  @Override
  public void routing(HttpRules rules) {
    rules.get("/{id}", this::pass);
  }

  private void pass(ServerRequest request, ServerResponse response) {
    JsonObject item = item(request.path().pathParameters().get("id"));
    response.send(JsonObject.builder().from(item).set("via", "gateway").build());
  }

  private JsonObject item(String id) {
    try (HttpClientResponse answer = client.get("/items/{id}").pathParam("id", id).request()) {
      if (answer.status().equals(Status.NOT_FOUND_404)) {
        throw new NotFoundException("the upstream has no such item");
      }
      if (!answer.status().equals(Status.OK_200)) {
        throw new HttpException("the upstream refuses", Status.BAD_GATEWAY_502);
      }
      return answer.entity().as(JsonObject.class);
    }
  }
}
