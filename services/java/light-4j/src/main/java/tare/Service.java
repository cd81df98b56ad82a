package tare;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.networknt.config.Config;
import com.networknt.server.Server;
import com.networknt.server.ServerConfig;
import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

/** The contracts of Tare on light-4j: handlers and paths stand in {@code config/handler.yml}. */
public final class Service {

  public static void main(String[] args) throws IOException {
    if (args.length == 1 && args[0].equals("--version")) {
      System.out.println(light4jVersion());
      return;
    }
    // Refuses bad values; those of the files in config are the same variables.
    Settings settings = Settings.fromEnvironment();
    Products.fromEnvironment();
    ServerConfig.getInstance().setIp(settings.serveOn());
    ServerConfig.getInstance().setEnableHttp2(settings.http2());
    Config.getInstance()
        .getMapper()
        .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
        .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
    Server.main(args);
    Termination.onSigterm(Server::shutdown);
  }

  /** The version of light-4j on the class path, as the jar of its server says. */
  private static String light4jVersion() throws IOException {
    String path = "/META-INF/maven/com.networknt/server/pom.properties";
    try (InputStream stream = Server.class.getResourceAsStream(path)) {
      Properties properties = new Properties();
      properties.load(stream);
      return properties.getProperty("version");
    }
  }

  private Service() {}
}
