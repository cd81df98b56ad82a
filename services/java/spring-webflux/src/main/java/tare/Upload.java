package tare;

import com.fasterxml.jackson.annotation.JsonProperty;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Counts the bytes of a body as they come. */
@RestController
class Upload {

  /** The value is that of the byte at the offset, and -1 before it came. */
  record Received(long bytes, @JsonProperty("byte") int value) {

    Received with(DataBuffer buffer, long offset) {
      int length = buffer.readableByteCount();
      boolean here = offset >= bytes && offset < bytes + length;
      int found = here ? Byte.toUnsignedInt(buffer.getByte((int) (offset - bytes))) : value;
      DataBufferUtils.release(buffer);
      return new Received(bytes + length, found);
    }
  }

  @PostMapping("/upload")
  Mono<Received> receive(
      @RequestHeader("X-Offset") long offset, @RequestBody Flux<DataBuffer> body) {
    return body.reduce(new Received(0, -1), (received, buffer) -> received.with(buffer, offset))
        .filter(received -> received.value >= 0)
        .switchIfEmpty(Mono.error(() -> new ResponseStatusException(HttpStatus.BAD_REQUEST)));
  }
}
