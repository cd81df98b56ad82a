package tare;

import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** A Jetty pool in which so many threads handle requests. */
final class Pool {

  /** Javalin's own least number of threads, which may not be more than the pool holds. */
  private static final int MIN_THREADS = 8;

  static QueuedThreadPool create(int handlers) {
    int size = size(handlers);
    QueuedThreadPool pool = new QueuedThreadPool(size, Math.min(MIN_THREADS, size));
    // Jetty would have a thread in reserve, and with that handle one request more at once.
    pool.setReservedThreads(0);
    return pool;
  }

  /**
   * Of the pool's threads Jetty takes those of the acceptors and of the selectors, whose numbers
   * follow from the processors and from the size of the pool; the others handle requests.
   */
  private static int size(int handlers) {
    int processors = Runtime.getRuntime().availableProcessors();
    int acceptors = Math.max(1, Math.min(4, processors / 8));
    int size = handlers + acceptors + 1;
    while (size - acceptors - selectors(size, processors) < handlers) {
      size++;
    }
    return size;
  }

  private static int selectors(int size, int processors) {
    return Math.max(1, Math.min(processors / 2, size / 16));
  }

  private Pool() {}
}
