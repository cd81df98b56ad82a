#include "crud.h"

struct item {
  struct text name, category;
  int64_t price, quantity;
};

static void add_item(struct buffer *out, const PGresult *rows, int row) {
  buffer_text(out, "{\"id\":");
  buffer_integer(out, integer_at(rows, row, 0));
  buffer_text(out, ",\"name\":");
  buffer_json_string(out, text_at(rows, row, 1));
  buffer_text(out, ",\"category\":");
  buffer_json_string(out, text_at(rows, row, 2));
  buffer_text(out, ",\"price\":");
  buffer_integer(out, integer_at(rows, row, 3));
  buffer_text(out, ",\"quantity\":");
  buffer_integer(out, integer_at(rows, row, 4));
  buffer_text(out, "}");
}

static void on_items(struct exchange *exchange, const PGresult *rows) {
  struct task *task = task_of(exchange);
  for (int row = 0; row < PQntuples(rows); ++row) {
    if (task->rows++ > 0) buffer_text(task->out, ",");
    add_item(task->out, rows, row);
  }
}

static void end_item(struct exchange *exchange) {
  const struct task *task = task_of(exchange);
  if (task->rows == 0) return answer_text(exchange, 404, "no such item");
  answer_end(exchange, task->status, "application/json");
}

static void end_list(struct exchange *exchange) {
  const struct task *task = task_of(exchange);
  buffer_text(task->out, "],\"page\":");
  buffer_integer(task->out, task->page);
  buffer_text(task->out, ",\"limit\":");
  buffer_integer(task->out, task->limit);
  buffer_text(task->out, "}");
  answer_end(exchange, 200, "application/json");
}

static void ask(struct exchange *exchange, enum statement statement, const struct parameter *parameters,
                int count) {
  struct database *database = worker_of(exchange->loop)->database;
  if (!database_begin(database, exchange)) return answer_text(exchange, 503, "no connection to the database");
  database_ask(database, statement, parameters, count);
  database_end(database, statement == ITEM_CREATE || statement == ITEM_UPDATE);
}

static struct task *begin_item(struct exchange *exchange, int status) {
  struct task *task = task_of(exchange);
  *task =
      (struct task){.on_rows = on_items, .on_end = end_item, .out = answer_begin(exchange), .status = status};
  return task;
}

static void read_item(struct exchange *exchange, int64_t id) {
  const uint32_t value = htobe32((uint32_t)id);
  const struct parameter parameter = {(const char *)&value, sizeof value};
  begin_item(exchange, 200);
  ask(exchange, ITEM_READ, &parameter, 1);
}

static void list_items(struct exchange *exchange) {
  struct buffer *category = &worker_of(exchange->loop)->scratch;
  category->length = 0;
  struct text text;
  int64_t page, limit;
  if (!exchange_parameter(exchange, "category", &text) ||
      !buffer_percent_decoded(category, text, /*plus_is_blank=*/true) ||
      memchr(category->at, '\0', category->length) != NULL ||
      !text_is_utf8((struct text){category->at, category->length}))
    return answer_text(exchange, 400, "category is missing, or no text");
  if (!exchange_integer(exchange, "page", 1, INT64_MAX / 64, &page))
    return answer_text(exchange, 400, "page is no integer of at least 1");
  if (!exchange_integer(exchange, "limit", 1, 50, &limit))
    return answer_text(exchange, 400, "limit is no integer from 1 to 50");

  struct task *task = begin_item(exchange, 200);
  task->on_end = end_list;
  task->page = page;
  task->limit = limit;
  buffer_text(task->out, "{\"items\":[");
  const uint64_t most = htobe64((uint64_t)limit), before = htobe64((uint64_t)((page - 1) * limit));
  const struct parameter parameters[] = {
      {category->at, (int)category->length},
      {(const char *)&most, sizeof most},
      {(const char *)&before, sizeof before},
  };
  ask(exchange, ITEM_LIST, parameters, 3);
}

static bool read_item_body(struct exchange *exchange, struct item *item) {
  struct arena *arena = &worker_of(exchange->loop)->arena;
  arena_reset(arena);
  const struct json *json = json_parse(arena, exchange->body);
  return json != NULL && json_string(json, "name", &item->name) &&
         json_string(json, "category", &item->category) &&
         json_integer(json, "price", INT32_MIN, INT32_MAX, &item->price) &&
         json_integer(json, "quantity", INT32_MIN, INT32_MAX, &item->quantity) &&
         memchr(item->name.at, '\0', item->name.length) == NULL &&  // PostgreSQL has no text with it
         memchr(item->category.at, '\0', item->category.length) == NULL;
}

static void write_item(struct exchange *exchange, enum statement statement, int64_t id) {
  struct item item;
  if (!read_item_body(exchange, &item)) return answer_text(exchange, 400, "the body is no item");
  begin_item(exchange, statement == ITEM_CREATE ? 201 : 200);
  const uint32_t number = htobe32((uint32_t)id), price = htobe32((uint32_t)item.price),
                 quantity = htobe32((uint32_t)item.quantity);
  const struct parameter parameters[] = {
      {(const char *)&number, sizeof number},        {item.name.at, (int)item.name.length},
      {item.category.at, (int)item.category.length}, {(const char *)&price, sizeof price},
      {(const char *)&quantity, sizeof quantity},
  };
  if (statement == ITEM_CREATE)
    ask(exchange, statement, parameters + 1, 4);
  else
    ask(exchange, statement, parameters, 5);
}

static void one_item(struct exchange *exchange, struct text text) {
  int64_t id;
  if (exchange->method != METHOD_PUT && !exchange_reads(exchange))
    return answer_wrong_method(exchange, "GET, HEAD, PUT");
  if (!text_integer(text, &id)) return answer_text(exchange, 400, "the id is no integer");
  if (id < INT32_MIN || id > INT32_MAX) return answer_text(exchange, 404, "no such item");
  if (exchange->method == METHOD_PUT)
    write_item(exchange, ITEM_UPDATE, id);
  else
    read_item(exchange, id);
}

void crud(struct exchange *exchange, struct text rest) {
  if (rest.length == 0) {
    if (exchange_reads(exchange)) return list_items(exchange);
    if (exchange->method == METHOD_POST) return write_item(exchange, ITEM_CREATE, 0);
    return answer_wrong_method(exchange, "GET, HEAD, POST");
  }
  if (!text_skip(&rest, "/") || rest.length == 0 || memchr(rest.at, '/', rest.length) != NULL)
    return answer_text(exchange, 404, "not found");
  one_item(exchange, rest);
}
