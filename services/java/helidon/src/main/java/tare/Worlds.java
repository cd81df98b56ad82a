package tare;

import io.helidon.json.JsonArray;
import io.helidon.json.JsonObject;
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
import java.util.concurrent.ThreadLocalRandom;
import javax.sql.DataSource;

/** Rows that are read and written by random ids, each by a statement of its own. */
final class Worlds implements HttpService {

  private static final int ROWS = 10_000;
  private static final int QUERIES_MAX = 500;
  private static final String SELECT = "SELECT id, randomnumber FROM world WHERE id = ?";
  private static final String UPDATE = "UPDATE world SET randomnumber = ? WHERE id = ?";

  private record World(int id, int randomNumber) {

    JsonObject toJson() {
      return JsonObject.builder().set("id", id).set("randomNumber", randomNumber).build();
    }
  }

  private final DataSource pool;

  Worlds(DataSource pool) {
    this.pool = pool;
  }

  @Override
  public void routing(HttpRules rules) {
    rules.get("/db", this::one).get("/queries", this::many).get("/updates", this::update);
  }

  private void one(ServerRequest request, ServerResponse response) throws SQLException {
    World world;
    try (Connection connection = pool.getConnection();
        PreparedStatement select = connection.prepareStatement(SELECT)) {
      world = find(select, random());
    }
    response.send(world.toJson());
  }

  private void many(ServerRequest request, ServerResponse response) throws SQLException {
    int[] ids = ThreadLocalRandom.current().ints(count(request), 1, ROWS + 1).toArray();
    List<World> worlds;
    try (Connection connection = pool.getConnection()) {
      worlds = findAll(connection, ids);
    }
    response.send(toJson(worlds));
  }

  private void update(ServerRequest request, ServerResponse response) throws SQLException {
    // Ascending, so that two requests cannot wait for each other's rows.
    int[] ids =
        ThreadLocalRandom.current()
            .ints(1, ROWS + 1)
            .distinct()
            .limit(count(request))
            .sorted()
            .toArray();
    List<World> worlds;
    try (Connection connection = pool.getConnection()) {
      worlds =
          findAll(connection, ids).stream().map(world -> new World(world.id, random())).toList();
      write(connection, worlds);
    }
    response.send(toJson(worlds));
  }

  private static List<World> findAll(Connection connection, int[] ids) throws SQLException {
    List<World> worlds = new ArrayList<>(ids.length);
    try (PreparedStatement select = connection.prepareStatement(SELECT)) {
      for (int id : ids) {
        worlds.add(find(select, id));
      }
    }
    return worlds;
  }

  private static World find(PreparedStatement select, int id) throws SQLException {
    select.setInt(1, id);
    try (ResultSet rows = select.executeQuery()) {
      rows.next();
      return new World(rows.getInt("id"), rows.getInt("randomnumber"));
    }
  }

  private static void write(Connection connection, List<World> worlds) throws SQLException {
    try (PreparedStatement update = connection.prepareStatement(UPDATE)) {
      for (World world : worlds) {
        update.setInt(1, world.randomNumber);
        update.setInt(2, world.id);
        update.addBatch();
      }
      update.executeBatch();
    }
  }

  private static JsonArray toJson(List<World> worlds) {
    return JsonArray.create(worlds.stream().map(World::toJson).toList());
  }

  private static int random() {
    return ThreadLocalRandom.current().nextInt(1, ROWS + 1);
  }

  private static int count(ServerRequest request) {
    try {
      int count = Integer.parseInt(request.query().first("queries").orElse("1"));
      return Math.clamp(count, 1, QUERIES_MAX);
    } catch (NumberFormatException e) {
      return 1;
    }
  }
}
