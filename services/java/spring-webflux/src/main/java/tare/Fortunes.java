package tare;

import java.util.Comparator;
import org.springframework.context.annotation.Profile;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import reactor.core.publisher.Flux;

/** A page of all rows of a table, by Thymeleaf. */
@Controller
@Profile("database")
class Fortunes {

  record Fortune(int id, String message) {}

  private final DatabaseClient client;

  Fortunes(DatabaseClient client) {
    this.client = client;
  }

  @GetMapping("/fortunes")
  String page(Model model) {
    Flux<Fortune> fortunes =
        client
            .sql("SELECT id, message FROM fortune")
            .mapProperties(Fortune.class)
            .all()
            .concatWithValues(new Fortune(0, "Additional fortune added at request time."))
            .sort(Comparator.comparing(Fortune::message));
    model.addAttribute("fortunes", fortunes);
    return "fortunes";
  }
}
