package tare;

import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;

/** Rows that are read and written by random ids, each by a statement of its own. */
final class Worlds {

  private static final int ROWS = 10_000;
  private static final int QUERIES_MAX = 500;

  private record World(int id, int randomNumber) {

    JsonObject toJson() {
      return new JsonObject().put("id", id).put("randomNumber", randomNumber);
    }
  }

  private final Pool pool;

  Worlds(Pool pool) {
    this.pool = pool;
  }

  void register(Router router) {
    router.get("/db").respond(context -> find(pool, random()).map(World::toJson));
    router.get("/queries").respond(this::many);
    router.get("/updates").respond(this::update);
  }

  /** The statements of a request go through one connection, without waiting for one another. */
  private Future<JsonArray> many(RoutingContext context) {
    IntStream ids = ThreadLocalRandom.current().ints(count(context), 1, ROWS + 1);
    return pool.withConnection(connection -> findAll(connection, ids)).map(Worlds::toJson);
  }

  private Future<JsonArray> update(RoutingContext context) {
    // Ascending, so that two requests cannot wait for each other's rows.
    IntStream ids =
        ThreadLocalRandom.current().ints(1, ROWS + 1).distinct().limit(count(context)).sorted();
    return pool.withConnection(
            connection -> findAll(connection, ids).compose(worlds -> renew(connection, worlds)))
        .map(Worlds::toJson);
  }

  private static Future<List<World>> renew(SqlConnection connection, List<World> worlds) {
    List<World> renewed = worlds.stream().map(world -> new World(world.id, random())).toList();
    List<Tuple> rows =
        renewed.stream().map(world -> Tuple.of(world.randomNumber, world.id)).toList();
    return connection
        .preparedQuery("UPDATE world SET randomnumber = $1 WHERE id = $2")
        .executeBatch(rows)
        .map(renewed);
  }

  private static Future<List<World>> findAll(SqlClient client, IntStream ids) {
    return Future.all(ids.mapToObj(id -> find(client, id)).toList()).map(found -> found.list());
  }

  private static Future<World> find(SqlClient client, int id) {
    return client
        .preparedQuery("SELECT id, randomnumber FROM world WHERE id = $1")
        .mapping(Worlds::world)
        .execute(Tuple.of(id))
        .map(rows -> rows.iterator().next());
  }

  private static World world(Row row) {
    return new World(row.getInteger("id"), row.getInteger("randomnumber"));
  }

  private static JsonArray toJson(List<World> worlds) {
    return new JsonArray(worlds.stream().map(World::toJson).toList());
  }

  private static int random() {
    return ThreadLocalRandom.current().nextInt(1, ROWS + 1);
  }

  private static int count(RoutingContext context) {
    try {
      int count = Integer.parseInt(context.request().getParam("queries", "1"));
      return Math.max(1, Math.min(count, QUERIES_MAX));
    } catch (NumberFormatException e) {
      return 1;
    }
  }
}
