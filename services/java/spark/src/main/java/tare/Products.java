package tare;

import static spark.Spark.get;
import static spark.Spark.halt;

import com.google.gson.JsonParseException;
import com.google.gson.reflect.TypeToken;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import spark.Request;
import spark.Response;

/** The first products of a file, each with what so many of it cost. */
final class Products {

  private static final int FACTOR_MAX = 1_000_000;

  private record Rating(int score, int count) {}

  private record Product(
      int id,
      String name,
      String category,
      int price,
      int quantity,
      boolean active,
      List<String> tags,
      Rating rating) {}

  private record Offer(
      int id,
      String name,
      String category,
      int price,
      int quantity,
      boolean active,
      List<String> tags,
      Rating rating,
      long total) {

    static Offer of(Product product, long factor) {
      return new Offer(
          product.id,
          product.name,
          product.category,
          product.price,
          product.quantity,
          product.active,
          product.tags,
          product.rating,
          product.price * product.quantity * factor);
    }
  }

  private record Offers(List<Offer> items, int count) {}

  private final List<Product> products;

  private Products(List<Product> products) {
    this.products = products;
  }

  static Products read(File file) {
    try {
      List<Product> products =
          Json.GSON.fromJson(Files.readString(file.toPath()), new TypeToken<List<Product>>() {});
      return new Products(products);
    } catch (IOException | JsonParseException e) {
      throw Settings.refuse("DATA_PRODUCTS must be a JSON file of products");
    }
  }

  void register() {
    get("/json/:count", this::offers, Json.GSON::toJson);
    get("/compress/:count", this::compressed, Json.GSON::toJson);
  }

  /**
   * Spark compresses what both sides say to be so, and leaves the header where the client does not.
   */
  private Object compressed(Request request, Response response) {
    String accepted = request.headers("Accept-Encoding");
    if (accepted != null && accepted.contains("gzip")) {
      response.header("Content-Encoding", "gzip");
    }
    return offers(request, response);
  }

  private Object offers(Request request, Response response) {
    int count = integer(request.params("count"));
    int factor = integer(request.queryParams("m"));
    if (count < 1 || count > products.size() || factor < 1 || factor > FACTOR_MAX) {
      halt(400);
    }
    List<Offer> offers =
        products.stream().limit(count).map(product -> Offer.of(product, factor)).toList();
    response.type(Json.TYPE);
    return new Offers(offers, count);
  }

  /** What is no integer is 0, and with that refused. */
  private static int integer(String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      return 0;
    }
  }
}
