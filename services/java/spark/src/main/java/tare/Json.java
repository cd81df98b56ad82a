package tare;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.Strictness;

/** JSON by Gson, as in Spark's documentation. */
final class Json {

  static final String TYPE = "application/json";

  static final Gson GSON =
      new GsonBuilder().setStrictness(Strictness.STRICT).serializeNulls().create();

  private Json() {}
}
