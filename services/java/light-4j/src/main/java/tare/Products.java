package tare;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.networknt.config.Config;
import java.io.File;
import java.io.IOException;
import java.util.List;

/** The first products of a file, each with what so many of it cost. */
final class Products {

  record Rating(int score, int count) {}

  record Product(
      int id,
      String name,
      String category,
      int price,
      int quantity,
      boolean active,
      List<String> tags,
      Rating rating) {}

  record Offer(
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

  record Offers(List<Offer> items, int count) {}

  private final List<Product> products;

  private Products(List<Product> products) {
    this.products = products;
  }

  /** Without a file there are no products. */
  static Products fromEnvironment() {
    File file = Backings.fromEnvironment().products();
    if (file == null) {
      return new Products(List.of());
    }
    try {
      return new Products(
          Config.getInstance().getMapper().readValue(file, new TypeReference<>() {}));
    } catch (JacksonException e) {
      throw Settings.refuse("DATA_PRODUCTS must be a JSON file of products");
    } catch (IOException e) {
      throw Settings.refuse("DATA_PRODUCTS cannot be read: " + e.getMessage());
    }
  }

  int size() {
    return products.size();
  }

  Offers offers(int count, int factor) {
    List<Offer> offers =
        products.stream().limit(count).map(product -> Offer.of(product, factor)).toList();
    return new Offers(offers, count);
  }
}
