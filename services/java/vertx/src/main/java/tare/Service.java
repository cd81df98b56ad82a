package tare;

import io.vertx.core.DeploymentOptions;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.ext.web.Router;
import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

/** The contracts of Tare on Vert.x, with the router of Vert.x Web. */
public final class Service {

  public static void main(String[] args) throws IOException {
    if (args.length == 1 && args[0].equals("--version")) {
      System.out.println(vertxVersion());
      return;
    }
    Settings settings = Settings.fromEnvironment();
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
    vertx
        .deployVerticle(
            () -> new Routes(settings.port(), delay),
            new DeploymentOptions().setInstances(settings.threads()))
        .onFailure(
            e -> {
              System.err.println(
                  "cannot serve on 127.0.0.1:" + settings.port() + ": " + e.getMessage());
              System.exit(1);
            });
    Termination.onSigterm(() -> vertx.close().await());
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
