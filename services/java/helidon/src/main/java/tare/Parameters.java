package tare;

import io.helidon.http.BadRequestException;

/** Integers in a path or a query. */
final class Parameters {

  /** Another text, and one that is missing, is a bad request. */
  static int integer(String name, String text, int min, int max) {
    try {
      int value = Integer.parseInt(text);
      if (value >= min && value <= max) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Answered below, with what is out of range.
    }
    throw new BadRequestException(name + " must be an integer from " + min + " to " + max);
  }

  private Parameters() {}
}
