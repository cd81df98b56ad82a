package tare;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpHeaders;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.templ.thymeleaf.ThymeleafTemplateEngine;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** A page of all rows of a table, by Thymeleaf. */
final class Fortunes {

  /** Public, since the template's expressions call its methods. */
  public record Fortune(int id, String message) {}

  private final Pool pool;
  private final ThymeleafTemplateEngine engine;

  Fortunes(Vertx vertx, Pool pool) {
    this.pool = pool;
    this.engine = ThymeleafTemplateEngine.create(vertx);
  }

  void register(Router router) {
    router.get("/fortunes").handler(this::page);
  }

  private void page(RoutingContext context) {
    pool.preparedQuery("SELECT id, message FROM fortune")
        .mapping(Fortunes::fortune)
        .execute()
        .compose(
            rows -> engine.render(Map.of("fortunes", completed(rows)), "templates/fortunes.html"))
        .onSuccess(
            page ->
                context
                    .response()
                    .putHeader(HttpHeaders.CONTENT_TYPE, "text/html; charset=utf-8")
                    .end(page))
        .onFailure(context::fail);
  }

  private static List<Fortune> completed(RowSet<Fortune> rows) {
    List<Fortune> fortunes = new ArrayList<>();
    rows.forEach(fortunes::add);
    fortunes.add(new Fortune(0, "Additional fortune added at request time."));
    fortunes.sort(Comparator.comparing(Fortune::message));
    return fortunes;
  }

  private static Fortune fortune(Row row) {
    return new Fortune(row.getInteger("id"), row.getString("message"));
  }
}
