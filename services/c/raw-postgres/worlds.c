#include "worlds.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

void seed(struct worker *worker) {
  if (getrandom(worker->random, sizeof worker->random, 0) == sizeof worker->random) return;
  perror("getrandom");
  exit(1);
}

static inline uint64_t rotated(uint64_t value, int bits) { return value << bits | value >> (64 - bits); }

// xoshiro256++ of Blackman and Vigna: an integer from 1 to 10000.
static int32_t draw(struct worker *worker) {
  uint64_t *state = worker->random;
  const uint64_t result = rotated(state[0] + state[3], 23) + state[0], shifted = state[1] << 17;
  state[2] ^= state[0];
  state[3] ^= state[1];
  state[1] ^= state[2];
  state[0] ^= state[3];
  state[2] ^= shifted;
  state[3] = rotated(state[3], 45);
  return 1 + (int32_t)((result >> 32) * WORLDS >> 32);
}

static int count_of(const struct exchange *exchange) {
  struct text text;
  int64_t count;
  if (!exchange_parameter(exchange, "queries", &text) || !text_integer(text, &count) || count < 1) return 1;
  return count > MOST_QUERIES ? MOST_QUERIES : (int)count;
}

static void add_world(struct buffer *out, int32_t id, int32_t number) {
  buffer_text(out, "{\"id\":");
  buffer_integer(out, id);
  buffer_text(out, ",\"randomNumber\":");
  buffer_integer(out, number);
  buffer_text(out, "}");
}

static void ask_for_world(struct worker *worker, int32_t id) {
  const uint32_t value = htobe32((uint32_t)id);
  const struct parameter parameter = {(const char *)&value, sizeof value};
  database_ask(worker->database, WORLD_READ, &parameter, 1);
}

static void on_world(struct exchange *exchange, const PGresult *rows) {
  struct task *task = task_of(exchange);
  if (PQntuples(rows) != 1) return;
  if (task->rows++ > 0) buffer_text(task->out, ",");
  add_world(task->out, integer_at(rows, 0, 0), integer_at(rows, 0, 1));
}

static void end_world(struct exchange *exchange) {
  const struct task *task = task_of(exchange);
  if (task->rows != task->asked) return answer_text(exchange, 500, "a row is missing");
  answer_end(exchange, 200, "application/json");
}

static void end_worlds(struct exchange *exchange) {
  buffer_text(task_of(exchange)->out, "]");
  end_world(exchange);
}

static void ask_for_worlds(struct exchange *exchange, int count) {
  struct worker *worker = worker_of(exchange->loop);
  if (!database_begin(worker->database, exchange))
    return answer_text(exchange, 503, "no connection to the database");
  for (int i = 0; i < count; ++i) ask_for_world(worker, draw(worker));
  database_end(worker->database, false);
}

void read_world(struct exchange *exchange) {
  *task_of(exchange) =
      (struct task){.on_rows = on_world, .on_end = end_world, .out = answer_begin(exchange), .asked = 1};
  ask_for_worlds(exchange, 1);
}

void read_worlds(struct exchange *exchange) {
  const int count = count_of(exchange);
  *task_of(exchange) =
      (struct task){.on_rows = on_world, .on_end = end_worlds, .out = answer_begin(exchange), .asked = count};
  buffer_text(task_of(exchange)->out, "[");
  ask_for_worlds(exchange, count);
}

// `updates`: which rows are read is known before they are, so all of it is asked at once.

static void on_old_world(struct exchange *exchange, const PGresult *rows) {
  if (PQresultStatus(rows) == PGRES_TUPLES_OK)
    task_of(exchange)->rows += PQntuples(rows);
  else if (atoi(PQcmdTuples((PGresult *)rows)) != task_of(exchange)->asked)
    task_of(exchange)->rows = 0;  // not all were written
}

// By ascending id, which bits give for nothing.
static void draw_different(struct worker *worker, int32_t *ids, int count) {
  for (int i = 0; i < count;) {
    const unsigned id = (unsigned)draw(worker);
    const uint64_t bit = (uint64_t)1 << id % 64;
    if (worker->drawn[id / 64] & bit) continue;
    worker->drawn[id / 64] |= bit;
    ++i;
  }
  for (unsigned word = 0; word <= WORLDS / 64; ++word)
    for (; worker->drawn[word] != 0; worker->drawn[word] &= worker->drawn[word] - 1)
      *ids++ = (int32_t)(word * 64 + (unsigned)__builtin_ctzll(worker->drawn[word]));
}

// An array of integers in the binary form of the protocol: five words of a head, then length and value of
// each.
static int write_array(uint32_t *array, const int32_t *values, int count) {
  enum { INT4_OID = 23 };
  const uint32_t head[] = {1, 0, INT4_OID, (uint32_t)count, 1};
  uint32_t *at = array;
  for (int i = 0; i < 5; ++i) *at++ = htobe32(head[i]);
  for (int i = 0; i < count; ++i) {
    *at++ = htobe32(sizeof *values);
    *at++ = htobe32((uint32_t)values[i]);
  }
  return (int)((char *)at - (char *)array);
}

void update_worlds(struct exchange *exchange) {
  struct worker *worker = worker_of(exchange->loop);
  const int count = count_of(exchange);
  struct buffer *out = answer_begin(exchange);
  *task_of(exchange) =
      (struct task){.on_rows = on_old_world, .on_end = end_world, .out = out, .asked = count};
  if (!database_begin(worker->database, exchange))
    return answer_text(exchange, 503, "no connection to the database");

  int32_t ids[MOST_QUERIES], numbers[MOST_QUERIES];
  draw_different(worker, ids, count);
  for (int i = 0; i < count; ++i) {
    ask_for_world(worker, ids[i]);
    numbers[i] = draw(worker);
    buffer_text(out, i == 0 ? "[" : ",");
    add_world(out, ids[i], numbers[i]);
  }
  buffer_text(out, "]");
  uint32_t id_array[5 + 2 * MOST_QUERIES], number_array[5 + 2 * MOST_QUERIES];
  const struct parameter parameters[] = {
      {(const char *)id_array, write_array(id_array, ids, count)},
      {(const char *)number_array, write_array(number_array, numbers, count)},
  };
  database_ask(worker->database, WORLD_WRITE, parameters, 2);
  database_end(worker->database, true);
}

struct fortune {
  int32_t id;
  struct text message;
};

static int by_message(const void *left, const void *right) {
  const struct text a = ((const struct fortune *)left)->message, b = ((const struct fortune *)right)->message;
  const int order = memcmp(a.at, b.at, a.length < b.length ? a.length : b.length);
  return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

static void on_fortunes(struct exchange *exchange, const PGresult *rows) {
  struct task *task = task_of(exchange);
  struct worker *worker = worker_of(exchange->loop);
  const int count = PQntuples(rows);
  arena_reset(&worker->arena);
  struct fortune *fortunes = arena_allocate(&worker->arena, (size_t)(count + 1) * sizeof *fortunes);
  for (int i = 0; i < count; ++i) fortunes[i] = (struct fortune){integer_at(rows, i, 0), text_at(rows, i, 1)};
  fortunes[count] = (struct fortune){0, text_of("Additional fortune added at request time.")};
  qsort(fortunes, (size_t)count + 1, sizeof *fortunes, by_message);

  buffer_text(task->out,
              "<!DOCTYPE html><html><head><title>Fortunes</title></head><body><table>"
              "<tr><th>id</th><th>message</th></tr>");
  for (int i = 0; i <= count; ++i) {
    buffer_text(task->out, "<tr><td>");
    buffer_integer(task->out, fortunes[i].id);
    buffer_text(task->out, "</td><td>");
    buffer_html(task->out, fortunes[i].message);
    buffer_text(task->out, "</td></tr>");
  }
  buffer_text(task->out, "</table></body></html>");
}

static void end_fortunes(struct exchange *exchange) { answer_end(exchange, 200, "text/html; charset=utf-8"); }

void read_fortunes(struct exchange *exchange) {
  struct worker *worker = worker_of(exchange->loop);
  *task_of(exchange) =
      (struct task){.on_rows = on_fortunes, .on_end = end_fortunes, .out = answer_begin(exchange)};
  if (!database_begin(worker->database, exchange))
    return answer_text(exchange, 503, "no connection to the database");
  database_ask(worker->database, FORTUNES, NULL, 0);
  database_end(worker->database, false);
}
