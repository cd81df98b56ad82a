package tare;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.StatusCodes;
import java.io.File;
import java.io.IOException;
import java.util.List;

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
      return new Products(Json.MAPPER.readValue(file, new TypeReference<>() {}));
    } catch (JacksonException e) {
      throw Settings.refuse("DATA_PRODUCTS must be a JSON file of products");
    } catch (IOException e) {
      throw Settings.refuse("DATA_PRODUCTS cannot be read: " + e.getMessage());
    }
  }

  void offer(HttpServerExchange exchange) throws JsonProcessingException {
    int count = Parameters.integer(Parameters.inPath(exchange, "count"));
    int factor = Parameters.integer(Parameters.inQuery(exchange, "m", ""));
    if (count < 1 || count > products.size() || factor < 1 || factor > FACTOR_MAX) {
      exchange.setStatusCode(StatusCodes.BAD_REQUEST).endExchange();
      return;
    }
    List<Offer> offers =
        products.stream().limit(count).map(product -> Offer.of(product, factor)).toList();
    Json.send(exchange, new Offers(offers, count));
  }
}
