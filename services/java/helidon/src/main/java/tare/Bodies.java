package tare;

import io.helidon.http.BadRequestException;
import io.helidon.json.JsonException;
import io.helidon.json.JsonObject;
import io.helidon.json.JsonValue;
import io.helidon.webserver.http.ServerRequest;

/** JSON in the body of a request. */
final class Bodies {

  /** What is no object is a bad request. */
  static JsonObject object(ServerRequest request) {
    try {
      if (request.content().hasEntity()
          && request.content().as(JsonValue.class) instanceof JsonObject object) {
        return object;
      }
    } catch (JsonException e) {
      throw new BadRequestException("the body is no JSON", e);
    }
    throw new BadRequestException("the body is no JSON object");
  }

  private Bodies() {}
}
