package tare;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.io.IOException;
import java.io.InputStream;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Counts the bytes of a body as they come. */
@RestController
class Upload {

  private static final int BUFFER_SIZE = 64 * 1024;

  record Received(long bytes, @JsonProperty("byte") int value) {}

  @PostMapping("/upload")
  Received receive(@RequestHeader("X-Offset") long offset, InputStream body) throws IOException {
    byte[] buffer = new byte[BUFFER_SIZE];
    long bytes = 0;
    int value = -1;
    for (int length = body.read(buffer); length >= 0; length = body.read(buffer)) {
      if (offset >= bytes && offset < bytes + length) {
        value = Byte.toUnsignedInt(buffer[(int) (offset - bytes)]);
      }
      bytes += length;
    }
    if (value < 0) {
      throw new ResponseStatusException(HttpStatus.BAD_REQUEST);
    }
    return new Received(bytes, value);
  }
}
