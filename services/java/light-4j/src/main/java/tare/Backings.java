package tare;

import java.io.File;
import java.net.URI;

/** What the contracts with data ask for; without the variable of one, its value is null. */
record Backings(File products, File folder, URI upstream) {

  static Backings fromEnvironment() {
    return new Backings(file("DATA_PRODUCTS"), folder("FOLDER_STATIC"), address("UPSTREAM_URL"));
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

  private static File file(String name) {
    String path = System.getenv(name);
    if (path == null) {
      return null;
    }
    File file = new File(path);
    if (!file.isFile() || !file.canRead()) {
      throw Settings.refuse(name + " must be a file that can be read");
    }
    return file;
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
