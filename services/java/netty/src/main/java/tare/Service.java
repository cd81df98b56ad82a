package tare;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.Version;
import java.util.concurrent.TimeUnit;

/** The contracts of Tare on Netty: its HTTP codec, and no framework above it. */
public final class Service {

  public static void main(String[] args) throws InterruptedException {
    if (args.length == 1 && args[0].equals("--version")) {
      System.out.println(Version.identify().get("netty-codec-http").artifactVersion());
      return;
    }
    Settings settings = Settings.fromEnvironment();
    Connections connections = new Connections(settings);
    EventLoopGroup boss = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    EventLoopGroup workers =
        new MultiThreadIoEventLoopGroup(settings.threads(), NioIoHandler.newFactory());
    try {
      new ServerBootstrap()
          .group(boss, workers)
          .channel(NioServerSocketChannel.class)
          .childHandler(connections)
          .bind(settings.serveOn(), settings.port())
          .sync();
    } catch (Exception e) {
      System.err.println("cannot serve on " + settings.address() + ": " + e.getMessage());
      System.exit(1);
    }
    Termination.onSigterm(
        () -> {
          boss.shutdownGracefully(0, 0, TimeUnit.SECONDS);
          workers.shutdownGracefully(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
        });
  }

  private Service() {}
}
