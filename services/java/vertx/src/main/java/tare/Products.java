package tare;

import io.vertx.core.Vertx;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.io.File;
import java.util.List;

/** The first products of a file, each with what so many of it cost. */
final class Products {

  private static final int FACTOR_MAX = 1_000_000;

  private final List<JsonObject> products;

  private Products(List<JsonObject> products) {
    this.products = products;
  }

  static Products read(Vertx vertx, File file) {
    try {
      JsonArray products =
          new JsonArray(vertx.fileSystem().readFileBlocking(file.getAbsolutePath()));
      return new Products(products.stream().map(JsonObject.class::cast).toList());
    } catch (DecodeException | ClassCastException e) {
      throw Settings.refuse("DATA_PRODUCTS must be a JSON file of products");
    }
  }

  /** Compression is the server's own, and on with an argument. */
  void register(Router router) {
    router.get("/json/:count").handler(this::offers);
    router.get("/compress/:count").handler(this::offers);
  }

  private void offers(RoutingContext context) {
    int count = parse(context.pathParam("count"));
    int factor = parse(context.request().getParam("m"));
    if (count < 1 || count > products.size() || factor < 1 || factor > FACTOR_MAX) {
      context.fail(400);
      return;
    }
    JsonArray items = new JsonArray();
    for (JsonObject product : products.subList(0, count)) {
      items.add(offer(product, factor));
    }
    context.json(new JsonObject().put("items", items).put("count", count));
  }

  private static JsonObject offer(JsonObject product, long factor) {
    long total = product.getLong("price") * product.getLong("quantity") * factor;
    return product.copy().put("total", total);
  }

  /** What is no integer is 0, and with that refused. */
  private static int parse(String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      return 0;
    }
  }
}
