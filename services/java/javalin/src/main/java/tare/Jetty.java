package tare;

import io.javalin.config.JettyConfig;
import org.eclipse.jetty.alpn.server.ALPNServerConnectionFactory;
import org.eclipse.jetty.http2.server.HTTP2CServerConnectionFactory;
import org.eclipse.jetty.http2.server.HTTP2ServerConnectionFactory;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;

/** What differs from the Jetty that Javalin makes by default. */
final class Jetty {

  private static final long IDLE_MS_MAX = 3_600_000;

  static void configure(JettyConfig jetty, Settings settings) {
    jetty.threadPool = Pool.create(settings.threads());
    // Javalin's own connector speaks plain HTTP/1.1, and has no setting for how long a connection
    // may idle.
    jetty.addConnector((server, http) -> connector(server, http, settings));
  }

  private static Connector connector(Server server, HttpConfiguration http, Settings settings) {
    ServerConnector connector = new ServerConnector(server, protocols(http, settings));
    connector.setHost(settings.serveOn());
    connector.setPort(settings.port());
    connector.setIdleTimeout(IDLE_MS_MAX);
    return connector;
  }

  /** The first is that of a new connection. */
  private static ConnectionFactory[] protocols(HttpConfiguration http, Settings settings) {
    if (!settings.tls()) {
      return new ConnectionFactory[] {
        settings.http2() ? new HTTP2CServerConnectionFactory(http) : new HttpConnectionFactory(http)
      };
    }
    http.addCustomizer(new SecureRequestCustomizer());
    if (!settings.http2()) {
      var http1 = new HttpConnectionFactory(http);
      var tls = new SslConnectionFactory(Tls.contexts(settings), http1.getProtocol());
      return new ConnectionFactory[] {tls, http1};
    }
    var http2 = new HTTP2ServerConnectionFactory(http);
    var alpn = new ALPNServerConnectionFactory(http2.getProtocol());
    var tls = new SslConnectionFactory(Tls.contexts(settings), alpn.getProtocol());
    return new ConnectionFactory[] {tls, alpn, http2};
  }

  private Jetty() {}
}
