package tare;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.json.DecodeException;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.client.HttpResponse;
import io.vertx.ext.web.client.WebClient;
import io.vertx.ext.web.client.WebClientOptions;
import io.vertx.uritemplate.UriTemplate;
import java.net.URI;

/** Passes on what another server answers. */
final class Gateway {

  /** An event loop waits for many answers at once, and each takes a connection. */
  private static final int CONNECTIONS_MAX = 512;

  private final WebClient client;
  private final UriTemplate item;

  Gateway(Vertx vertx, URI upstream) {
    this.client =
        WebClient.create(
            vertx, new WebClientOptions(), new PoolOptions().setHttp1MaxSize(CONNECTIONS_MAX));
    this.item = UriTemplate.of(upstream + "/items/{id}");
  }

  void register(Router router) {
    router.get("/gateway/:id").handler(this::pass);
  }

  private void pass(RoutingContext context) {
    client
        .getAbs(item)
        .setTemplateParam("id", context.pathParam("id"))
        .send()
        .onSuccess(response -> answer(context, response))
        .onFailure(e -> context.fail(502, e));
  }

  private static void answer(RoutingContext context, HttpResponse<Buffer> response) {
    if (response.statusCode() == 404) {
      context.fail(404);
      return;
    }
    try {
      context.json(response.bodyAsJsonObject().put("via", "gateway"));
    } catch (DecodeException e) {
      context.fail(502, e);
    }
  }
}
