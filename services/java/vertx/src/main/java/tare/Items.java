package tare;

import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;

/** Items of a table: read, listed, created, updated. Each answer takes one statement. */
final class Items {

  private static final int LIMIT_MAX = 50;

  private final Pool pool;

  Items(Pool pool) {
    this.pool = pool;
  }

  void register(Router router) {
    router.get("/crud/items/:id").handler(this::read);
    router.get("/crud/items").handler(this::list);
    // Without uploads, for which the body handler would make a folder.
    router.post("/crud/items").handler(BodyHandler.create(false)).handler(this::create);
    router.put("/crud/items/:id").handler(BodyHandler.create(false)).handler(this::update);
  }

  private void read(RoutingContext context) {
    Integer id = integer(context.pathParam("id"));
    if (id == null) {
      context.fail(400);
      return;
    }
    pool.preparedQuery("SELECT id, name, category, price, quantity FROM items WHERE id = $1")
        .mapping(Row::toJson)
        .execute(Tuple.of(id))
        .onSuccess(rows -> answerFirst(context, rows))
        .onFailure(context::fail);
  }

  private void list(RoutingContext context) {
    String category = context.request().getParam("category");
    Integer page = integer(context.request().getParam("page"));
    Integer limit = integer(context.request().getParam("limit"));
    if (category == null || page == null || page < 1 || !isLimit(limit)) {
      context.fail(400);
      return;
    }
    pool.preparedQuery(
            """
            SELECT id, name, category, price, quantity FROM items
            WHERE category = $1 ORDER BY id LIMIT $2 OFFSET $3
            """)
        .mapping(Row::toJson)
        .execute(Tuple.of(category, (long) limit, (page - 1L) * limit))
        .onSuccess(rows -> answerPage(context, rows, page, limit))
        .onFailure(context::fail);
  }

  private void create(RoutingContext context) {
    JsonObject item = parseItem(context);
    if (item == null) {
      context.fail(400);
      return;
    }
    pool.preparedQuery(
            """
            INSERT INTO items (name, category, price, quantity) VALUES ($1, $2, $3, $4)
            RETURNING id, name, category, price, quantity
            """)
        .mapping(Row::toJson)
        .execute(members(item))
        .onSuccess(
            rows -> {
              context.response().setStatusCode(201);
              answerFirst(context, rows);
            })
        .onFailure(context::fail);
  }

  private void update(RoutingContext context) {
    Integer id = integer(context.pathParam("id"));
    JsonObject item = parseItem(context);
    if (id == null || item == null) {
      context.fail(400);
      return;
    }
    pool.preparedQuery(
            """
            UPDATE items SET name = $1, category = $2, price = $3, quantity = $4 WHERE id = $5
            RETURNING id, name, category, price, quantity
            """)
        .mapping(Row::toJson)
        .execute(members(item).addInteger(id))
        .onSuccess(rows -> answerFirst(context, rows))
        .onFailure(context::fail);
  }

  private static void answerFirst(RoutingContext context, RowSet<JsonObject> rows) {
    if (rows.size() == 0) {
      context.fail(404);
    } else {
      context.json(rows.iterator().next());
    }
  }

  private static void answerPage(
      RoutingContext context, RowSet<JsonObject> rows, int page, int limit) {
    JsonArray items = new JsonArray();
    rows.forEach(items::add);
    context.json(new JsonObject().put("items", items).put("page", page).put("limit", limit));
  }

  private static boolean isLimit(Integer limit) {
    return limit != null && limit >= 1 && limit <= LIMIT_MAX;
  }

  private static Tuple members(JsonObject item) {
    return Tuple.of(
        item.getString("name"),
        item.getString("category"),
        item.getInteger("price"),
        item.getInteger("quantity"));
  }

  /** What is no object with the members of an item is null. */
  private static JsonObject parseItem(RoutingContext context) {
    try {
      JsonObject item = context.body().asJsonObject();
      boolean complete =
          item != null
              && item.getValue("name") instanceof String
              && item.getValue("category") instanceof String
              && item.getValue("price") instanceof Integer
              && item.getValue("quantity") instanceof Integer;
      return complete ? item : null;
    } catch (DecodeException | ClassCastException e) {
      return null;
    }
  }

  /** What is no integer is null. */
  private static Integer integer(String text) {
    try {
      return Integer.valueOf(text);
    } catch (NumberFormatException e) {
      return null;
    }
  }
}
