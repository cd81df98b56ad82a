// What the program is told: environment variables and nothing else (services/README.md).
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string_view>

// The value of an environment variable; where it is no integer or out of range, the program ends.
inline int integer_from_environment(const char* name, int lowest, int highest, const char* missing) {
  const char* value = std::getenv(name);
  const std::string_view text = value ? value : missing;
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < lowest || number > highest) {
    std::cerr << name << " must be an integer from " << lowest << " to " << highest << '\n';
    std::exit(2);
  }
  return number;
}

struct Settings {
  std::uint16_t port = integer_from_environment("PORT", 1, 65535, "");
  int threads = integer_from_environment("THREADS", 1, 1024, "1");
  int delay_ms = integer_from_environment("DELAY_MS", 0, 60000, "0");
  bool wait = integer_from_environment("WAIT", 0, 1, "0") == 1;  // of this service alone: see echo_waiting
};
