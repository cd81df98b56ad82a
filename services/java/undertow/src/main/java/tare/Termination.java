package tare;

import sun.misc.Signal;

/** Ends the program with status 0 on SIGTERM; by itself a JVM ends with 143. */
final class Termination {

  /** How long requests in flight may take to end. */
  private static final long GRACE_MS = 250;

  static void onSigterm(Runnable stop) {
    Signal.handle(
        new Signal("TERM"),
        signal -> {
          Thread stopper = new Thread(stop, "stop");
          stopper.start();
          try {
            stopper.join(GRACE_MS);
          } catch (InterruptedException e) {
            // Nothing interrupts this thread; if something does, it ends sooner.
          }
          Runtime.getRuntime().halt(0);
        });
  }

  private Termination() {}
}
