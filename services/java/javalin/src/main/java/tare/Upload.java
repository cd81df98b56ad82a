package tare;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.javalin.http.BadRequestResponse;
import io.javalin.http.Context;
import java.io.IOException;
import java.io.InputStream;

/** Counts the bytes of a body as they come. */
final class Upload {

  private static final int BUFFER_SIZE = 64 * 1024;

  private record Received(long bytes, @JsonProperty("byte") int value) {}

  static void receive(Context context) throws IOException {
    long offset = context.headerAsClass("X-Offset", Long.class).get();
    byte[] buffer = new byte[BUFFER_SIZE];
    long bytes = 0;
    int value = -1;
    InputStream body = context.bodyInputStream();
    for (int length = body.read(buffer); length >= 0; length = body.read(buffer)) {
      if (offset >= bytes && offset < bytes + length) {
        value = Byte.toUnsignedInt(buffer[(int) (offset - bytes)]);
      }
      bytes += length;
    }
    if (value < 0) {
      throw new BadRequestResponse("X-Offset must be the offset of a byte");
    }
    context.json(new Received(bytes, value));
  }

  private Upload() {}
}
