package tare;

import io.helidon.http.BadRequestException;
import io.helidon.http.NotFoundException;
import io.helidon.http.Status;
import io.helidon.json.JsonArray;
import io.helidon.json.JsonNumber;
import io.helidon.json.JsonObject;
import io.helidon.json.JsonString;
import io.helidon.json.JsonValue;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** Items of a table: read, listed, created, updated. Each answer takes one statement. */
final class Items implements HttpService {

  private static final int LIMIT_MAX = 50;

  /** What a body says of an item. */
  private record Fields(String name, String category, int price, int quantity) {

    static Fields of(JsonObject body) {
      return new Fields(
          text(body, "name"),
          text(body, "category"),
          integer(body, "price"),
          integer(body, "quantity"));
    }

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

  @Override
  public void routing(HttpRules rules) {
    rules.get("/{id}", this::read).get(this::list).post(this::create).put("/{id}", this::update);
  }

  private void read(ServerRequest request, ServerResponse response) throws SQLException {
    int id = id(request);
    List<JsonObject> items =
        execute(
            "SELECT id, name, category, price, quantity FROM items WHERE id = ?",
            statement -> statement.setInt(1, id));
    response.send(first(items));
  }

  private void list(ServerRequest request, ServerResponse response) throws SQLException {
    String category =
        request
            .query()
            .first("category")
            .orElseThrow(() -> new BadRequestException("category is missing"));
    int page = parameter(request, "page", Integer.MAX_VALUE);
    int limit = parameter(request, "limit", LIMIT_MAX);
    List<JsonObject> items =
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
    response.send(
        JsonObject.builder()
            .set("items", JsonArray.create(items))
            .set("page", page)
            .set("limit", limit)
            .build());
  }

  private void create(ServerRequest request, ServerResponse response) throws SQLException {
    Fields fields = Fields.of(Bodies.object(request));
    List<JsonObject> items =
        execute(
            """
            INSERT INTO items (name, category, price, quantity) VALUES (?, ?, ?, ?)
            RETURNING id, name, category, price, quantity
            """,
            fields::set);
    response.status(Status.CREATED_201).send(first(items));
  }

  private void update(ServerRequest request, ServerResponse response) throws SQLException {
    int id = id(request);
    Fields fields = Fields.of(Bodies.object(request));
    List<JsonObject> items =
        execute(
            """
            UPDATE items SET name = ?, category = ?, price = ?, quantity = ? WHERE id = ?
            RETURNING id, name, category, price, quantity
            """,
            statement -> {
              fields.set(statement);
              statement.setInt(5, id);
            });
    response.send(first(items));
  }

  private interface Setter {
    void set(PreparedStatement statement) throws SQLException;
  }

  private List<JsonObject> execute(String sql, Setter setter) throws SQLException {
    try (Connection connection = pool.getConnection();
        PreparedStatement statement = connection.prepareStatement(sql)) {
      setter.set(statement);
      List<JsonObject> items = new ArrayList<>();
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          items.add(item(rows));
        }
      }
      return items;
    }
  }

  private static JsonObject item(ResultSet rows) throws SQLException {
    return JsonObject.builder()
        .set("id", rows.getInt("id"))
        .set("name", rows.getString("name"))
        .set("category", rows.getString("category"))
        .set("price", rows.getInt("price"))
        .set("quantity", rows.getInt("quantity"))
        .build();
  }

  private static JsonObject first(List<JsonObject> items) {
    if (items.isEmpty()) {
      throw new NotFoundException("there is no such item");
    }
    return items.get(0);
  }

  private static int id(ServerRequest request) {
    String text = request.path().pathParameters().get("id");
    return Parameters.integer("id", text, Integer.MIN_VALUE, Integer.MAX_VALUE);
  }

  private static int parameter(ServerRequest request, String name, int max) {
    return Parameters.integer(name, request.query().first(name).orElse(null), 1, max);
  }

  private static String text(JsonObject body, String name) {
    if (member(body, name) instanceof JsonString text) {
      return text.value();
    }
    throw new BadRequestException(name + " must be a text");
  }

  private static int integer(JsonObject body, String name) {
    try {
      if (member(body, name) instanceof JsonNumber number) {
        return number.bigDecimalValue().intValueExact();
      }
    } catch (ArithmeticException e) {
      // Answered below: it has a fraction, or is too large.
    }
    throw new BadRequestException(name + " must be an integer");
  }

  private static JsonValue member(JsonObject body, String name) {
    return body.value(name).orElse(null);
  }
}
