package tare;

import io.vertx.core.DeploymentOptions;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.KeyCertOptions;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.ext.web.Router;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Properties;

/** The contracts of Tare on Vert.x, with the router of Vert.x Web. */
public final class Service {

  public static void main(String[] args) throws IOException {
    if (args.length == 1 && args[0].equals("--version")) {
      System.out.println(vertxVersion());
      return;
    }
    Settings settings = Settings.fromEnvironment();
    Backings backings = Backings.fromEnvironment();
    Vertx vertx =
        Vertx.vertx(
            new VertxOptions()
                .setEventLoopPoolSize(settings.threads())
                .setFileSystemOptions(
                    new FileSystemOptions()
                        .setFileCachingEnabled(false)
                        .setClassPathResolvingEnabled(false)));
    Delay delay =
        settings.delayMs() > 0 ? new Delay(vertx, settings.threads(), settings.delayMs()) : null;
    Products products =
        backings.products() != null ? Products.read(vertx, backings.products()) : null;
    HttpServerOptions options =
        options(settings, vertx).setCompressionSupported(List.of(args).contains("--compress"));
    vertx
        .deployVerticle(
            () -> new Routes(options, delay, backings, products),
            new DeploymentOptions().setInstances(settings.threads()))
        .onFailure(
            e -> {
              System.err.println("cannot serve on " + settings.address() + ": " + e.getMessage());
              System.exit(1);
            });
    Termination.onSigterm(() -> vertx.close().await());
  }

  /** By default a server without TLS takes HTTP/2 with prior knowledge beside HTTP/1.1. */
  private static HttpServerOptions options(Settings settings, Vertx vertx) {
    HttpServerOptions options =
        new HttpServerOptions().setHost(settings.serveOn()).setPort(settings.port());
    if (settings.tls()) {
      options.setSsl(true).setUseAlpn(true).setKeyCertOptions(keys(settings, vertx));
    }
    return options;
  }

  private static KeyCertOptions keys(Settings settings, Vertx vertx) {
    KeyCertOptions keys =
        new PemKeyCertOptions()
            .setCertPath(settings.certificates().getPath())
            .setKeyPath(settings.key().getPath());
    try {
      keys.getKeyManagerFactory(vertx);
    } catch (Exception e) {
      throw Settings.refuse("TLS_CERT or TLS_KEY cannot be used: " + e.getMessage());
    }
    return keys;
  }

  /** The version of Vert.x on the class path, as the jar of Vert.x Web says. */
  private static String vertxVersion() throws IOException {
    String path = "/META-INF/maven/io.vertx/vertx-web/pom.properties";
    try (InputStream stream = Router.class.getResourceAsStream(path)) {
      Properties properties = new Properties();
      properties.load(stream);
      return properties.getProperty("version");
    }
  }

  private Service() {}
}
