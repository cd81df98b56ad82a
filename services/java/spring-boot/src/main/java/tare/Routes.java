package tare;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
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

@RestController
class Routes {

  private static final int COUNT_MAX = 1_000_000;

  private final long delayMs;
  private final Semaphore slots;

  Routes(
      @Value("${DELAY_MS:0}") long delayMs,
      @Value("${THREADS:1}") int threads,
      @Value("${server.http2.enabled:false}") boolean http2) {
    this.delayMs = delayMs;
    // With HTTP/1.1 there are no more threads than that.
    this.slots = http2 && delayMs > 0 ? new Semaphore(threads, true) : null;
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
  Map<String, Object> echo(@RequestBody Map<String, Object> message) throws InterruptedException {
    if (slots != null) {
      delayInSlot();
    } else if (delayMs > 0) {
      Thread.sleep(delayMs);
    }
    message.put("text", "received");
    return message;
  }

  private void delayInSlot() throws InterruptedException {
    slots.acquire();
    try {
      Thread.sleep(delayMs);
    } finally {
      slots.release();
    }
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
      throw new ResponseStatusException(HttpStatus.BAD_REQUEST);
    }
    List<String> strings = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      strings.add("Index " + i);
    }
    return strings.subList(0, Math.min(10, count));
  }
}
