package tare;

import io.undertow.Undertow;
import io.undertow.UndertowOptions;
import io.undertow.Version;
import java.util.logging.LogManager;

/** The contracts of Tare on Undertow: its listener, its routing handler, and Jackson. */
public final class Service {

  private static final int IDLE_MS_MAX = 3_600_000;
  private static final long BODY_BYTES_MAX = 64 << 20;

  public static void main(String[] args) {
    if (args.length == 1 && args[0].equals("--version")) {
      System.out.println(Version.getVersionString());
      return;
    }
    Settings settings = Settings.fromEnvironment();
    Backings backings = Backings.fromEnvironment();
    LogManager.getLogManager().reset();
    Undertow server = server(settings, backings);
    try {
      server.start();
    } catch (RuntimeException e) {
      System.err.println("cannot serve on " + settings.address() + ": " + e.getMessage());
      System.exit(1);
    }
    Termination.onSigterm(server::stop);
  }

  /** With HTTP/2 on, a listener takes a connection that begins with it beside HTTP/1.1. */
  private static Undertow server(Settings settings, Backings backings) {
    Undertow.Builder builder =
        Undertow.builder()
            .setIoThreads(settings.threads())
            .setWorkerThreads(settings.threads())
            .setServerOption(UndertowOptions.NO_REQUEST_TIMEOUT, IDLE_MS_MAX)
            .setServerOption(UndertowOptions.MAX_ENTITY_SIZE, BODY_BYTES_MAX)
            .setHandler(new Routes(settings.delayMs(), backings).handler());
    if (settings.http2WithoutTls()) {
      builder.setServerOption(UndertowOptions.ENABLE_HTTP2, true);
    }
    if (settings.tls()) {
      builder.addHttpsListener(settings.port(), settings.serveOn(), Tls.context(settings));
    } else {
      builder.addHttpListener(settings.port(), settings.serveOn());
    }
    return builder.build();
  }

  private Service() {}
}
