package tare;

import java.util.Map;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Profile;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.reactive.function.client.WebClientResponseException;
import org.springframework.web.server.ResponseStatusException;
import reactor.core.publisher.Mono;

/** Passes on what another server answers. */
@RestController
@Profile("gateway")
class Gateway {

  private static final ParameterizedTypeReference<Map<String, Object>> OBJECT =
      new ParameterizedTypeReference<>() {};

  private final WebClient client;

  Gateway(WebClient.Builder builder, @Value("${UPSTREAM_URL}") String upstream) {
    this.client = builder.baseUrl(upstream).build();
  }

  @GetMapping("/gateway/{id}")
  Mono<Map<String, Object>> item(@PathVariable String id) {
    return client
        .get()
        .uri("/items/{id}", id)
        .retrieve()
        .bodyToMono(OBJECT)
        .doOnNext(item -> item.put("via", "gateway"))
        .onErrorMap(
            WebClientResponseException.NotFound.class,
            e -> new ResponseStatusException(HttpStatus.NOT_FOUND));
  }
}
