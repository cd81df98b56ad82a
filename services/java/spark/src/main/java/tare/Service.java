package tare;

import static spark.Spark.awaitInitialization;
import static spark.Spark.get;
import static spark.Spark.halt;
import static spark.Spark.initExceptionHandler;
import static spark.Spark.ipAddress;
import static spark.Spark.port;
import static spark.Spark.post;
import static spark.Spark.secure;

import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import spark.Request;
import spark.Response;
import spark.Spark;
import spark.embeddedserver.EmbeddedServers;
import spark.embeddedserver.jetty.EmbeddedJettyFactory;

/** The contracts of Tare on Spark, with the Jetty that it brings and Gson. */
public final class Service {

  private static final int COUNT_MAX = 1_000_000;
  private static final String TEXT = "text/plain; charset=utf-8";

  public static void main(String[] args) throws IOException {
    if (args.length == 1 && args[0].equals("--version")) {
      System.out.println(sparkVersion());
      return;
    }
    Settings settings = Settings.fromEnvironment();
    Backings backings = Backings.fromEnvironment();
    initExceptionHandler(
        e -> {
          System.err.println("cannot serve on " + settings.address() + ": " + e.getMessage());
          System.exit(1);
        });
    ipAddress(settings.serveOn());
    port(settings.port());
    EmbeddedServers.add(
        EmbeddedServers.Identifiers.JETTY,
        new EmbeddedJettyFactory().withThreadPool(Pool.create(settings.threads())));
    if (settings.tls()) {
      serveTls(settings, backings);
    } else {
      routes(settings.delayMs(), backings);
    }
    Termination.onSigterm(Service::stop);
  }

  /** The first route starts Spark, which then reads the key store. */
  private static void serveTls(Settings settings, Backings backings) throws IOException {
    Path keyStore = Tls.keyStore(settings);
    secure(keyStore.toString(), Tls.PASSWORD, null, null);
    routes(settings.delayMs(), backings);
    awaitInitialization();
    Files.delete(keyStore);
  }

  private static void routes(int delayMs, Backings backings) {
    get("/", (request, response) -> text(response, "Hello world!"));
    get("/api/test", (request, response) -> text(response, "Hello, World!"));
    post("/test", (request, response) -> echo(request, response, delayMs), Json.GSON::toJson);
    get("/test/status", (request, response) -> text(response, "OK"));
    get("/test/labels/:label", (request, response) -> text(response, request.params("label")));
    get(
        "/framework",
        (request, response) -> json(response, Map.of("Hello", "world")),
        Json.GSON::toJson);
    get("/benchmark", Service::benchmark, Json.GSON::toJson);
    post("/upload", Upload::receive, Json.GSON::toJson);
    if (backings.products() != null) {
      Products.read(backings.products()).register();
    }
    if (backings.upstream() != null) {
      new Gateway(backings.upstream()).register();
    }
  }

  private static Object echo(Request request, Response response, int delayMs)
      throws InterruptedException {
    JsonObject message = parseObject(request.body());
    if (delayMs > 0) {
      Thread.sleep(delayMs);
    }
    message.addProperty("text", "received");
    return json(response, message);
  }

  private static Object benchmark(Request request, Response response) {
    int count = parseCount(request.queryParamOrDefault("count", "10000"));
    List<String> strings = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      strings.add("Index " + i);
    }
    return json(response, strings.subList(0, Math.min(10, count)));
  }

  private static String text(Response response, String text) {
    response.type(TEXT);
    return text;
  }

  private static Object json(Response response, Object value) {
    response.type(Json.TYPE);
    return value;
  }

  private static JsonObject parseObject(String body) {
    JsonObject object = null;
    try {
      object = Json.GSON.fromJson(body, JsonObject.class);
    } catch (JsonParseException | ClassCastException e) {
      halt(400);
    }
    if (object == null) {
      halt(400);
    }
    return object;
  }

  private static int parseCount(String text) {
    try {
      int count = Integer.parseInt(text);
      if (count >= 0 && count <= COUNT_MAX) {
        return count;
      }
    } catch (NumberFormatException e) {
      // Answered below, with what is out of range.
    }
    throw halt(400);
  }

  private static void stop() {
    Spark.stop();
    Spark.awaitStop();
  }

  /** The version of Spark on the class path, as its own jar says. */
  private static String sparkVersion() throws IOException {
    String path = "/META-INF/maven/com.sparkjava/spark-core/pom.properties";
    try (InputStream stream = Spark.class.getResourceAsStream(path)) {
      Properties properties = new Properties();
      properties.load(stream);
      return properties.getProperty("version");
    }
  }

  private Service() {}
}
