package tare;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.springframework.context.annotation.Profile;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Rows that are read and written by random ids, each by a statement of its own. */
@RestController
@Profile("database")
class Worlds {

  private static final int ROWS = 10_000;
  private static final int QUERIES_MAX = 500;

  record World(int id, int randomNumber) {}

  private final JdbcClient client;
  private final JdbcTemplate template;

  Worlds(JdbcClient client, JdbcTemplate template) {
    this.client = client;
    this.template = template;
  }

  @GetMapping("/db")
  World one() {
    return find(random());
  }

  @GetMapping("/queries")
  List<World> many(@RequestParam(defaultValue = "1") String queries) {
    return ThreadLocalRandom.current()
        .ints(count(queries), 1, ROWS + 1)
        .mapToObj(this::find)
        .toList();
  }

  @GetMapping("/updates")
  List<World> update(@RequestParam(defaultValue = "1") String queries) {
    // Ascending, so that two requests cannot wait for each other's rows.
    List<World> worlds =
        ThreadLocalRandom.current()
            .ints(1, ROWS + 1)
            .distinct()
            .limit(count(queries))
            .sorted()
            .mapToObj(id -> new World(find(id).id(), random()))
            .toList();
    template.batchUpdate(
        "UPDATE world SET randomnumber = ? WHERE id = ?",
        worlds,
        worlds.size(),
        (statement, world) -> {
          statement.setInt(1, world.randomNumber());
          statement.setInt(2, world.id());
        });
    return worlds;
  }

  private World find(int id) {
    return client
        .sql("SELECT id, randomnumber FROM world WHERE id = ?")
        .param(id)
        .query(World.class)
        .single();
  }

  private static int random() {
    return ThreadLocalRandom.current().nextInt(1, ROWS + 1);
  }

  private static int count(String text) {
    try {
      return Math.max(1, Math.min(Integer.parseInt(text), QUERIES_MAX));
    } catch (NumberFormatException e) {
      return 1;
    }
  }
}
