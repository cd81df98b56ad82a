package tare;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpMethod;

/** Leaves out the body of an answer to HEAD: the codec of HTTP/1.1 does so, that of HTTP/2 not. */
final class HeadAnswers extends ChannelDuplexHandler {

  private boolean head;

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    head = message instanceof FullHttpRequest request && request.method().equals(HttpMethod.HEAD);
    context.fireChannelRead(message);
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    if (head && message instanceof FullHttpResponse response) {
      context.write(response.replace(Unpooled.EMPTY_BUFFER), promise);
      response.release();
    } else {
      context.write(message, promise);
    }
  }
}
