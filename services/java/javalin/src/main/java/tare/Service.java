package tare;

import io.javalin.Javalin;
import io.javalin.config.JavalinConfig;
import io.javalin.http.Context;
import io.javalin.http.staticfiles.Location;
import io.javalin.util.JavalinException;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import javax.sql.DataSource;

/** The contracts of Tare on Javalin, with the Jetty that it brings and its mapper of Jackson. */
public final class Service {

  private static final int COUNT_MAX = 1_000_000;

  public static void main(String[] args) throws IOException {
    if (args.length == 1 && args[0].equals("--version")) {
      System.out.println(javalinVersion());
      return;
    }
    Settings settings = Settings.fromEnvironment();
    Backings backings = Backings.fromEnvironment();
    Javalin app =
        Javalin.create(
            config -> {
              Jetty.configure(config.jetty, settings);
              config.http.defaultContentType = "text/plain; charset=utf-8";
              config.jsonMapper(Json.mapper());
              routes(config, settings.delayMs());
              routes(config, backings);
            });
    try {
      app.start();
    } catch (JavalinException e) {
      System.err.println("cannot serve on " + settings.address() + ": " + e.getMessage());
      System.exit(1);
    }
    Termination.onSigterm(app::stop);
  }

  private static void routes(JavalinConfig config, int delayMs) {
    config
        .routes
        .get("/", context -> context.result("Hello world!"))
        .get("/api/test", context -> context.result("Hello, World!"))
        .post("/test", context -> echo(context, delayMs))
        .get("/test/status", context -> context.result("OK"))
        .get("/test/labels/{label}", context -> context.result(context.pathParam("label")))
        .get("/framework", context -> context.json(Map.of("Hello", "world")))
        .get("/benchmark", Service::benchmark)
        .post("/upload", Upload::receive);
  }

  private static void routes(JavalinConfig config, Backings backings) {
    if (backings.database() != null) {
      DataSource pool = Database.pool(backings);
      config.fileRenderer(Fortunes.renderer());
      new Worlds(pool).register(config.routes);
      new Fortunes(pool).register(config.routes);
      new Items(pool).register(config.routes);
    }
    if (backings.products() != null) {
      Products.read(backings.products()).register(config.routes);
    }
    if (backings.folder() != null) {
      config.staticFiles.add(
          files -> {
            files.hostedPath = "/static";
            files.directory = backings.folder().getPath();
            files.location = Location.EXTERNAL;
          });
    }
    if (backings.upstream() != null) {
      new Gateway(backings.upstream()).register(config.routes);
    }
  }

  private static void echo(Context context, int delayMs) throws InterruptedException {
    Json.Message message = context.bodyValidator(Json.Message.class).get();
    if (delayMs > 0) {
      Thread.sleep(delayMs);
    }
    message.put("text", "received");
    context.json(message);
  }

  private static void benchmark(Context context) {
    int count =
        context
            .queryParamAsClass("count", Integer.class)
            .check(n -> n == null || n >= 0 && n <= COUNT_MAX, "is 0 to " + COUNT_MAX)
            .getOrDefault(10_000);
    List<String> strings = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      strings.add("Index " + i);
    }
    context.json(strings.subList(0, Math.min(10, count)));
  }

  /** The version of Javalin on the class path, as its own jar says. */
  private static String javalinVersion() throws IOException {
    String path = "/META-INF/maven/io.javalin/javalin/pom.properties";
    try (InputStream stream = Javalin.class.getResourceAsStream(path)) {
      Properties properties = new Properties();
      properties.load(stream);
      return properties.getProperty("version");
    }
  }

  private Service() {}
}
