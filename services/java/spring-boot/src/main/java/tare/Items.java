package tare;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Optional;
import org.springframework.context.annotation.Profile;
import org.springframework.http.HttpStatus;
import org.springframework.jdbc.core.simple.JdbcClient;
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

  private final JdbcClient client;

  Items(JdbcClient client) {
    this.client = client;
  }

  @GetMapping("/{id}")
  Item read(@PathVariable int id) {
    return found(
        client
            .sql("SELECT id, name, category, price, quantity FROM items WHERE id = :id")
            .param("id", id)
            .query(Item.class)
            .optional());
  }

  @GetMapping
  Page list(@RequestParam String category, @RequestParam int page, @RequestParam int limit) {
    if (page < 1 || limit < 1 || limit > LIMIT_MAX) {
      throw new ResponseStatusException(HttpStatus.BAD_REQUEST);
    }
    List<Item> items =
        client
            .sql(
                """
                SELECT id, name, category, price, quantity FROM items
                WHERE category = :category ORDER BY id LIMIT :limit OFFSET :offset
                """)
            .param("category", category)
            .param("limit", limit)
            .param("offset", (page - 1L) * limit)
            .query(Item.class)
            .list();
    return new Page(items, page, limit);
  }

  @PostMapping
  @ResponseStatus(HttpStatus.CREATED)
  Item create(@RequestBody Fields fields) {
    return client
        .sql(
            """
            INSERT INTO items (name, category, price, quantity)
            VALUES (:name, :category, :price, :quantity)
            RETURNING id, name, category, price, quantity
            """)
        .paramSource(fields)
        .query(Item.class)
        .single();
  }

  @PutMapping("/{id}")
  Item update(@PathVariable int id, @RequestBody Fields fields) {
    return found(
        client
            .sql(
                """
                UPDATE items
                SET name = :name, category = :category, price = :price, quantity = :quantity
                WHERE id = :id
                RETURNING id, name, category, price, quantity
                """)
            .param("id", id)
            .param("name", fields.name())
            .param("category", fields.category())
            .param("price", fields.price())
            .param("quantity", fields.quantity())
            .query(Item.class)
            .optional());
  }

  private static Item found(Optional<Item> item) {
    return item.orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND));
  }
}
