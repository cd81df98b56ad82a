package tare;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufInputStream;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Answers the requests of one connection. */
final class Routes extends SimpleChannelInboundHandler<FullHttpRequest> {

  private static final int COUNT_MAX = 1_000_000;
  private static final String LABELS = "/test/labels/";
  private static final TypeReference<Map<String, Object>> OBJECT = new TypeReference<>() {};

  private static final ObjectMapper MAPPER =
      JsonMapper.builder()
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  private final Delay delay;

  /** Without a delay, {@code delay} is null. */
  Routes(Delay delay) {
    this.delay = delay;
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    if (delay != null) {
      context.read();
    }
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request)
      throws IOException {
    if (!request.decoderResult().isSuccess()) {
      answer(context, empty(HttpResponseStatus.BAD_REQUEST));
      return;
    }
    QueryStringDecoder uri = new QueryStringDecoder(request.uri());
    String path = uri.path();
    if (path.equals("/test") && request.method().equals(HttpMethod.POST)) {
      echo(context, request);
      return;
    }
    boolean get =
        request.method().equals(HttpMethod.GET) || request.method().equals(HttpMethod.HEAD);
    answer(context, get ? get(path, uri) : empty(HttpResponseStatus.NOT_FOUND));
  }

  private static FullHttpResponse get(String path, QueryStringDecoder uri) throws IOException {
    return switch (path) {
      case "/" -> text("Hello world!");
      case "/api/test" -> text("Hello, World!");
      case "/test/status" -> text("OK");
      case "/framework" -> json(Map.of("Hello", "world"));
      case "/benchmark" -> benchmark(uri.parameters().get("count"));
      default -> {
        String label = path.startsWith(LABELS) ? path.substring(LABELS.length()) : "";
        boolean found = !label.isEmpty() && label.indexOf('/') < 0;
        yield found ? text(label) : empty(HttpResponseStatus.NOT_FOUND);
      }
    };
  }

  private void echo(ChannelHandlerContext context, FullHttpRequest request) throws IOException {
    Map<String, Object> message = parseObject(request.content());
    if (message == null) {
      answer(context, empty(HttpResponseStatus.BAD_REQUEST));
      return;
    }
    message.put("text", "received");
    FullHttpResponse response = json(message);
    if (delay == null) {
      answer(context, response);
    } else {
      delay.pass(context.executor(), () -> answer(context, response));
    }
  }

  private static FullHttpResponse benchmark(List<String> values) throws IOException {
    int count = values == null ? 10_000 : parseCount(values.get(0));
    if (count < 0 || count > COUNT_MAX) {
      return empty(HttpResponseStatus.BAD_REQUEST);
    }
    List<String> strings = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      strings.add("Index " + i);
    }
    return json(strings.subList(0, Math.min(10, count)));
  }

  /** What is no object is null. */
  private static Map<String, Object> parseObject(ByteBuf content) throws IOException {
    try (InputStream stream = new ByteBufInputStream(content)) {
      return MAPPER.readValue(stream, OBJECT);
    } catch (JsonProcessingException e) {
      return null;
    }
  }

  /** What is no integer is -1. */
  private static int parseCount(String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  private void answer(ChannelHandlerContext context, FullHttpResponse response) {
    if (delay == null) {
      context.write(response);
    } else {
      context.writeAndFlush(response);
      context.read();
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    context.flush();
  }

  /** A broken connection ends alone. */
  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    context.close();
  }

  private static FullHttpResponse text(String text) {
    ByteBuf body = ByteBufUtil.writeUtf8(ByteBufAllocator.DEFAULT, text);
    return response(HttpResponseStatus.OK, "text/plain; charset=utf-8", body);
  }

  private static FullHttpResponse json(Object value) throws IOException {
    ByteBuf body = Unpooled.wrappedBuffer(MAPPER.writeValueAsBytes(value));
    return response(HttpResponseStatus.OK, "application/json", body);
  }

  private static FullHttpResponse empty(HttpResponseStatus status) {
    return response(status, "text/plain; charset=utf-8", Unpooled.EMPTY_BUFFER);
  }

  private static FullHttpResponse response(HttpResponseStatus status, String type, ByteBuf body) {
    FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, body);
    response.headers().set(HttpHeaderNames.CONTENT_TYPE, type);
    // Netty frames a response by what its headers say, and adds none itself.
    response.headers().setInt(HttpHeaderNames.CONTENT_LENGTH, body.readableBytes());
    return response;
  }
}
