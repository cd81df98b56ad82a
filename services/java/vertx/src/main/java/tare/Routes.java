package tare;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import io.vertx.ext.web.handler.FileSystemAccess;
import io.vertx.ext.web.handler.StaticHandler;
import io.vertx.sqlclient.Pool;
import java.util.ArrayList;
import java.util.List;

/** One event loop's server; all of them share the port. */
final class Routes extends VerticleBase {

  private static final int COUNT_MAX = 1_000_000;

  private final HttpServerOptions options;
  private final Delay delay;
  private final Backings backings;
  private final Products products;

  /** Without a delay, {@code delay} is null, and so is {@code products} without them. */
  Routes(HttpServerOptions options, Delay delay, Backings backings, Products products) {
    this.options = options;
    this.delay = delay;
    this.backings = backings;
    this.products = products;
  }

  @Override
  public Future<?> start() {
    Router router = Router.router(vertx);
    router.get("/").handler(context -> text(context, "Hello world!"));
    router.get("/api/test").handler(context -> text(context, "Hello, World!"));
    // Without uploads, for which the body handler would make a folder.
    router.post("/test").handler(BodyHandler.create(false)).handler(this::echo);
    router.get("/test/status").handler(context -> text(context, "OK"));
    router.get("/test/labels/:label").handler(context -> text(context, context.pathParam("label")));
    router
        .get("/framework")
        .handler(context -> context.json(new JsonObject().put("Hello", "world")));
    router.get("/benchmark").handler(Routes::benchmark);
    Upload.register(router);
    registerBackings(router);
    return vertx.createHttpServer(options).requestHandler(router).listen();
  }

  private void registerBackings(Router router) {
    if (backings.database() != null) {
      Pool pool = Database.pool(vertx, backings);
      new Worlds(pool).register(router);
      new Fortunes(vertx, pool).register(router);
      new Items(pool).register(router);
    }
    if (products != null) {
      products.register(router);
    }
    if (backings.folder() != null) {
      String folder = backings.folder().getAbsolutePath();
      router.get("/static/*").handler(StaticHandler.create(FileSystemAccess.ROOT, folder));
    }
    if (backings.upstream() != null) {
      new Gateway(vertx, backings.upstream()).register(router);
    }
  }

  private void echo(RoutingContext context) {
    JsonObject message = parseObject(context);
    if (message == null) {
      context.fail(400);
    } else if (delay != null) {
      delay.pass(() -> received(context, message));
    } else {
      received(context, message);
    }
  }

  private static void received(RoutingContext context, JsonObject message) {
    context.json(message.put("text", "received"));
  }

  private static void benchmark(RoutingContext context) {
    int count = parseCount(context.request().getParam("count", "10000"));
    if (count < 0 || count > COUNT_MAX) {
      context.fail(400);
      return;
    }
    List<String> strings = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      strings.add("Index " + i);
    }
    context.json(new JsonArray(strings.subList(0, Math.min(10, count))));
  }

  private static void text(RoutingContext context, String text) {
    context.response().putHeader(HttpHeaders.CONTENT_TYPE, "text/plain; charset=utf-8").end(text);
  }

  /** What is no object is null. */
  private static JsonObject parseObject(RoutingContext context) {
    try {
      return context.body().asJsonObject();
    } catch (DecodeException | ClassCastException e) {
      return null;
    }
  }

  /** What is no integer is -1. */
  private static int parseCount(String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      return -1;
    }
  }
}
