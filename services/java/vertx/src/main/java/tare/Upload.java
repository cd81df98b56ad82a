package tare;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;

/** Counts the bytes of a body as they come. */
final class Upload {

  private final long offset;
  private long bytes;

  /** Of the byte at the offset; -1 before it came. */
  private int value = -1;

  private Upload(long offset) {
    this.offset = offset;
  }

  static void register(Router router) {
    router.post("/upload").handler(Upload::receive);
  }

  private static void receive(RoutingContext context) {
    Upload upload = new Upload(parse(context.request().getHeader("X-Offset")));
    context.request().handler(upload::add).endHandler(end -> upload.answer(context));
  }

  private void add(Buffer buffer) {
    if (offset >= bytes && offset < bytes + buffer.length()) {
      value = buffer.getUnsignedByte((int) (offset - bytes));
    }
    bytes += buffer.length();
  }

  private void answer(RoutingContext context) {
    if (value < 0) {
      context.fail(400);
    } else {
      context.json(new JsonObject().put("bytes", bytes).put("byte", value));
    }
  }

  /** What is no integer is -1, at which there is no byte. */
  private static long parse(String text) {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      return -1;
    }
  }
}
