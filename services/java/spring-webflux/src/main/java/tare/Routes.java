package tare;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import reactor.core.publisher.Mono;

@RestController
class Routes {

  private static final int COUNT_MAX = 1_000_000;

  private final Delay delay;

  Routes(@Value("${THREADS:1}") int threads, @Value("${DELAY_MS:0}") long delayMs) {
    this.delay = delayMs > 0 ? new Delay(threads, Duration.ofMillis(delayMs)) : null;
  }

  @GetMapping(path = "/", produces = MediaType.TEXT_PLAIN_VALUE)
  String hello() {
    return "Hello world!";
  }

  @GetMapping(path = "/api/test", produces = MediaType.TEXT_PLAIN_VALUE)
  String api() {
    return "Hello, World!";
  }

  @PostMapping("/test")
  Mono<Map<String, Object>> echo(@RequestBody Mono<Map<String, Object>> body) {
    Mono<Map<String, Object>> message = body.switchIfEmpty(Mono.error(Routes::badRequest));
    if (delay != null) {
      message = message.delayUntil(parsed -> delay.pass());
    }
    return message.doOnNext(parsed -> parsed.put("text", "received"));
  }

  @GetMapping(path = "/test/status", produces = MediaType.TEXT_PLAIN_VALUE)
  String status() {
    return "OK";
  }

  @GetMapping(path = "/test/labels/{label}", produces = MediaType.TEXT_PLAIN_VALUE)
  String label(@PathVariable String label) {
    return label;
  }

  @GetMapping("/framework")
  Map<String, String> framework() {
    return Map.of("Hello", "world");
  }

  @GetMapping("/benchmark")
  List<String> benchmark(@RequestParam(defaultValue = "10000") int count) {
    if (count < 0 || count > COUNT_MAX) {
      throw badRequest();
    }
    List<String> strings = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      strings.add("Index " + i);
    }
    return strings.subList(0, Math.min(10, count));
  }

  private static ResponseStatusException badRequest() {
    return new ResponseStatusException(HttpStatus.BAD_REQUEST);
  }
}
