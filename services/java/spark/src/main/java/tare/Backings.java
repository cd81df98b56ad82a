package tare;

import java.io.File;
import java.net.URI;

/** What the contracts with data ask for; without the variable of one, its value is null. */
record Backings(File products, URI upstream) {

  static Backings fromEnvironment() {
    return new Backings(Settings.file("DATA_PRODUCTS"), address("UPSTREAM_URL"));
  }

  private static URI address(String name) {
    String text = System.getenv(name);
    if (text == null) {
      return null;
    }
    try {
      URI address = URI.create(text);
      if ("http".equals(address.getScheme())
          && address.getHost() != null
          && address.getPort() > 0) {
        return address;
      }
    } catch (IllegalArgumentException e) {
      // Refused below, with what is no such address.
    }
    throw Settings.refuse(name + " must be http://... with a host and a port");
  }
}
