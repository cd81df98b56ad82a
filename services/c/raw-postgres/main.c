// What HTTP and PostgreSQL cost by themselves: five contracts with nothing between the socket and libpq.
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

#include "crud.h"
#include "worlds.h"

static const char *url;
static int most_connections;

static void on_rows(struct exchange *exchange, const PGresult *rows) {
  task_of(exchange)->on_rows(exchange, rows);
}

static void on_end(struct exchange *exchange, bool failed) {
  if (failed)
    answer_text(exchange, 500, "the database failed");
  else
    task_of(exchange)->on_end(exchange);
}

static void *start(struct loop *loop, int number, int loops) {
  if (url == NULL) return NULL;
  static const struct answers answers = {on_rows, on_end};
  struct worker *worker = allocate(sizeof *worker);
  const int share = most_connections / loops + (number < most_connections % loops ? 1 : 0);
  *worker = (struct worker){.database = database_open(loop, url, share > 0 ? share : 1, &answers)};
  seed(worker);
  return worker;
}

static void on_request(struct exchange *exchange) {
  struct text path = exchange->path;
  if (url == NULL) return answer_text(exchange, 404, "not found");
  if (text_skip(&path, "/crud/items")) return crud(exchange, path);
  void (*handle)(struct exchange *) = NULL;
  if (text_is(path, "/db")) handle = read_world;
  if (text_is(path, "/queries")) handle = read_worlds;
  if (text_is(path, "/updates")) handle = update_worlds;
  if (text_is(path, "/fortunes")) handle = read_fortunes;
  if (handle == NULL) return answer_text(exchange, 404, "not found");
  if (!exchange_reads(exchange)) return answer_wrong_method(exchange, "GET, HEAD");
  handle(exchange);
}

static void before_wait(struct loop *loop) {
  if (loop->application != NULL) database_send(worker_of(loop)->database);
}

static void check_url(void) {
  struct text text = text_of(url);
  char *message = NULL;
  PQconninfoOption *options = PQconninfoParse(url, &message);
  const bool right = text_skip(&text, "postgres://") || text_skip(&text, "postgresql://");
  if (options == NULL || !right) refuse("DATABASE_URL is no URL of PostgreSQL");
  PQconninfoFree(options);
}

int main(int argc, char *argv[]) {
  if (argc == 2 && strcmp(argv[1], "--version") == 0) {
    printf("%d.%d\n", PQlibVersion() / 10000, PQlibVersion() % 10000);
    return 0;
  }
  const struct settings settings = settings_from_environment();
  most_connections = integer_from_environment("DATABASE_MAX_CONN", 1, 10000, "8");
  url = getenv("DATABASE_URL");
  if (url != NULL) check_url();
  const struct application application = {
      .start = start, .on_request = on_request, .before_wait = before_wait};
  return serve(&settings, &application);
}
