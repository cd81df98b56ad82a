package tare;

import java.util.Map;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Profile;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.HttpClientErrorException;
import org.springframework.web.client.RestClient;
import org.springframework.web.server.ResponseStatusException;

/** Passes on what another server answers. */
@RestController
@Profile("gateway")
class Gateway {

  private final RestClient client;

  Gateway(RestClient.Builder builder, @Value("${UPSTREAM_URL}") String upstream) {
    this.client = builder.baseUrl(upstream).build();
  }

  @GetMapping("/gateway/{id}")
  Map<String, Object> item(@PathVariable String id) {
    try {
      Map<String, Object> item =
          client
              .get()
              .uri("/items/{id}", id)
              .retrieve()
              .requiredBody(new ParameterizedTypeReference<>() {});
      item.put("via", "gateway");
      return item;
    } catch (HttpClientErrorException.NotFound e) {
      throw new ResponseStatusException(HttpStatus.NOT_FOUND);
    }
  }
}
