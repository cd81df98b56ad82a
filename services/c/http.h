// A server of HTTP/1.1 on epoll: THREADS loops, each with a listening socket of its own (SO_REUSEPORT), so
// that no two threads share anything. A connection has one request at a time; what is pipelined behind it
// waits.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "buffer.h"
#include "settings.h"

// Whatever a loop waits for. It stands first in what it belongs to.
struct watcher {
  void (*on_event)(struct watcher *watcher, uint32_t events);
};

struct loop {
  int epoll;
  void *application;  // what `start` of the application returned
  struct watcher listener;
  int listening;
  const struct application *callbacks;
  struct connection *lingering, *gone;
  int64_t date_second;
  char date[32];
};

void loop_watch(struct loop *loop, int fd, struct watcher *watcher, uint32_t events);
void loop_change(struct loop *loop, int fd, struct watcher *watcher, uint32_t events);

enum method { METHOD_GET, METHOD_HEAD, METHOD_POST, METHOD_PUT, METHOD_OTHER };

// A request, and the answer to it. The texts are valid until the answer is given.
struct exchange {
  struct loop *loop;
  enum method method;
  struct text path, query;  // as they came: still percent-encoded
  struct text body;         // whole; empty if `on_body` took it
  // Set by `on_head`: takes the body piece by piece, as it comes, instead of having it kept. `limit` is its
  // greatest length.
  void (*on_body)(struct exchange *exchange, struct text piece);
  size_t limit;
  // What the application needs to know of the request until it has answered.
  union {
    void *pointer;
    int64_t numbers[8];
  } state;
};

struct application {
  // Optional: makes what one of `loops` loops needs, before any port is open.
  void *(*start)(struct loop *loop, int number, int loops);
  // Optional: the head of a request has come.
  void (*on_head)(struct exchange *exchange);
  // A request is complete. It is answered now or later, but on the thread of its loop.
  void (*on_request)(struct exchange *exchange);
  // Optional: all events that had come were handled, and the loop is about to wait.
  void (*before_wait)(struct loop *loop);
};

// Serves for ever. Returns the status of the program if it cannot.
int serve(const struct settings *settings, const struct application *application);

// The value of the first header of this name (in lower case), without blanks at its ends.
bool exchange_header(const struct exchange *exchange, const char *name, struct text *value);

// The value of a parameter of the query, as it came.
bool exchange_parameter(const struct exchange *exchange, const char *name, struct text *value);

// A parameter that is an integer from `lowest` to `highest`.
bool exchange_integer(const struct exchange *exchange, const char *name, int64_t lowest, int64_t highest,
                      int64_t *value);

static inline bool exchange_reads(const struct exchange *exchange) {
  return exchange->method == METHOD_GET || exchange->method == METHOD_HEAD;
}

// Where the body of the answer goes: empty, also where some was written before.
struct buffer *answer_begin(struct exchange *exchange);

// A header of the answer. It is said before `answer_end` and after `answer_begin`.
void answer_header(struct exchange *exchange, const char *name, const char *value);

// The answer is complete: its head is added, and both are sent in one piece.
void answer_end(struct exchange *exchange, int status, const char *type);

// An answer whose body is a part of a file, which is closed afterwards.
void answer_file(struct exchange *exchange, int status, const char *type, int file, off_t offset,
                 off_t length);

// An answer that is a line of text.
void answer_text(struct exchange *exchange, int status, const char *text);
void answer_wrong_method(struct exchange *exchange, const char *allowed);
