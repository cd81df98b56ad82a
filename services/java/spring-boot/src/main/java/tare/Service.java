package tare;

import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.core.NestedExceptionUtils;

/** The contracts of Tare on Spring Boot: Spring MVC on the embedded Tomcat. */
@SpringBootApplication
public class Service {

  public static void main(String[] args) {
    if (args.length == 1 && args[0].equals("--version")) {
      System.out.println(SpringBootVersion.getVersion());
      return;
    }
    Settings settings = Settings.fromEnvironment();
    Backings backings = Backings.fromEnvironment();
    SpringApplication application = new SpringApplication(Service.class);
    application.setAdditionalProfiles(profiles(settings, backings));
    application.setDefaultProperties(properties(settings, backings));
    try {
      var context = application.run(args);
      Termination.onSigterm(context::close);
    } catch (Exception e) {
      Throwable cause = NestedExceptionUtils.getMostSpecificCause(e);
      if (cause instanceof Settings.Invalid) {
        throw Settings.refuse(cause.getMessage());
      }
      System.err.println("cannot serve on " + settings.address() + ": " + cause.getMessage());
      System.exit(1);
    }
  }

  private static String[] profiles(Settings settings, Backings backings) {
    return Stream.of(Protocols.profiles(settings), backings.profiles())
        .flatMap(Stream::of)
        .toArray(String[]::new);
  }

  private static Map<String, Object> properties(Settings settings, Backings backings) {
    Map<String, Object> properties = new HashMap<>();
    properties.put("server.address", settings.serveOn());
    if (backings.database() != null) {
      properties.put("spring.datasource.url", backings.jdbcUrl());
      properties.put("spring.datasource.username", backings.user());
      properties.put("spring.datasource.password", backings.password());
    }
    return properties;
  }
}
