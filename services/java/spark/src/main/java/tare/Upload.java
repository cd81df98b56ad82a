package tare;

import static spark.Spark.halt;

import com.google.gson.annotations.SerializedName;
import java.io.IOException;
import java.io.InputStream;
import spark.Request;
import spark.Response;

/** Counts the bytes of a body as they come. */
final class Upload {

  private static final int BUFFER_SIZE = 64 * 1024;

  private record Received(long bytes, @SerializedName("byte") int value) {}

  static Object receive(Request request, Response response) throws IOException {
    long offset = parse(request.headers("X-Offset"));
    byte[] buffer = new byte[BUFFER_SIZE];
    long bytes = 0;
    int value = -1;
    InputStream body = request.raw().getInputStream();
    for (int length = body.read(buffer); length >= 0; length = body.read(buffer)) {
      if (offset >= bytes && offset < bytes + length) {
        value = Byte.toUnsignedInt(buffer[(int) (offset - bytes)]);
      }
      bytes += length;
    }
    if (value < 0) {
      halt(400);
    }
    response.type(Json.TYPE);
    return new Received(bytes, value);
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
