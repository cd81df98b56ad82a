package tare;

import io.r2dbc.spi.Connection;
import io.r2dbc.spi.Result;
import io.r2dbc.spi.Statement;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import org.springframework.context.annotation.Profile;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Rows that are read and written by random ids, each by a statement of its own. */
@RestController
@Profile("database")
class Worlds {

  private static final int ROWS = 10_000;
  private static final int QUERIES_MAX = 500;

  record World(int id, int randomNumber) {}

  private final DatabaseClient client;

  Worlds(DatabaseClient client) {
    this.client = client;
  }

  @GetMapping("/db")
  Mono<World> one() {
    return find(random());
  }

  @GetMapping("/queries")
  Mono<List<World>> many(@RequestParam(defaultValue = "1") String queries) {
    return Flux.range(0, count(queries)).flatMap(i -> find(random())).collectList();
  }

  @GetMapping("/updates")
  Mono<List<World>> update(@RequestParam(defaultValue = "1") String queries) {
    // Ascending, so that two requests cannot wait for each other's rows.
    IntStream ids =
        ThreadLocalRandom.current().ints(1, ROWS + 1).distinct().limit(count(queries)).sorted();
    return Flux.fromStream(ids.boxed())
        .flatMapSequential(this::find)
        .map(world -> new World(world.id(), random()))
        .collectList()
        .delayUntil(worlds -> client.inConnection(connection -> write(connection, worlds)));
  }

  private Mono<World> find(int id) {
    return client
        .sql("SELECT id, randomnumber FROM world WHERE id = :id")
        .bind("id", id)
        .mapProperties(World.class)
        .one();
  }

  private static Mono<Void> write(Connection connection, List<World> worlds) {
    Statement statement =
        connection.createStatement("UPDATE world SET randomnumber = $1 WHERE id = $2");
    for (int i = 0; i < worlds.size(); i++) {
      if (i > 0) {
        statement.add();
      }
      statement.bind("$1", worlds.get(i).randomNumber()).bind("$2", worlds.get(i).id());
    }
    return Flux.from(statement.execute()).concatMap(Result::getRowsUpdated).then();
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
