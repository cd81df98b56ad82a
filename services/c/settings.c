#include "settings.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "buffer.h"

_Noreturn void refuse(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(2);
}

int integer_from_environment(const char *name, int lowest, int highest, const char *missing) {
  const char *value = getenv(name);
  int64_t number = 0;
  if (!text_integer(text_of(value ? value : missing), &number) || number < lowest || number > highest)
    refuse("%s must be an integer from %d to %d", name, lowest, highest);
  return (int)number;
}

static struct in_addr address_from_environment(const char *name) {
  struct in_addr address = {.s_addr = htonl(INADDR_LOOPBACK)};
  const char *value = getenv(name);
  if (value != NULL && value[0] != '\0' && inet_pton(AF_INET, value, &address) != 1)
    refuse("%s must be an IPv4 address, such as 0.0.0.0, not \"%s\"", name, value);
  return address;
}

struct settings settings_from_environment(void) {
  struct settings settings;
  settings.port = (uint16_t)integer_from_environment("PORT", 1, 65535, "");
  settings.serve_on = address_from_environment("SERVE_ON");
  settings.threads = integer_from_environment("THREADS", 1, 1024, "1");
  integer_from_environment("DELAY_MS", 0, 60000, "0");
  return settings;
}
