package tare;

import com.networknt.handler.LightHttpHandler;
import com.networknt.resource.PathResourceHandler;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.server.handlers.ResponseCodeHandler;

/** light-4j's own handler of files, which cannot be made without a folder. */
public final class StaticGetHandler implements LightHttpHandler {

  private final HttpHandler files =
      Backings.fromEnvironment().folder() == null
          ? ResponseCodeHandler.HANDLE_404
          : new PathResourceHandler();

  @Override
  public void handleRequest(HttpServerExchange exchange) throws Exception {
    files.handleRequest(exchange);
  }
}
