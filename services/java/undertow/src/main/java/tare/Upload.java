package tare;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.StatusCodes;

/** Counts the bytes of a body as they come. */
final class Upload {

  private record Received(long bytes, @JsonProperty("byte") int value) {}

  private final long offset;
  private long bytes;

  /** Of the byte at the offset; -1 before it came. */
  private int value = -1;

  private Upload(long offset) {
    this.offset = offset;
  }

  static void receive(HttpServerExchange exchange) {
    Upload upload = new Upload(parse(exchange.getRequestHeaders().getFirst("X-Offset")));
    exchange
        .getRequestReceiver()
        .receivePartialBytes(
            (receiver, part, last) -> {
              upload.add(part);
              if (last) {
                upload.answer(receiver);
              }
            });
  }

  private void add(byte[] part) {
    if (offset >= bytes && offset < bytes + part.length) {
      value = Byte.toUnsignedInt(part[(int) (offset - bytes)]);
    }
    bytes += part.length;
  }

  private void answer(HttpServerExchange exchange) {
    if (value < 0) {
      exchange.setStatusCode(StatusCodes.BAD_REQUEST).endExchange();
      return;
    }
    try {
      Json.send(exchange, new Received(bytes, value));
    } catch (JsonProcessingException e) {
      exchange.setStatusCode(StatusCodes.INTERNAL_SERVER_ERROR).endExchange();
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
