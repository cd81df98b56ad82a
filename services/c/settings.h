// What the program is told: environment variables and nothing else (docs/reference/service.md).
#pragma once

#include <netinet/in.h>
#include <stdint.h>

struct settings {
  uint16_t port;
  struct in_addr serve_on;
  int threads;
};

// Writes one line to stderr, and ends the program with status 2.
_Noreturn void refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

// The value of an environment variable; where it is no integer or out of range, the program ends.
int integer_from_environment(const char *name, int lowest, int highest, const char *missing);

// Those of every service. DELAY_MS is looked at too, and has no effect: there is no `POST /test`.
struct settings settings_from_environment(void);
