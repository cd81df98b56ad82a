package tare;

/**
 * What the environment variables {@code PORT}, {@code THREADS} and {@code DELAY_MS} say, and {@code
 * NODELAY} of the variant.
 */
record Settings(int port, int threads, int delayMs, boolean noDelay) {

  static Settings fromEnvironment() {
    return new Settings(
        integer("PORT", null, 1, 65_535),
        integer("THREADS", "1", 1, 1024),
        integer("DELAY_MS", "0", 0, 60_000),
        integer("NODELAY", "0", 0, 1) == 1);
  }

  /** A value that will not do ends the program with status 2. */
  private static int integer(String name, String fallback, int min, int max) {
    String text = System.getenv().getOrDefault(name, fallback);
    try {
      int value = Integer.parseInt(text);
      if (value >= min && value <= max) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Told below, with what is out of range.
    }
    System.err.println(name + " must be an integer from " + min + " to " + max);
    System.exit(2);
    throw new AssertionError();
  }
}
