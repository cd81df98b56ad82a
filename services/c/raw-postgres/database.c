#include "database.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>

// The statements of `enum statement`.
static const struct {
  const char *name, *sql;
} statements[] = {
    {"world-read", "SELECT id, randomnumber FROM world WHERE id = $1"},
    // The join goes through the array in its order, since it cannot be hashed (see `prepare`): so rows are
    // written by ascending id.
    {"world-write",
     "UPDATE world SET randomnumber = new.value FROM unnest($1::integer[], $2::integer[]) AS new (id, value) "
     "WHERE world.id = new.id"},
    {"fortunes", "SELECT id, message FROM fortune"},
    {"item-read", "SELECT id, name, category, price, quantity FROM items WHERE id = $1"},
    {"item-list",
     "SELECT id, name, category, price, quantity FROM items WHERE category = $1 ORDER BY id LIMIT $2 OFFSET "
     "$3"},
    {"item-create",
     "INSERT INTO items (name, category, price, quantity) VALUES ($1, $2, $3, $4) "
     "RETURNING id, name, category, price, quantity"},
    {"item-update",
     "UPDATE items SET name = $2, category = $3, price = $4, quantity = $5 WHERE id = $1 "
     "RETURNING id, name, category, price, quantity"},
};

enum { STATEMENTS = sizeof statements / sizeof *statements, MOST_PARAMETERS = 5 };

// What a connection still has to answer, in order.
struct expected {
  enum { ROWS, LAST_ROWS, SYNC, SYNC_OF_COMMIT } kind;
  struct exchange *exchange;
};

struct link {
  struct watcher watcher;
  struct database *database;
  PGconn *connection;
  bool asked;     // since the last sync
  bool blocked;   // waits until more can be written
  bool failed;    // an error came, after which the server skips all up to the next sync
  bool useless;   // a question could not be put
  time_t broken;  // when it was last tried, if it is; 0: it works
  struct expected *ring;
  size_t first, count, capacity;  // of the ring; the capacity is a power of two
};

struct database {
  struct loop *loop;
  const char *url;
  const struct answers *answers;
  int connections;
  struct link *links;
  // Between `database_begin` and `database_end`.
  struct link *current;
  struct exchange *exchange;
  bool asked_before;
};

static void expect(struct link *link, int kind, struct exchange *exchange) {
  if (link->count == link->capacity) {
    const size_t capacity = link->capacity == 0 ? 1024 : link->capacity * 2;
    struct expected *ring = allocate(capacity * sizeof *ring);
    for (size_t i = 0; i < link->count; ++i) ring[i] = link->ring[(link->first + i) & (link->capacity - 1)];
    free(link->ring);
    link->ring = ring;
    link->first = 0;
    link->capacity = capacity;
  }
  link->ring[(link->first + link->count++) & (link->capacity - 1)] = (struct expected){kind, exchange};
}

static struct expected take(struct link *link) {
  const struct expected expected = link->ring[link->first];
  link->first = (link->first + 1) & (link->capacity - 1);
  --link->count;
  return expected;
}

static bool prepare(PGconn *connection) {
  // Without hashing, a statement that writes many rows does so in the order of their ids: no two can block
  // each other.
  PGresult *result = PQexec(connection, "SET enable_hashjoin = off");
  bool right = PQresultStatus(result) == PGRES_COMMAND_OK;
  PQclear(result);
  for (int i = 0; right && i < STATEMENTS; ++i) {
    result = PQprepare(connection, statements[i].name, statements[i].sql, 0, NULL);
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const bool no_table =
        state != NULL && strcmp(state, "42P01") == 0;  // another contract has it: nothing asks here
    right = no_table || PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
  }
  return right && PQsetnonblocking(connection, 1) == 0 && PQenterPipelineMode(connection) == 1;
}

static bool connect_link(struct link *link) {
  link->connection = PQconnectdb(link->database->url);
  if (PQstatus(link->connection) != CONNECTION_OK || !prepare(link->connection)) return false;
  link->broken = 0;
  link->asked = link->blocked = link->failed = link->useless = false;
  loop_watch(link->database->loop, PQsocket(link->connection), &link->watcher, EPOLLIN);
  return true;
}

// Everything it still had to answer fails. Each exchange ends once, with the last it expected.
static void break_link(struct link *link) {
  fprintf(stderr, "database: %s", PQerrorMessage(link->connection));
  PQfinish(link->connection);
  link->connection = NULL;
  link->asked = link->blocked = false;
  link->broken = time(NULL);
  struct link lost = *link;  // an answer may let the next request in, which may connect anew
  link->ring = NULL;
  link->first = link->count = link->capacity = 0;
  while (lost.count > 0) {
    const struct expected expected = take(&lost);
    if (expected.kind == LAST_ROWS || expected.kind == SYNC_OF_COMMIT)
      link->database->answers->on_end(expected.exchange, true);
  }
  free(lost.ring);
}

static void flush_link(struct link *link) {
  const int left = PQflush(link->connection);
  if (left < 0) return break_link(link);
  if ((left > 0) != link->blocked) {
    link->blocked = left > 0;
    loop_change(link->database->loop, PQsocket(link->connection), &link->watcher,
                EPOLLIN | (link->blocked ? EPOLLOUT : 0));
  }
}

// Where `exchange` is not null, it ends by this.
static void sync_link(struct link *link, struct exchange *exchange) {
  expect(link, exchange != NULL ? SYNC_OF_COMMIT : SYNC, exchange);
  link->asked = false;
  // This sends what is in the buffer too, as far as the socket takes it.
  if (link->useless || PQpipelineSync(link->connection) != 1) return break_link(link);
  flush_link(link);
}

// One result, or the null that ends those of one question.
static void read_result(struct link *link) {
  const struct answers *answers = link->database->answers;
  PGresult *result = PQgetResult(link->connection);
  const struct expected expected = link->ring[link->first];
  if (result == NULL) {
    if (expected.kind == SYNC || expected.kind == SYNC_OF_COMMIT) return break_link(link);  // it has none
    take(link);
    if (expected.kind == LAST_ROWS) answers->on_end(expected.exchange, link->failed);
    return;
  }
  switch (PQresultStatus(result)) {
    case PGRES_TUPLES_OK:
    case PGRES_COMMAND_OK:
      answers->on_rows(expected.exchange, result);
      break;
    case PGRES_PIPELINE_SYNC: {
      take(link);
      const bool failed = link->failed;
      link->failed = false;
      if (expected.kind == SYNC_OF_COMMIT) answers->on_end(expected.exchange, failed);
      break;
    }
    case PGRES_PIPELINE_ABORTED:
      break;
    default:
      fprintf(stderr, "database: %s", PQresultErrorMessage(result));
      link->failed = true;
  }
  PQclear(result);
}

static void on_link(struct watcher *watcher, uint32_t events) {
  struct link *link = (struct link *)watcher;
  if (link->connection == NULL) return;
  if ((events & ~(uint32_t)EPOLLOUT) != 0 && PQconsumeInput(link->connection) != 1) return break_link(link);
  while (link->count > 0 && PQisBusy(link->connection) == 0) read_result(link);
  if (link->blocked) flush_link(link);
}

// The connection with the least to answer. One that is broken is tried again, once a second.
static struct link *choose(struct database *database) {
  struct link *best = NULL;
  for (int i = 0; i < database->connections; ++i) {
    struct link *link = &database->links[i];
    if (link->broken != 0) {
      const time_t now = time(NULL);
      if (now == link->broken) continue;
      if (link->connection != NULL) PQfinish(link->connection);
      link->broken = now;
      if (!connect_link(link)) continue;
    }
    if (best == NULL || link->count < best->count) best = link;
  }
  return best;
}

struct database *database_open(struct loop *loop, const char *url, int connections,
                               const struct answers *answers) {
  struct database *database = allocate(sizeof *database);
  struct link *links = allocate((size_t)connections * sizeof *links);
  *database = (struct database){loop, url, answers, connections, links, NULL, NULL, false};
  for (int i = 0; i < connections; ++i) {
    links[i] = (struct link){.watcher.on_event = on_link, .database = database};
    if (!connect_link(&links[i])) {
      fprintf(stderr, "DATABASE_URL: %s", PQerrorMessage(links[i].connection));
      exit(1);
    }
  }
  return database;
}

bool database_begin(struct database *database, struct exchange *exchange) {
  database->current = choose(database);
  database->exchange = exchange;
  database->asked_before = false;
  return database->current != NULL;
}

// A question is expected as the exchange's last one until another follows.
void database_ask(struct database *database, enum statement statement, const struct parameter *parameters,
                  int count) {
  struct link *link = database->current;
  const char *values[MOST_PARAMETERS];
  int lengths[MOST_PARAMETERS], formats[MOST_PARAMETERS];
  for (int i = 0; i < count; ++i) {
    values[i] = parameters[i].at;
    lengths[i] = parameters[i].length;
    formats[i] = 1;
  }
  if (database->asked_before) link->ring[(link->first + link->count - 1) & (link->capacity - 1)].kind = ROWS;
  database->asked_before = true;
  expect(link, LAST_ROWS, database->exchange);
  link->asked = true;
  if (!link->useless && PQsendQueryPrepared(link->connection, statements[statement].name, count, values,
                                            lengths, formats, 1) != 1)
    link->useless = true;
}

void database_end(struct database *database, bool commit) {
  struct link *link = database->current;
  if (!commit) return;  // sent by `database_send`, with those of others
  link->ring[(link->first + link->count - 1) & (link->capacity - 1)].kind = ROWS;
  sync_link(link, database->exchange);
}

void database_send(struct database *database) {
  for (int i = 0; i < database->connections; ++i)
    if (database->links[i].asked && database->links[i].connection != NULL)
      sync_link(&database->links[i], NULL);
}
