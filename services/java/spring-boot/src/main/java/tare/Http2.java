package tare;

import java.util.concurrent.TimeUnit;
import org.apache.coyote.http2.Http2Protocol;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.tomcat.ConfigurableTomcatWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

/** Settings of Tomcat's HTTP/2, for which Spring Boot has no properties. */
@Component
@Profile("http2")
class Http2 implements WebServerFactoryCustomizer<ConfigurableTomcatWebServerFactory> {

  private final int threads;

  Http2(@Value("${THREADS:1}") int threads) {
    this.threads = threads;
  }

  @Override
  public void customize(ConfigurableTomcatWebServerFactory factory) {
    factory.addConnectorCustomizers(
        connector -> {
          for (var protocol : connector.findUpgradeProtocols()) {
            if (protocol instanceof Http2Protocol http2) {
              http2.setMaxConcurrentStreamExecution(threads);
              http2.setKeepAliveTimeout(TimeUnit.HOURS.toMillis(1));
            }
          }
        });
  }
}
