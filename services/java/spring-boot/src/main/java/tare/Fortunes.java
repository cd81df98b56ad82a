package tare;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.springframework.context.annotation.Profile;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;

/** A page of all rows of a table, by Thymeleaf. */
@Controller
@Profile("database")
class Fortunes {

  record Fortune(int id, String message) {}

  private final JdbcClient client;

  Fortunes(JdbcClient client) {
    this.client = client;
  }

  @GetMapping("/fortunes")
  String page(Model model) {
    List<Fortune> fortunes =
        new ArrayList<>(client.sql("SELECT id, message FROM fortune").query(Fortune.class).list());
    fortunes.add(new Fortune(0, "Additional fortune added at request time."));
    fortunes.sort(Comparator.comparing(Fortune::message));
    model.addAttribute("fortunes", fortunes);
    return "fortunes";
  }
}
