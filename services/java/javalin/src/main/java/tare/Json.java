package tare;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.type.LogicalType;
import io.javalin.json.JavalinJackson;
import java.util.LinkedHashMap;

/** Javalin's mapper of Jackson, which converts nothing that it reads. */
final class Json {

  /** A JSON object with whatever members. */
  static final class Message extends LinkedHashMap<String, Object> {}

  static JavalinJackson mapper() {
    return new JavalinJackson().updateMapper(Json::configure);
  }

  private static void configure(ObjectMapper mapper) {
    mapper
        .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
        .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
        .enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
        .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
        .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
        .configure(MapperFeature.ALLOW_COERCION_OF_SCALARS, false)
        .coercionConfigFor(LogicalType.Textual)
        .setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
        .setCoercion(CoercionInputShape.Float, CoercionAction.Fail)
        .setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail);
  }

  private Json() {}
}
