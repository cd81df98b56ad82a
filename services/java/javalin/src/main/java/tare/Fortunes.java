package tare;

import gg.jte.ContentType;
import gg.jte.TemplateEngine;
import gg.jte.output.StringOutput;
import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.javalin.rendering.FileRenderer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;

/** A page of all rows of a table, by JTE. */
final class Fortunes {

  private final DataSource pool;

  Fortunes(DataSource pool) {
    this.pool = pool;
  }

  /** The build makes a class of each template. */
  static FileRenderer renderer() {
    TemplateEngine engine = TemplateEngine.createPrecompiled(ContentType.Html);
    return (file, model, context) -> {
      StringOutput page = new StringOutput();
      engine.render(file, Map.copyOf(model), page);
      return page.toString();
    };
  }

  void register(RoutesConfig routes) {
    routes.get("/fortunes", this::page);
  }

  private void page(Context context) throws SQLException {
    List<Fortune> fortunes = read();
    fortunes.add(new Fortune(0, "Additional fortune added at request time."));
    fortunes.sort(Comparator.comparing(Fortune::message));
    context
        .render("fortunes.jte", Map.of("fortunes", fortunes))
        .contentType("text/html; charset=utf-8");
  }

  private List<Fortune> read() throws SQLException {
    try (Connection connection = pool.getConnection();
        PreparedStatement select = connection.prepareStatement("SELECT id, message FROM fortune");
        ResultSet rows = select.executeQuery()) {
      List<Fortune> fortunes = new ArrayList<>();
      while (rows.next()) {
        fortunes.add(new Fortune(rows.getInt("id"), rows.getString("message")));
      }
      return fortunes;
    }
  }
}
