// What the program is told: environment variables and nothing else (services/README.md).
#pragma once

#include <arpa/inet.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

[[noreturn]] inline void refuse(const std::string& why) {
  std::cerr << why << '\n';
  std::exit(2);
}

// The value of an environment variable; where it is no integer or out of range, the program ends.
inline int integer_from_environment(const char* name, int lowest, int highest, const char* missing) {
  const char* value = std::getenv(name);
  const std::string_view text = value ? value : missing;
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < lowest || number > highest) {
    refuse(std::string(name) + " must be an integer from " + std::to_string(lowest) + " to " +
           std::to_string(highest));
  }
  return number;
}

// The IPv4 address of an environment variable; where it is anything else, the program ends.
inline std::string address_from_environment(const char* name, const char* missing) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return missing;
  in_addr address;
  if (inet_pton(AF_INET, value, &address) != 1)
    refuse(std::string(name) + " must be an IPv4 address, such as 0.0.0.0, not \"" + value + '"');
  return value;
}

struct Settings {
  Settings() {
    if ((tls_cert == nullptr) != (tls_key == nullptr)) refuse("TLS_CERT and TLS_KEY must be set together");
    const char* protocol = std::getenv("PROTOCOL");
    if (protocol && protocol != std::string_view("http/1.1")) refuse("PROTOCOL must be http/1.1");
  }

  std::uint16_t port = integer_from_environment("PORT", 1, 65535, "");
  std::string serve_on = address_from_environment("SERVE_ON", "127.0.0.1");
  int threads = integer_from_environment("THREADS", 1, 1024, "1");
  int delay_ms = integer_from_environment("DELAY_MS", 0, 60000, "0");

  // PEM files; null where the port does not speak TLS.
  const char* tls_cert = std::getenv("TLS_CERT");
  const char* tls_key = std::getenv("TLS_KEY");
  bool wait = integer_from_environment("WAIT", 0, 1, "0") == 1;  // of this service alone: see echo_waiting
};
