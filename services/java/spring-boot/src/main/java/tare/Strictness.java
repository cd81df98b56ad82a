package tare;

import org.springframework.boot.jackson.autoconfigure.JsonMapperBuilderCustomizer;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;
import tools.jackson.databind.cfg.CoercionAction;
import tools.jackson.databind.cfg.CoercionInputShape;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.type.LogicalType;

/** Refuses a number where a text belongs, for which Spring Boot has no property. */
@Component
@Profile("database")
class Strictness implements JsonMapperBuilderCustomizer {

  @Override
  public void customize(JsonMapper.Builder builder) {
    builder.withCoercionConfig(
        LogicalType.Textual,
        text ->
            text.setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
                .setCoercion(CoercionInputShape.Float, CoercionAction.Fail)
                .setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail));
  }
}
