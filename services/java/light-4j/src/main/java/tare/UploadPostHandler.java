package tare;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.networknt.handler.LightHttpHandler;
import io.undertow.server.HttpServerExchange;

/** Counts the bytes of a body as they come. */
public final class UploadPostHandler implements LightHttpHandler {

  private record Received(long bytes, @JsonProperty("byte") int value) {}

  private static final class Count {

    private final long offset;
    private long bytes;

    /** Of the byte at the offset; -1 before it came. */
    private int value = -1;

    Count(long offset) {
      this.offset = offset;
    }

    void add(byte[] part) {
      if (offset >= bytes && offset < bytes + part.length) {
        value = Byte.toUnsignedInt(part[(int) (offset - bytes)]);
      }
      bytes += part.length;
    }
  }

  @Override
  public void handleRequest(HttpServerExchange exchange) {
    Count count = new Count(parse(exchange.getRequestHeaders().getFirst("X-Offset")));
    exchange
        .getRequestReceiver()
        .receivePartialBytes(
            (receiver, part, last) -> {
              count.add(part);
              if (last) {
                answer(receiver, count);
              }
            });
  }

  private static void answer(HttpServerExchange exchange, Count count) {
    if (count.value < 0) {
      exchange.setStatusCode(400).endExchange();
      return;
    }
    try {
      Responses.json(exchange, new Received(count.bytes, count.value));
    } catch (JsonProcessingException e) {
      exchange.setStatusCode(500).endExchange();
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
