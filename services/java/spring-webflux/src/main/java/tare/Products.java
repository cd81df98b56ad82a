package tare;

import java.io.File;
import java.util.List;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Profile;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import tools.jackson.core.JacksonException;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** The first products of a file, each with what so many of it cost. */
@RestController
@Profile("products")
class Products {

  private static final int FACTOR_MAX = 1_000_000;

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

  Products(@Value("${DATA_PRODUCTS}") File file, JsonMapper mapper) {
    try {
      products = mapper.readValue(file, new TypeReference<>() {});
    } catch (JacksonException e) {
      throw new Settings.Invalid("DATA_PRODUCTS must be a JSON file of products");
    }
  }

  /** Compression is the server's own, and on with {@code server.compression.enabled}. */
  @GetMapping({"/json/{count}", "/compress/{count}"})
  Offers offers(@PathVariable int count, @RequestParam("m") int factor) {
    if (count < 1 || count > products.size() || factor < 1 || factor > FACTOR_MAX) {
      throw new ResponseStatusException(HttpStatus.BAD_REQUEST);
    }
    List<Offer> offers =
        products.stream().limit(count).map(product -> Offer.of(product, factor)).toList();
    return new Offers(offers, count);
  }
}
