package tare;

import io.helidon.http.BadRequestException;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.json.JsonObject;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.io.InputStream;

/** Counts the bytes of a body as they come. */
final class Upload {

  private static final HeaderName OFFSET = HeaderNames.create("X-Offset");
  private static final int BUFFER_SIZE = 64 * 1024;

  static void receive(ServerRequest request, ServerResponse response) throws IOException {
    long offset = parse(request.headers().first(OFFSET).orElse(""));
    byte[] buffer = new byte[BUFFER_SIZE];
    long bytes = 0;
    int value = -1;
    try (InputStream body = request.content().inputStream()) {
      for (int length = body.read(buffer); length >= 0; length = body.read(buffer)) {
        if (offset >= bytes && offset < bytes + length) {
          value = Byte.toUnsignedInt(buffer[(int) (offset - bytes)]);
        }
        bytes += length;
      }
    }
    if (value < 0) {
      throw new BadRequestException("X-Offset must be the offset of a byte");
    }
    response.send(JsonObject.builder().set("bytes", bytes).set("byte", value).build());
  }

  /** What is no integer is -1, at which there is no byte. */
  private static long parse(String text) {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  private Upload() {}
}
