package tare;

import io.vertx.core.Context;
import io.vertx.core.Vertx;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * Simulated handling time: at most {@code slots} wait for their timer at once, others for a slot.
 */
final class Delay {

  private record Waiter(Context context, Runnable done) {}

  private final Vertx vertx;
  private final long delayMs;
  private final Queue<Waiter> waiting = new ArrayDeque<>();
  private int free;

  Delay(Vertx vertx, int slots, long delayMs) {
    this.vertx = vertx;
    this.free = slots;
    this.delayMs = delayMs;
  }

  /** Runs {@code done} after the delay, on the caller's event loop. */
  void pass(Runnable done) {
    Waiter waiter = new Waiter(vertx.getOrCreateContext(), done);
    synchronized (this) {
      if (free == 0) {
        waiting.add(waiter);
        return;
      }
      free--;
    }
    start(waiter);
  }

  private void start(Waiter waiter) {
    vertx.setTimer(
        delayMs,
        id -> {
          leave();
          waiter.done.run();
        });
  }

  private void leave() {
    Waiter next;
    synchronized (this) {
      next = waiting.poll();
      if (next == null) {
        free++;
        return;
      }
    }
    next.context.runOnContext(nothing -> start(next));
  }
}
