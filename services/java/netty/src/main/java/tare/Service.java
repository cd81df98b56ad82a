package tare;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import io.netty.handler.flow.FlowControlHandler;
import io.netty.util.Version;
import java.util.concurrent.TimeUnit;

/** The contracts of Tare on Netty: its HTTP codec, and no framework above it. */
public final class Service {

  private static final int BODY_BYTES_MAX = 2 * 1024 * 1024;

  public static void main(String[] args) throws InterruptedException {
    if (args.length == 1 && args[0].equals("--version")) {
      System.out.println(Version.identify().get("netty-codec-http").artifactVersion());
      return;
    }
    Settings settings = Settings.fromEnvironment();
    EventLoopGroup boss = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    EventLoopGroup workers =
        new MultiThreadIoEventLoopGroup(settings.threads(), NioIoHandler.newFactory());
    try {
      bootstrap(settings).group(boss, workers).bind("127.0.0.1", settings.port()).sync();
    } catch (Exception e) {
      System.err.println("cannot serve on 127.0.0.1:" + settings.port() + ": " + e.getMessage());
      System.exit(1);
    }
    Termination.onSigterm(
        () -> {
          boss.shutdownGracefully(0, 0, TimeUnit.SECONDS);
          workers.shutdownGracefully(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
        });
  }

  private static ServerBootstrap bootstrap(Settings settings) {
    Delay delay = settings.delayMs() > 0 ? new Delay(settings.threads(), settings.delayMs()) : null;
    return new ServerBootstrap()
        .channel(NioServerSocketChannel.class)
        // With a delay, a connection is read on only when its request is answered: that keeps the
        // order of pipelined ones.
        .childOption(ChannelOption.AUTO_READ, delay == null)
        .childHandler(
            new ChannelInitializer<SocketChannel>() {
              @Override
              protected void initChannel(SocketChannel channel) {
                ChannelPipeline pipeline = channel.pipeline();
                pipeline.addLast(new HttpServerCodec());
                pipeline.addLast(new HttpServerKeepAliveHandler());
                pipeline.addLast(new HttpObjectAggregator(BODY_BYTES_MAX));
                if (delay != null) {
                  pipeline.addLast(new FlowControlHandler());
                }
                pipeline.addLast(new Routes(delay));
              }
            });
  }

  private Service() {}
}
