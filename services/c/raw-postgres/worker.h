// What a loop has of its own, and what an exchange keeps until the database has answered.
#pragma once

#include <endian.h>

#include "../http.h"
#include "../json.h"
#include "database.h"

enum { WORLDS = 10000, MOST_QUERIES = 500 };

struct worker {
  struct database *database;
  struct arena arena;
  struct buffer scratch;
  uint64_t random[4];
  uint64_t drawn[WORLDS / 64 + 1];  // a bit for each world
};

static inline struct worker *worker_of(struct loop *loop) { return loop->application; }

struct task {
  void (*on_rows)(struct exchange *exchange, const PGresult *rows);
  void (*on_end)(struct exchange *exchange);
  struct buffer *out;
  int64_t page, limit;
  int rows, asked;
  int status;
};

static inline struct task *task_of(struct exchange *exchange) {
  _Static_assert(sizeof(struct task) <= sizeof exchange->state, "an exchange has room for a task");
  return (struct task *)&exchange->state;
}

// Integers as the protocol has them.
static inline int32_t integer_at(const PGresult *rows, int row, int column) {
  uint32_t value;
  memcpy(&value, PQgetvalue(rows, row, column), sizeof value);
  return (int32_t)be32toh(value);
}

static inline struct text text_at(const PGresult *rows, int row, int column) {
  return (struct text){PQgetvalue(rows, row, column), (size_t)PQgetlength(rows, row, column)};
}
