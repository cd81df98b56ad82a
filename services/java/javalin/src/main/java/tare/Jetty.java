package tare;

import io.javalin.config.JettyConfig;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/** What differs from the Jetty that Javalin makes by default. */
final class Jetty {

  private static final long IDLE_MS_MAX = 3_600_000;

  static void configure(JettyConfig jetty, Settings settings) {
    jetty.threadPool = Pool.create(settings.threads());
    // Javalin's own connector has no setting for how long a connection may idle.
    jetty.addConnector((server, http) -> connector(server, http, settings.port()));
  }

  private static Connector connector(Server server, HttpConfiguration http, int port) {
    ServerConnector connector = new ServerConnector(server, new HttpConnectionFactory(http));
    connector.setHost("127.0.0.1");
    connector.setPort(port);
    connector.setIdleTimeout(IDLE_MS_MAX);
    return connector;
  }

  private Jetty() {}
}
