// Files by sendfile: what it costs to open a file, to look at it, and to have the kernel send it.
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../http.h"

static int folder = -1;

static const char *type_of(const char *name) {
  static const struct {
    const char *ending, *type;
  } types[] = {
      {"css", "text/css; charset=utf-8"},
      {"html", "text/html; charset=utf-8"},
      {"js", "text/javascript; charset=utf-8"},
      {"json", "application/json"},
      {"svg", "image/svg+xml"},
      {"txt", "text/plain; charset=utf-8"},
      {"webp", "image/webp"},
      {"woff2", "font/woff2"},
  };
  const char *dot = strrchr(name, '.');
  for (size_t i = 0; dot != NULL && i < sizeof types / sizeof *types; ++i)
    if (strcmp(dot + 1, types[i].ending) == 0) return types[i].type;
  return "application/octet-stream";
}

static void write_date(char *date, size_t size, time_t instant) {
  struct tm parts;
  gmtime_r(&instant, &parts);
  strftime(date, size, "%a, %d %b %Y %H:%M:%S GMT", &parts);
}

static bool read_date(struct text text, time_t *instant) {
  char date[40];
  if (text.length >= sizeof date) return false;
  memcpy(date, text.at, text.length);
  date[text.length] = '\0';
  struct tm parts = {0};
  const char *end = strptime(date, "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == NULL || *end != '\0') return false;
  *instant = timegm(&parts);
  return true;
}

enum range { WHOLE, PART, UNSATISFIABLE };

// `bytes=A-B`, `bytes=A-` or `bytes=-N`. Anything else is ignored, as the standard allows: several ranges
// too.
static enum range read_range(struct text text, off_t size, off_t *first, off_t *length) {
  if (!text_skip(&text, "bytes=")) return WHOLE;
  const char *dash = memchr(text.at, '-', text.length);
  if (dash == NULL) return WHOLE;
  const struct text left = {text.at, (size_t)(dash - text.at)};
  const struct text right = {dash + 1, text.length - left.length - 1};
  int64_t from = 0, to = INT64_MAX;
  if (right.length > 0 && (right.at[0] == '-' || !text_integer(right, &to))) return WHOLE;
  if (left.length > 0) {
    if (!text_integer(left, &from) || to < from) return WHOLE;
  } else {
    if (right.length == 0) return WHOLE;
    if (to == 0) return UNSATISFIABLE;
    from = to < size ? size - to : 0;
    to = INT64_MAX;
  }
  if (from >= size) return UNSATISFIABLE;
  *first = from;
  *length = (to < size ? to + 1 : size) - from;
  return PART;
}

static void answer_opened(struct exchange *exchange, const char *name, int file, const struct stat *found) {
  char modified[40];
  write_date(modified, sizeof modified, found->st_mtime);
  answer_begin(exchange);
  answer_header(exchange, "Last-Modified", modified);
  answer_header(exchange, "Accept-Ranges", "bytes");

  struct text asked;
  time_t since;
  if (exchange_header(exchange, "if-modified-since", &asked) && read_date(asked, &since) &&
      found->st_mtime <= since) {
    close(file);
    answer_end(exchange, 304, "");
    return;
  }
  off_t first = 0, length = found->st_size;
  struct text condition;
  enum range range = WHOLE;
  if (exchange->method == METHOD_GET && exchange_header(exchange, "range", &asked) &&
      (!exchange_header(exchange, "if-range", &condition) || text_is(condition, modified)))
    range = read_range(asked, found->st_size, &first, &length);
  char content_range[80];
  if (range == UNSATISFIABLE) {
    close(file);
    snprintf(content_range, sizeof content_range, "bytes */%lld", (long long)found->st_size);
    answer_header(exchange, "Content-Range", content_range);
    answer_text(exchange, 416, "no such range");
    return;
  }
  if (range == PART) {
    snprintf(content_range, sizeof content_range, "bytes %lld-%lld/%lld", (long long)first,
             (long long)(first + length - 1), (long long)found->st_size);
    answer_header(exchange, "Content-Range", content_range);
  }
  answer_file(exchange, range == PART ? 206 : 200, type_of(name), file, first, length);
}

static void on_request(struct exchange *exchange) {
  struct text path = exchange->path;
  if (folder < 0 || !text_skip(&path, "/static/")) return answer_text(exchange, 404, "not found");

  // One name of the folder itself: neither of another folder, nor hidden.
  struct buffer name = {0};
  const bool decoded = buffer_percent_decoded(&name, path, false);
  buffer_add(&name, "\0", 1);
  if (!decoded || name.at[0] == '.' || strchr(name.at, '/') != NULL || strlen(name.at) + 1 != name.length) {
    free(name.at);
    return answer_text(exchange, decoded ? 404 : 400, "not found");
  }
  if (!exchange_reads(exchange)) {
    free(name.at);
    return answer_wrong_method(exchange, "GET, HEAD");
  }
  struct stat found;
  const int file = openat(folder, name.at, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file >= 0 && fstat(file, &found) == 0 && S_ISREG(found.st_mode)) {
    answer_opened(exchange, name.at, file, &found);
  } else {
    const bool missing = file >= 0 || errno == ENOENT || errno == ENAMETOOLONG;
    if (file >= 0) close(file);
    answer_text(exchange, missing ? 404 : 500, missing ? "not found" : "the file cannot be opened");
  }
  free(name.at);
}

int main(int argc, char *argv[]) {
  if (argc == 2 && strcmp(argv[1], "--version") == 0) {
    puts(gnu_get_libc_version());
    return 0;
  }
  const struct settings settings = settings_from_environment();
  const char *path = getenv("FOLDER_STATIC");
  if (path != NULL && (folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
    refuse("FOLDER_STATIC: %s: %s", path, strerror(errno));
  return serve(&settings, &(struct application){.on_request = on_request});
}
