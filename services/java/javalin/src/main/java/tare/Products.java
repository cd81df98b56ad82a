package tare;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import java.io.File;
import java.io.IOException;
import java.util.List;

/** The first products of a file, each with what so many of it cost. */
final class Products {

  private static final int FACTOR_MAX = 1_000_000;

  /** In bytes; an answer of one product is not much longer. */
  private static final int COMPRESSED_MIN = 100;

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
      return new Products(new ObjectMapper().readValue(file, new TypeReference<>() {}));
    } catch (JacksonException e) {
      throw Settings.refuse("DATA_PRODUCTS must be a JSON file of products");
    } catch (IOException e) {
      throw Settings.refuse("DATA_PRODUCTS cannot be read: " + e.getMessage());
    }
  }

  /** Javalin compresses by default, from a length on. */
  void register(RoutesConfig routes) {
    routes
        .get("/json/{count}", context -> context.disableCompression().json(offers(context)))
        .get(
            "/compress/{count}",
            context -> context.minSizeForCompression(COMPRESSED_MIN).json(offers(context)));
  }

  private Offers offers(Context context) {
    int count =
        context
            .pathParamAsClass("count", Integer.class)
            .check(n -> n != null && n >= 1 && n <= products.size(), "is 1 to " + products.size())
            .get();
    int factor =
        context
            .queryParamAsClass("m", Integer.class)
            .check(n -> n != null && n >= 1 && n <= FACTOR_MAX, "is 1 to " + FACTOR_MAX)
            .get();
    return new Offers(
        products.stream().limit(count).map(product -> Offer.of(product, factor)).toList(), count);
  }
}
