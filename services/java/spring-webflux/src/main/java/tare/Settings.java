package tare;

import java.io.File;

/** What the environment variables say; without TLS there are no files. */
record Settings(
    int port,
    String serveOn,
    int threads,
    int delayMs,
    File certificates,
    File key,
    boolean http2) {

  private static final String IPV4_PART = "(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";

  static Settings fromEnvironment() {
    File certificates = file("TLS_CERT");
    File key = file("TLS_KEY");
    if ((certificates == null) != (key == null)) {
      throw refuse("TLS_CERT and TLS_KEY must be set together");
    }
    String protocol = System.getenv().getOrDefault("PROTOCOL", "http/1.1");
    if (!protocol.equals("http/1.1") && !protocol.equals(certificates == null ? "h2c" : "h2")) {
      throw refuse("PROTOCOL must be http/1.1, or h2 with TLS_CERT, or h2c without");
    }
    return new Settings(
        integer("PORT", null, 1, 65_535),
        ipv4("SERVE_ON", "127.0.0.1"),
        integer("THREADS", "1", 1, 1024),
        integer("DELAY_MS", "0", 0, 60_000),
        certificates,
        key,
        !protocol.equals("http/1.1"));
  }

  /** Where it listens, as messages name it. */
  String address() {
    return serveOn + ":" + port;
  }

  boolean tls() {
    return certificates != null;
  }

  /** What a variable names cannot be used, as is found after the start. */
  static final class Invalid extends RuntimeException {

    Invalid(String why) {
      super(why);
    }
  }

  /** Ends the program with status 2. */
  static AssertionError refuse(String why) {
    System.err.println(why);
    System.exit(2);
    return new AssertionError();
  }

  static int integer(String name, String fallback, int min, int max) {
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

  static File file(String name) {
    String path = System.getenv(name);
    if (path == null) {
      return null;
    }
    File file = new File(path);
    if (!file.canRead()) {
      throw refuse(name + " must be a file that can be read");
    }
    return file;
  }
}
