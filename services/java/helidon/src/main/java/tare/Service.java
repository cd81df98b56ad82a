package tare;

import io.helidon.common.Version;
import io.helidon.common.configurable.Resource;
import io.helidon.common.pki.Keys;
import io.helidon.common.tls.Tls;
import io.helidon.logging.common.LogConfig;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http1.Http1Config;
import io.helidon.webserver.http2.Http2Config;

/** The contracts of Tare on Helidon SE, with its own JSON. */
public final class Service {

  public static void main(String[] args) {
    if (args.length == 1 && args[0].equals("--version")) {
      System.out.println(Version.VERSION);
      return;
    }
    Settings settings = Settings.fromEnvironment();
    Backings backings = Backings.fromEnvironment();
    // Read by the JDK when it starts the first virtual thread.
    System.setProperty(
        "jdk.virtualThreadScheduler.parallelism", Integer.toString(settings.threads()));
    LogConfig.configureRuntime();
    WebServer server = server(settings, backings);
    // Why it does not start Helidon tells its log alone.
    if (!server.start().isRunning()) {
      System.err.println("cannot serve on " + settings.address());
      System.exit(1);
    }
    Termination.onSigterm(server::stop);
  }

  /** By default a server takes each protocol whose module is there, beside one another. */
  private static WebServer server(Settings settings, Backings backings) {
    var server =
        WebServer.builder()
            .host(settings.serveOn())
            .port(settings.port())
            .connectionOptions(
                options ->
                    options.tcpNoDelay(settings.noDelay() || settings.tls() || settings.http2()))
            .routing(new Routes(settings, backings)::register);
    if (settings.tls()) {
      server.tls(tls(settings));
    } else {
      server
          .protocolsDiscoverServices(false)
          .addProtocol(settings.http2() ? Http2Config.create() : Http1Config.create());
    }
    return server.build();
  }

  private static Tls tls(Settings settings) {
    try {
      Keys keys =
          Keys.builder()
              .pem(
                  pem ->
                      pem.certChain(Resource.create(settings.certificates().toPath()))
                          .key(Resource.create(settings.key().toPath())))
              .build();
      return Tls.builder().privateKey(keys).privateKeyCertChain(keys).build();
    } catch (RuntimeException e) {
      throw Settings.refuse("TLS_CERT or TLS_KEY cannot be used: " + e.getMessage());
    }
  }

  private Service() {}
}
