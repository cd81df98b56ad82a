package tare;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2SecurityUtil;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.handler.flow.FlowControlHandler;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ApplicationProtocolNegotiationHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SupportedCipherSuiteFilter;
import javax.net.ssl.SSLException;

/** The handlers of a connection: HTTP/1.1, HTTP/2, or with TLS what client and server agree on. */
final class Connections extends ChannelInitializer<SocketChannel> {

  private static final int BODY_BYTES_MAX = 2 * 1024 * 1024;

  private final Delay delay;
  private final SslContext tls;
  private final boolean http2WithoutTls;

  Connections(Settings settings) {
    this.delay = settings.delayMs() > 0 ? new Delay(settings.threads(), settings.delayMs()) : null;
    this.tls = settings.tls() ? tls(settings) : null;
    this.http2WithoutTls = settings.http2WithoutTls();
  }

  @Override
  protected void initChannel(SocketChannel channel) {
    if (tls != null) {
      channel.pipeline().addLast(tls.newHandler(channel.alloc()));
      channel.pipeline().addLast(new Negotiation());
    } else if (http2WithoutTls) {
      addHttp2(channel.pipeline());
    } else {
      addHttp1(channel.pipeline());
    }
  }

  private void addHttp1(ChannelPipeline pipeline) {
    pipeline.addLast(new HttpServerCodec());
    pipeline.addLast(new HttpServerKeepAliveHandler());
    pipeline.addLast(new HttpObjectAggregator(BODY_BYTES_MAX));
    if (delay != null) {
      // A connection is read on only when its request is answered: that keeps the order of
      // pipelined ones.
      pipeline.channel().config().setAutoRead(false);
      pipeline.addLast(new FlowControlHandler());
    }
    pipeline.addLast(new Routes(delay));
  }

  /** Each stream is a channel of its own. */
  private void addHttp2(ChannelPipeline pipeline) {
    pipeline.addLast(Http2FrameCodecBuilder.forServer().build());
    pipeline.addLast(
        new Http2MultiplexHandler(
            new ChannelInitializer<Channel>() {
              @Override
              protected void initChannel(Channel stream) {
                stream.pipeline().addLast(new Http2StreamFrameToHttpObjectCodec(true));
                stream.pipeline().addLast(new HttpObjectAggregator(BODY_BYTES_MAX));
                stream.pipeline().addLast(new HeadAnswers());
                stream.pipeline().addLast(new Routes(delay));
              }
            }));
    pipeline.addLast(new Failures());
  }

  private static SslContext tls(Settings settings) {
    try {
      return SslContextBuilder.forServer(settings.certificates(), settings.key())
          .ciphers(Http2SecurityUtil.CIPHERS, SupportedCipherSuiteFilter.INSTANCE)
          .applicationProtocolConfig(
              new ApplicationProtocolConfig(
                  ApplicationProtocolConfig.Protocol.ALPN,
                  ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
                  ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
                  ApplicationProtocolNames.HTTP_2,
                  ApplicationProtocolNames.HTTP_1_1))
          .build();
    } catch (SSLException | IllegalArgumentException e) {
      throw Settings.refuse("TLS_CERT or TLS_KEY cannot be used: " + e.getMessage());
    }
  }

  private final class Negotiation extends ApplicationProtocolNegotiationHandler {

    /** A client that offers nothing is served HTTP/1.1. */
    Negotiation() {
      super(ApplicationProtocolNames.HTTP_1_1);
    }

    @Override
    protected void configurePipeline(ChannelHandlerContext context, String protocol) {
      if (protocol.equals(ApplicationProtocolNames.HTTP_2)) {
        addHttp2(context.pipeline());
        return;
      }
      addHttp1(context.pipeline());
      if (delay != null) {
        // The routes have come too late to see that the connection is open.
        context.channel().read();
      }
    }

    /** By default it is logged. */
    @Override
    protected void handshakeFailure(ChannelHandlerContext context, Throwable cause) {
      context.close();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      context.close();
    }
  }

  /** A broken connection ends alone. */
  private static final class Failures extends ChannelInboundHandlerAdapter {

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      context.close();
    }
  }
}
