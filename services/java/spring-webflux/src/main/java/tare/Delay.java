package tare;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * Simulated handling time: at most {@code slots} wait for their timer at once, others for a slot.
 */
final class Delay {

  private final Duration duration;
  private final Queue<MonoSink<Void>> waiting = new ArrayDeque<>();
  private int free;

  Delay(int slots, Duration duration) {
    this.free = slots;
    this.duration = duration;
  }

  Mono<Void> pass() {
    return Mono.create(this::enter);
  }

  private void enter(MonoSink<Void> sink) {
    synchronized (this) {
      if (free == 0) {
        waiting.add(sink);
        return;
      }
      free--;
    }
    start(sink);
  }

  private void start(MonoSink<Void> sink) {
    Mono.delay(duration)
        .subscribe(
            tick -> {
              MonoSink<Void> next = leave();
              if (next != null) {
                start(next);
              }
              sink.success();
            });
  }

  private synchronized MonoSink<Void> leave() {
    MonoSink<Void> next = waiting.poll();
    if (next == null) {
      free++;
    }
    return next;
  }
}
