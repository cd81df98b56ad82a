package tare;

import io.helidon.http.BadRequestException;
import io.helidon.http.Status;
import io.helidon.json.JsonArray;
import io.helidon.json.JsonObject;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.helidon.webserver.staticcontent.FileSystemHandlerConfig;
import io.helidon.webserver.staticcontent.StaticContentFeature;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import javax.sql.DataSource;

/** Answers requests, each on the virtual thread of its connection. */
final class Routes {

  private static final int COUNT_MAX = 1_000_000;

  private final int delayMs;
  private final Semaphore slots;
  private final boolean http2;
  private final Backings backings;

  Routes(Settings settings, Backings backings) {
    this.backings = backings;
    delayMs = settings.delayMs();
    slots = delayMs > 0 ? new Semaphore(settings.threads(), true) : null;
    http2 = settings.http2();
  }

  void register(HttpRouting.Builder routing) {
    routing
        .get("/", (request, response) -> response.send("Hello world!"))
        .get("/api/test", (request, response) -> response.send("Hello, World!"))
        .post("/test", this::echo)
        .get("/test/status", (request, response) -> response.send("OK"))
        .get("/test/labels/{label}", Routes::label)
        .get(
            "/framework",
            (request, response) ->
                response.send(JsonObject.builder().set("Hello", "world").build()))
        .get("/benchmark", Routes::benchmark)
        .post("/upload", Upload::receive);
    registerBackings(routing);
    if (http2) {
      // Over HTTP/2 this exception alone is not answered without a handler.
      routing.error(
          BadRequestException.class,
          (request, response, e) -> response.status(Status.BAD_REQUEST_400).send());
    }
  }

  private void registerBackings(HttpRouting.Builder routing) {
    if (backings.database() != null) {
      DataSource pool = Database.pool(backings);
      routing.register(new Worlds(pool)).register("/crud/items", new Items(pool));
    }
    if (backings.products() != null) {
      routing.register("/json", Products.read(backings.products()));
    }
    if (backings.folder() != null) {
      var folder = FileSystemHandlerConfig.create(backings.folder().toPath());
      routing.register("/static", StaticContentFeature.createService(folder));
    }
    if (backings.upstream() != null) {
      routing.register("/gateway", new Gateway(backings.upstream()));
    }
  }

  private void echo(ServerRequest request, ServerResponse response) throws InterruptedException {
    JsonObject message = Bodies.object(request);
    if (delayMs > 0) {
      delay();
    }
    response.send(JsonObject.builder().from(message).set("text", "received").build());
  }

  /** A virtual thread sleeps for nothing: without the slots any number would be in their delay. */
  private void delay() throws InterruptedException {
    slots.acquire();
    try {
      Thread.sleep(delayMs);
    } finally {
      slots.release();
    }
  }

  private static void label(ServerRequest request, ServerResponse response) {
    response.send(request.path().pathParameters().get("label"));
  }

  private static void benchmark(ServerRequest request, ServerResponse response) {
    int count =
        Parameters.integer("count", request.query().first("count").orElse("10000"), 0, COUNT_MAX);
    List<String> strings = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      strings.add("Index " + i);
    }
    response.send(JsonArray.createStrings(strings.subList(0, Math.min(10, count))));
  }
}
