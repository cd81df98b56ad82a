package tare;

import java.io.File;
import java.net.URI;

/** What the contracts with data ask for; without the variable of one, its value is null. */
record Backings(URI database, int connections, File products, File folder, URI upstream) {

  static Backings fromEnvironment() {
    return new Backings(
        address("DATABASE_URL", "postgres"),
        Settings.integer("DATABASE_MAX_CONN", "8", 1, 10_000),
        Settings.file("DATA_PRODUCTS"),
        folder("FOLDER_STATIC"),
        address("UPSTREAM_URL", "http"));
  }

  /** The address without user and password, which JDBC takes apart. */
  String jdbcUrl() {
    String query = database.getQuery() == null ? "" : "?" + database.getQuery();
    return "jdbc:postgresql://"
        + database.getHost()
        + ":"
        + database.getPort()
        + database.getPath()
        + query;
  }

  String user() {
    return database.getUserInfo().split(":", 2)[0];
  }

  String password() {
    return database.getUserInfo().split(":", 2)[1];
  }

  private static URI address(String name, String scheme) {
    String text = System.getenv(name);
    if (text == null) {
      return null;
    }
    try {
      URI address = URI.create(text);
      boolean complete = address.getHost() != null && address.getPort() > 0;
      boolean user = address.getUserInfo() != null && address.getUserInfo().contains(":");
      if (scheme.equals(address.getScheme()) && complete && user == scheme.equals("postgres")) {
        return address;
      }
    } catch (IllegalArgumentException e) {
      // Refused below, with what is no such address.
    }
    throw Settings.refuse(name + " must be " + scheme + "://... with a host and a port");
  }

  private static File folder(String name) {
    String path = System.getenv(name);
    if (path == null) {
      return null;
    }
    File folder = new File(path);
    if (!folder.isDirectory() || !folder.canRead()) {
      throw Settings.refuse(name + " must be a folder that can be read");
    }
    return folder;
  }
}
