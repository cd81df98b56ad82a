// Connections to PostgreSQL in pipeline mode, which all requests of one loop share. What is asked while
// events are handled is sent together, and answered in that order.
#pragma once

#include <libpq-fe.h>

#include "../http.h"

enum statement { WORLD_READ, WORLD_WRITE, FORTUNES, ITEM_READ, ITEM_LIST, ITEM_CREATE, ITEM_UPDATE };

// A parameter in the binary form of the protocol.
struct parameter {
  const char *at;
  int length;
};

struct database;

// What the application is told. Both are called on the loop's thread, for the results in the order of the
// questions.
struct answers {
  void (*on_rows)(struct exchange *exchange, const PGresult *rows);
  // All that was asked for this exchange is there; of a failure, at least one of them is not.
  void (*on_end)(struct exchange *exchange, bool failed);
};

// Ends the program if the database cannot be reached.
struct database *database_open(struct loop *loop, const char *url, int connections,
                               const struct answers *answers);

// Puts questions for one exchange: begin, any number of them, end. False if no connection is there.
bool database_begin(struct database *database, struct exchange *exchange);
void database_ask(struct database *database, enum statement statement, const struct parameter *parameters,
                  int count);
// With `commit`, `on_end` comes once what was written is committed, and the exchange shares its transaction
// with no other that writes.
void database_end(struct database *database, bool commit);

// Before the loop waits: sends what was asked.
void database_send(struct database *database);
