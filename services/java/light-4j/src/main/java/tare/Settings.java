package tare;

/**
 * What the environment variables {@code PORT}, {@code SERVE_ON}, {@code THREADS}, {@code DELAY_MS}
 * and {@code PROTOCOL} say.
 */
record Settings(int port, String serveOn, int threads, int delayMs, boolean http2) {

  private static final String IPV4_PART = "(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";

  static Settings fromEnvironment() {
    String protocol = System.getenv().getOrDefault("PROTOCOL", "http/1.1");
    if (System.getenv("TLS_CERT") != null
        || !protocol.equals("http/1.1") && !protocol.equals("h2c")) {
      throw refuse("PROTOCOL must be http/1.1 or h2c, without TLS_CERT");
    }
    return new Settings(
        integer("PORT", null, 1, 65_535),
        ipv4("SERVE_ON", "127.0.0.1"),
        integer("THREADS", "1", 1, 1024),
        integer("DELAY_MS", "0", 0, 60_000),
        protocol.equals("h2c"));
  }

  /** Ends the program with status 2. */
  static AssertionError refuse(String why) {
    System.err.println(why);
    System.exit(2);
    return new AssertionError();
  }

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
    throw refuse(name + " must be an integer from " + min + " to " + max);
  }

  /** Digits alone: a name would be looked up. */
  private static String ipv4(String name, String fallback) {
    String text = System.getenv().getOrDefault(name, "");
    if (text.isEmpty()) {
      return fallback;
    }
    if (text.matches(IPV4_PART + "(\\." + IPV4_PART + "){3}")) {
      return text;
    }
    throw refuse(name + " must be an IPv4 address, such as 0.0.0.0, not \"" + text + "\"");
  }
}
