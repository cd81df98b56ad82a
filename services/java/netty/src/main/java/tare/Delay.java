package tare;

import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;

/**
 * Simulated handling time: at most {@code slots} wait for their timer at once, others for a slot.
 */
final class Delay {

  private record Waiter(EventExecutor executor, Runnable done) {}

  private final long delayMs;
  private final Queue<Waiter> waiting = new ArrayDeque<>();
  private int free;

  Delay(int slots, long delayMs) {
    this.free = slots;
    this.delayMs = delayMs;
  }

  /** Runs {@code done} after the delay, on the given event loop. */
  void pass(EventExecutor executor, Runnable done) {
    Waiter waiter = new Waiter(executor, done);
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
    waiter.executor.schedule(
        () -> {
          leave();
          waiter.done.run();
        },
        delayMs,
        TimeUnit.MILLISECONDS);
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
    start(next);
  }
}
