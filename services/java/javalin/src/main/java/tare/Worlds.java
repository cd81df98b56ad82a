package tare;

import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import javax.sql.DataSource;

/** Rows that are read and written by random ids, each by a statement of its own. */
final class Worlds {

  private static final int ROWS = 10_000;
  private static final int QUERIES_MAX = 500;
  private static final String SELECT = "SELECT id, randomnumber FROM world WHERE id = ?";
  private static final String UPDATE = "UPDATE world SET randomnumber = ? WHERE id = ?";

  private record World(int id, int randomNumber) {}

  private final DataSource pool;

  Worlds(DataSource pool) {
    this.pool = pool;
  }

  void register(RoutesConfig routes) {
    routes.get("/db", this::one).get("/queries", this::many).get("/updates", this::update);
  }

  private void one(Context context) throws SQLException {
    try (Connection connection = pool.getConnection();
        PreparedStatement select = connection.prepareStatement(SELECT)) {
      context.json(find(select, random()));
    }
  }

  private void many(Context context) throws SQLException {
    int[] ids = ThreadLocalRandom.current().ints(count(context), 1, ROWS + 1).toArray();
    try (Connection connection = pool.getConnection()) {
      context.json(findAll(connection, ids));
    }
  }

  private void update(Context context) throws SQLException {
    // Ascending, so that two requests cannot wait for each other's rows.
    int[] ids =
        ThreadLocalRandom.current()
            .ints(1, ROWS + 1)
            .distinct()
            .limit(count(context))
            .sorted()
            .toArray();
    try (Connection connection = pool.getConnection()) {
      List<World> worlds =
          findAll(connection, ids).stream().map(world -> new World(world.id, random())).toList();
      write(connection, worlds);
      context.json(worlds);
    }
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

  private static int random() {
    return ThreadLocalRandom.current().nextInt(1, ROWS + 1);
  }

  private static int count(Context context) {
    try {
      int count = Integer.parseInt(context.queryParam("queries"));
      return Math.max(1, Math.min(count, QUERIES_MAX));
    } catch (NumberFormatException e) {
      return 1;
    }
  }
}
