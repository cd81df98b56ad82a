package tare;

import static spark.Spark.get;
import static spark.Spark.halt;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import spark.Request;
import spark.Response;

/** Passes on what another server answers. */
final class Gateway {

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private final URI upstream;

  Gateway(URI upstream) {
    this.upstream = upstream;
  }

  void register() {
    get("/gateway/:id", this::pass, Json.GSON::toJson);
  }

  private Object pass(Request request, Response response) throws IOException, InterruptedException {
    String id = URLEncoder.encode(request.params("id"), StandardCharsets.UTF_8);
    HttpRequest question = HttpRequest.newBuilder(upstream.resolve("/items/" + id)).build();
    HttpResponse<String> answer = client.send(question, HttpResponse.BodyHandlers.ofString());
    if (answer.statusCode() != 200) {
      halt(answer.statusCode() == 404 ? 404 : 502);
    }
    JsonObject item = Json.GSON.fromJson(answer.body(), JsonObject.class);
    item.addProperty("via", "gateway");
    response.type(Json.TYPE);
    return item;
  }
}
