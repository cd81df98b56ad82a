package tare;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.javalin.http.HttpStatus;
import io.javalin.http.NotFoundResponse;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** Items of a table: read, listed, created, updated. Each answer takes one statement. */
final class Items {

  private static final int LIMIT_MAX = 50;

  private record Item(int id, String name, String category, int price, int quantity) {}

  private record Page(List<Item> items, int page, int limit) {}

  /** What a body says of an item. */
  private record Fields(
      @JsonProperty(required = true) String name,
      @JsonProperty(required = true) String category,
      @JsonProperty(required = true) int price,
      @JsonProperty(required = true) int quantity) {

    void set(PreparedStatement statement) throws SQLException {
      statement.setString(1, name);
      statement.setString(2, category);
      statement.setInt(3, price);
      statement.setInt(4, quantity);
    }
  }

  private final DataSource pool;

  Items(DataSource pool) {
    this.pool = pool;
  }

  void register(RoutesConfig routes) {
    routes
        .get("/crud/items/{id}", this::read)
        .get("/crud/items", this::list)
        .post("/crud/items", this::create)
        .put("/crud/items/{id}", this::update);
  }

  private void read(Context context) throws SQLException {
    int id = id(context);
    List<Item> items =
        execute(
            "SELECT id, name, category, price, quantity FROM items WHERE id = ?",
            statement -> statement.setInt(1, id));
    context.json(first(items));
  }

  private void list(Context context) throws SQLException {
    String category = context.queryParamAsClass("category", String.class).get();
    int page =
        context
            .queryParamAsClass("page", Integer.class)
            .check(n -> n != null && n >= 1, "is 1 or more")
            .get();
    int limit =
        context
            .queryParamAsClass("limit", Integer.class)
            .check(n -> n != null && n >= 1 && n <= LIMIT_MAX, "is 1 to " + LIMIT_MAX)
            .get();
    List<Item> items =
        execute(
            """
            SELECT id, name, category, price, quantity FROM items
            WHERE category = ? ORDER BY id LIMIT ? OFFSET ?
            """,
            statement -> {
              statement.setString(1, category);
              statement.setInt(2, limit);
              statement.setLong(3, (page - 1L) * limit);
            });
    context.json(new Page(items, page, limit));
  }

  private void create(Context context) throws SQLException {
    Fields fields = context.bodyValidator(Fields.class).get();
    List<Item> items =
        execute(
            """
            INSERT INTO items (name, category, price, quantity) VALUES (?, ?, ?, ?)
            RETURNING id, name, category, price, quantity
            """,
            fields::set);
    context.status(HttpStatus.CREATED).json(first(items));
  }

  private void update(Context context) throws SQLException {
    int id = id(context);
    Fields fields = context.bodyValidator(Fields.class).get();
    List<Item> items =
        execute(
            """
            UPDATE items SET name = ?, category = ?, price = ?, quantity = ? WHERE id = ?
            RETURNING id, name, category, price, quantity
            """,
            statement -> {
              fields.set(statement);
              statement.setInt(5, id);
            });
    context.json(first(items));
  }

  private interface Setter {
    void set(PreparedStatement statement) throws SQLException;
  }

  private List<Item> execute(String sql, Setter setter) throws SQLException {
    try (Connection connection = pool.getConnection();
        PreparedStatement statement = connection.prepareStatement(sql)) {
      setter.set(statement);
      List<Item> items = new ArrayList<>();
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          items.add(item(rows));
        }
      }
      return items;
    }
  }

  private static Item item(ResultSet rows) throws SQLException {
    return new Item(
        rows.getInt("id"),
        rows.getString("name"),
        rows.getString("category"),
        rows.getInt("price"),
        rows.getInt("quantity"));
  }

  private static Item first(List<Item> items) {
    if (items.isEmpty()) {
      throw new NotFoundResponse();
    }
    return items.get(0);
  }

  private static int id(Context context) {
    return context.pathParamAsClass("id", Integer.class).get();
  }
}
