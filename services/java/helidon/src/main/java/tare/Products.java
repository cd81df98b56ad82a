package tare;

import io.helidon.json.JsonArray;
import io.helidon.json.JsonException;
import io.helidon.json.JsonObject;
import io.helidon.json.JsonParser;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;

/** The first products of a file, each with what so many of it cost. */
final class Products implements HttpService {

  private static final int FACTOR_MAX = 1_000_000;

  private final List<JsonObject> products;

  private Products(List<JsonObject> products) {
    this.products = products;
  }

  static Products read(File file) {
    try {
      JsonArray products = JsonParser.create(Files.readAllBytes(file.toPath())).readJsonArray();
      return new Products(products.values().stream().map(JsonObject.class::cast).toList());
    } catch (IOException | JsonException | ClassCastException e) {
      throw Settings.refuse("DATA_PRODUCTS must be a JSON file of products");
    }
  }

  @Override
  public void routing(HttpRules rules) {
    rules.get("/{count}", this::offers);
  }

  private void offers(ServerRequest request, ServerResponse response) {
    String countText = request.path().pathParameters().get("count");
    int count = Parameters.integer("count", countText, 1, products.size());
    int factor = Parameters.integer("m", request.query().first("m").orElse(null), 1, FACTOR_MAX);
    List<JsonObject> items =
        products.stream().limit(count).map(product -> offer(product, factor)).toList();
    response.send(
        JsonObject.builder().set("items", JsonArray.create(items)).set("count", count).build());
  }

  private static JsonObject offer(JsonObject product, int factor) {
    long total = product.longValue("price", 0) * product.longValue("quantity", 0) * factor;
    return JsonObject.builder().from(product).set("total", total).build();
  }
}
