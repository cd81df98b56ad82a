package tare;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import org.springframework.context.annotation.Profile;
import org.springframework.http.HttpStatus;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import reactor.core.publisher.Mono;

/** Items of a table: read, listed, created, updated. Each answer takes one statement. */
@RestController
@RequestMapping("/crud/items")
@Profile("database")
class Items {

  private static final int LIMIT_MAX = 50;

  record Item(int id, String name, String category, int price, int quantity) {}

  record Fields(
      @JsonProperty(required = true) String name,
      @JsonProperty(required = true) String category,
      @JsonProperty(required = true) int price,
      @JsonProperty(required = true) int quantity) {}

  record Page(List<Item> items, int page, int limit) {}

  private final DatabaseClient client;

  Items(DatabaseClient client) {
    this.client = client;
  }

  @GetMapping("/{id}")
  Mono<Item> read(@PathVariable int id) {
    return client
        .sql("SELECT id, name, category, price, quantity FROM items WHERE id = :id")
        .bind("id", id)
        .mapProperties(Item.class)
        .one()
        .switchIfEmpty(notFound());
  }

  @GetMapping
  Mono<Page> list(@RequestParam String category, @RequestParam int page, @RequestParam int limit) {
    if (page < 1 || limit < 1 || limit > LIMIT_MAX) {
      throw new ResponseStatusException(HttpStatus.BAD_REQUEST);
    }
    return client
        .sql(
            """
            SELECT id, name, category, price, quantity FROM items
            WHERE category = :category ORDER BY id LIMIT :limit OFFSET :offset
            """)
        .bind("category", category)
        .bind("limit", limit)
        .bind("offset", (page - 1L) * limit)
        .mapProperties(Item.class)
        .all()
        .collectList()
        .map(items -> new Page(items, page, limit));
  }

  @PostMapping
  @ResponseStatus(HttpStatus.CREATED)
  Mono<Item> create(@RequestBody Fields fields) {
    return client
        .sql(
            """
            INSERT INTO items (name, category, price, quantity)
            VALUES (:name, :category, :price, :quantity)
            RETURNING id, name, category, price, quantity
            """)
        .bindProperties(fields)
        .mapProperties(Item.class)
        .one();
  }

  @PutMapping("/{id}")
  Mono<Item> update(@PathVariable int id, @RequestBody Fields fields) {
    return client
        .sql(
            """
            UPDATE items
            SET name = :name, category = :category, price = :price, quantity = :quantity
            WHERE id = :id
            RETURNING id, name, category, price, quantity
            """)
        .bindProperties(fields)
        .bind("id", id)
        .mapProperties(Item.class)
        .one()
        .switchIfEmpty(notFound());
  }

  private static <T> Mono<T> notFound() {
    return Mono.error(() -> new ResponseStatusException(HttpStatus.NOT_FOUND));
  }
}
