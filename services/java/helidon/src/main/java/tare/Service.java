package tare;

import io.helidon.common.Version;
import io.helidon.logging.common.LogConfig;
import io.helidon.webserver.WebServer;

/** The contracts of Tare on Helidon SE, with its own JSON. */
public final class Service {

  public static void main(String[] args) {
    if (args.length == 1 && args[0].equals("--version")) {
      System.out.println(Version.VERSION);
      return;
    }
    Settings settings = Settings.fromEnvironment();
    // Read by the JDK when it starts the first virtual thread.
    System.setProperty(
        "jdk.virtualThreadScheduler.parallelism", Integer.toString(settings.threads()));
    LogConfig.configureRuntime();
    WebServer server =
        WebServer.builder()
            .host("127.0.0.1")
            .port(settings.port())
            .connectionOptions(options -> options.tcpNoDelay(settings.noDelay()))
            .routing(new Routes(settings)::register)
            .build();
    // Why it does not start Helidon tells its log alone.
    if (!server.start().isRunning()) {
      System.err.println("cannot serve on 127.0.0.1:" + settings.port());
      System.exit(1);
    }
    Termination.onSigterm(server::stop);
  }

  private Service() {}
}
