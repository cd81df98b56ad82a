import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** A server that costs some percent more with PLANT=loop, allocate, regex, lock or call, TIMES times in each request. */
public class Server {
  private static final Pattern ROUTE = Pattern.compile("^/items/([0-9]+)$");
  private static final int TIMES = Integer.parseInt(System.getenv().getOrDefault("TIMES", "0"));
  private static final Object LOCK = new Object();
  private static volatile int sink;
  private static long count;

  static void plantedLoop(String path) {
    int sum = 1;
    for (int i = 0; i < TIMES; i++) {
      sum = (sum ^ path.charAt(i % path.length())) * 16777619;
    }
    sink = sum;
  }

  static void plantedAllocate(String path) {
    List<String> copies = new ArrayList<>();
    for (int i = 0; i < TIMES; i++) {
      copies.add(path + i);
    }
    sink = copies.size();
  }

  static void plantedRegex(String path) {
    for (int i = 0; i < TIMES; i++) {
      sink = ROUTE.matcher(path).find() ? 1 : 0;
    }
  }

  static void plantedLock() {
    for (int i = 0; i < TIMES; i++) {
      synchronized (LOCK) {
        count++;
      }
    }
  }

  static void plantedCall() {
    for (int i = 0; i < TIMES; i++) {
      sink = new java.io.File("/etc/hostname").exists() ? 1 : 0;
    }
  }

  static String body() {
    StringBuilder text = new StringBuilder("{\"id\":1,\"tags\":[");
    for (int i = 0; i < 20; i++) {
      text.append(i > 0 ? ",\"tag " : "\"tag ").append(i).append('"');
    }
    return text.append("]}").toString();
  }

  public static void main(String[] words) throws Exception {
    String plant = System.getenv().getOrDefault("PLANT", "");
    int port = Integer.parseInt(System.getenv("PORT"));
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 512);
    server.createContext(
        "/",
        exchange -> {
          String path = exchange.getRequestURI().getPath();
          switch (plant) {
            case "loop" -> plantedLoop(path);
            case "allocate" -> plantedAllocate(path);
            case "regex" -> plantedRegex(path);
            case "lock" -> plantedLock();
            case "call" -> plantedCall();
            default -> {}
          }
          byte[] body = body().getBytes(StandardCharsets.UTF_8);
          exchange.getResponseHeaders().set("Content-Type", "application/json");
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
  }
}
