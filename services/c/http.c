#include "http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
  LONGEST_HEAD = 16 * 1024,
  LONGEST_KEPT_BODY = 2 * 1024 * 1024,
  LONGEST_CHUNK_LINE = 4 * 1024,
  ROOM_FOR_HEAD = 1024,
  ROOM_FOR_HEADERS = 512,
  SECONDS_OF_LINGERING = 2,
  MOST_EVENTS = 256,
};

enum state {
  READING_HEAD,
  READING_BODY,
  HANDLED,  // the application has the request
  WRITING,
  LINGERING,  // closed for writing: what still comes is thrown away, since a reset could destroy the last
              // answer
};

enum body {
  BODY_OF_LENGTH,
  CHUNK_SIZE,
  CHUNK_DATA,
  CHUNK_END,
  TRAILERS,
  BODY_COMPLETE,
};

struct connection {
  struct watcher watcher;
  struct exchange exchange;
  int fd;  // -1 once it is closed
  enum state state;
  bool readable, hung_up;  // epoll says it once, at the edge
  bool advancing;

  bool http_1_0, close, asked_to_keep;
  enum body body_state;
  uint64_t body_left, body_length;
  struct buffer body;

  struct buffer out;
  char headers[ROOM_FOR_HEADERS];
  size_t headers_length, out_sent;
  int file;  // -1: none
  off_t file_offset, file_end;

  struct connection *next;  // among the lingering, or among the gone
  time_t deadline;

  // The head of a request, and what came behind it: from `unread` on it is still to be looked at.
  size_t head_length, scanned, unread, length;
  char in[64 * 1024];
};

static struct connection *connection_of(struct exchange *exchange) {
  return (struct connection *)((char *)exchange - offsetof(struct connection, exchange));
}

void loop_watch(struct loop *loop, int fd, struct watcher *watcher, uint32_t events) {
  struct epoll_event event = {.events = events, .data.ptr = watcher};
  if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
    perror("epoll_ctl");
    exit(1);
  }
}

void loop_change(struct loop *loop, int fd, struct watcher *watcher, uint32_t events) {
  struct epoll_event event = {.events = events, .data.ptr = watcher};
  epoll_ctl(loop->epoll, EPOLL_CTL_MOD, fd, &event);
}

// The memory stays until all events that came with this one are handled: one of them may be of this
// connection.
static void bury(struct connection *connection) {
  struct loop *loop = connection->exchange.loop;
  connection->next = loop->gone;
  loop->gone = connection;
}

static void close_descriptors(struct connection *connection) {
  close(connection->fd);
  connection->fd = -1;
  if (connection->file >= 0) close(connection->file);
  connection->file = -1;
}

// A connection whose request the application still has is buried once that is answered, a lingering one once
// it is taken off the list of them.
static void hang_up(struct connection *connection) {
  close_descriptors(connection);
  if (connection->state != HANDLED && connection->state != LINGERING) bury(connection);
}

static void linger(struct connection *connection) {
  struct loop *loop = connection->exchange.loop;
  shutdown(connection->fd, SHUT_WR);
  connection->state = LINGERING;
  connection->deadline = time(NULL) + SECONDS_OF_LINGERING;
  connection->next = loop->lingering;
  loop->lingering = connection;
}

static void end_lingering(struct loop *loop) {
  const time_t now = time(NULL);
  for (struct connection **place = &loop->lingering; *place != NULL;) {
    struct connection *connection = *place;
    if (connection->fd >= 0 && connection->deadline > now) {
      place = &connection->next;
      continue;
    }
    *place = connection->next;
    if (connection->fd >= 0) close_descriptors(connection);
    bury(connection);
  }
}

static void free_gone(struct loop *loop) {
  while (loop->gone != NULL) {
    struct connection *connection = loop->gone;
    loop->gone = connection->next;
    free(connection->body.at);
    free(connection->out.at);
    free(connection);
  }
}

// Answers

static const char *reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 206:
      return "Partial Content";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 413:
      return "Content Too Large";
    case 416:
      return "Range Not Satisfiable";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
  }
  return "";
}

static const char *date_of(struct loop *loop) {
  const time_t now = time(NULL);
  if (now != loop->date_second) {
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(loop->date, sizeof loop->date, "%a, %d %b %Y %H:%M:%S GMT", &parts);
    loop->date_second = now;
  }
  return loop->date;
}

struct buffer *answer_begin(struct exchange *exchange) {
  struct connection *connection = connection_of(exchange);
  connection->out.length = 0;
  connection->headers_length = 0;
  buffer_reserve(&connection->out, ROOM_FOR_HEAD);
  connection->out.length = ROOM_FOR_HEAD;
  return &connection->out;
}

void answer_header(struct exchange *exchange, const char *name, const char *value) {
  struct connection *connection = connection_of(exchange);
  const size_t room = ROOM_FOR_HEADERS - connection->headers_length;
  const int length =
      snprintf(connection->headers + connection->headers_length, room, "%s: %s\r\n", name, value);
  if (length > 0 && (size_t)length < room) connection->headers_length += (size_t)length;
}

static void advance(struct connection *connection);

// Writes the head in front of the body, and sends both.
static void send_answer(struct exchange *exchange, int status, const char *type, int64_t length) {
  struct connection *connection = connection_of(exchange);
  if (connection->fd < 0) return bury(connection);  // the client did not wait for it

  char content[192] = "";
  if (status != 304)
    snprintf(content, sizeof content, "Content-Type: %s\r\nContent-Length: %lld\r\n", type,
             (long long)length);
  const char *keeping = "";
  if (connection->close)
    keeping = "Connection: close\r\n";
  else if (connection->http_1_0)
    keeping = "Connection: keep-alive\r\n";
  char head[ROOM_FOR_HEAD];
  const int head_length = snprintf(head, sizeof head, "HTTP/1.1 %d %s\r\nDate: %s\r\n%s%s%.*s\r\n", status,
                                   reason(status), date_of(exchange->loop), content, keeping,
                                   (int)connection->headers_length, connection->headers);
  connection->out_sent = ROOM_FOR_HEAD - (size_t)head_length;
  memcpy(connection->out.at + connection->out_sent, head, (size_t)head_length);
  if (exchange->method == METHOD_HEAD || status == 304) connection->out.length = ROOM_FOR_HEAD;
  connection->state = WRITING;
  if (!connection->advancing) advance(connection);
}

void answer_end(struct exchange *exchange, int status, const char *type) {
  const struct connection *connection = connection_of(exchange);
  send_answer(exchange, status, type, (int64_t)(connection->out.length - ROOM_FOR_HEAD));
}

void answer_file(struct exchange *exchange, int status, const char *type, int file, off_t offset,
                 off_t length) {
  struct connection *connection = connection_of(exchange);
  if (exchange->method == METHOD_HEAD || length == 0) {
    close(file);
  } else {
    connection->file = file;
    connection->file_offset = offset;
    connection->file_end = offset + length;
  }
  send_answer(exchange, status, type, length);
}

void answer_text(struct exchange *exchange, int status, const char *text) {
  struct connection *connection = connection_of(exchange);
  const size_t headers_length = connection->headers_length;  // those that were said: such as `Allow`
  struct buffer *out = answer_begin(exchange);
  connection->headers_length = headers_length;
  buffer_text(out, text);
  buffer_text(out, "\n");
  answer_end(exchange, status, "text/plain; charset=utf-8");
}

void answer_wrong_method(struct exchange *exchange, const char *allowed) {
  answer_begin(exchange);
  answer_header(exchange, "Allow", allowed);
  answer_text(exchange, 405, "method not allowed");
}

// What is wrong with the request leaves open where the next one begins.
static void refuse_request(struct connection *connection, int status, const char *why) {
  connection->close = true;
  connection->headers_length = 0;
  answer_text(&connection->exchange, status, why);
}

// Requests

static const char *end_of_line(const char *at, const char *end) {
  return memmem(at, (size_t)(end - at), "\r\n", 2);
}

static struct text trimmed(const char *at, const char *end) {
  while (at < end && (*at == ' ' || *at == '\t')) ++at;
  while (end > at && (end[-1] == ' ' || end[-1] == '\t')) --end;
  return (struct text){at, (size_t)(end - at)};
}

static bool text_is_word(struct text text, const char *word) {
  return text.length == strlen(word) && strncasecmp(text.at, word, text.length) == 0;
}

bool exchange_header(const struct exchange *exchange, const char *name, struct text *value) {
  const struct connection *connection = connection_of((struct exchange *)exchange);
  const char *end = connection->in + connection->head_length;
  const size_t length = strlen(name);
  const char *line = end_of_line(connection->in, end) + 2;
  for (const char *line_end; (line_end = end_of_line(line, end)) != line; line = line_end + 2) {
    if ((size_t)(line_end - line) <= length || line[length] != ':') continue;
    if (strncasecmp(line, name, length) != 0) continue;
    *value = trimmed(line + length + 1, line_end);
    return true;
  }
  return false;
}

bool exchange_parameter(const struct exchange *exchange, const char *name, struct text *value) {
  const char *at = exchange->query.at, *end = at + exchange->query.length;
  while (at < end) {
    const char *pair_end = memchr(at, '&', (size_t)(end - at));
    if (pair_end == NULL) pair_end = end;
    const char *equals = memchr(at, '=', (size_t)(pair_end - at));
    const char *name_end = equals ? equals : pair_end;
    if (text_is((struct text){at, (size_t)(name_end - at)}, name)) {
      const char *first = equals ? equals + 1 : pair_end;
      *value = (struct text){first, (size_t)(pair_end - first)};
      return true;
    }
    at = pair_end + 1;
  }
  return false;
}

bool exchange_integer(const struct exchange *exchange, const char *name, int64_t lowest, int64_t highest,
                      int64_t *value) {
  struct text text;
  return exchange_parameter(exchange, name, &text) && text_integer(text, value) && *value >= lowest &&
         *value <= highest;
}

static bool is_token(const char *at, const char *end) {
  if (at == end) return false;
  for (; at < end; ++at) {
    const bool letter = (*at | 0x20) >= 'a' && (*at | 0x20) <= 'z', digit = *at >= '0' && *at <= '9';
    if (!letter && !digit && (*at == '\0' || strchr("!#$%&'*+-.^_`|~", *at) == NULL)) return false;
  }
  return true;
}

static enum method method_of(struct text word) {
  if (text_is(word, "GET")) return METHOD_GET;
  if (text_is(word, "HEAD")) return METHOD_HEAD;
  if (text_is(word, "POST")) return METHOD_POST;
  if (text_is(word, "PUT")) return METHOD_PUT;
  return METHOD_OTHER;
}

// Returns the status of a refusal, or 0.
static int read_request_line(struct connection *connection, const char *line, const char *line_end) {
  struct exchange *exchange = &connection->exchange;
  const char *method_end = memchr(line, ' ', (size_t)(line_end - line));
  if (method_end == NULL || !is_token(line, method_end)) return 400;
  exchange->method = method_of((struct text){line, (size_t)(method_end - line)});

  const char *target = method_end + 1;
  const char *target_end = memchr(target, ' ', (size_t)(line_end - target));
  if (target_end == NULL || target_end == target) return 400;
  for (const char *at = target; at < target_end; ++at)
    if (*at > 0 && *at <= ' ') return 400;

  struct text version = {target_end + 1, (size_t)(line_end - target_end - 1)};
  if (!text_skip(&version, "HTTP/") || version.length != 3) return 400;
  if (version.at[0] != '1') return 505;
  connection->http_1_0 = text_is(version, "1.0");

  struct text path = {target, (size_t)(target_end - target)};
  if (text_skip(&path, "http://")) {  // as a proxy is asked
    const char *slash = memchr(path.at, '/', path.length);
    if (slash == NULL) return 400;
    path = (struct text){slash, (size_t)(target_end - slash)};
  }
  const char *mark = memchr(path.at, '?', path.length);
  exchange->query = (struct text){target_end, 0};
  if (mark != NULL) {
    exchange->query = (struct text){mark + 1, (size_t)(target_end - mark - 1)};
    path.length = (size_t)(mark - path.at);
  }
  exchange->path = path;
  return 0;
}

struct framing {
  bool has_host, has_length, chunked, expects_continue;
  uint64_t length;
};

static void read_connection_header(struct connection *connection, struct text value) {
  for (const char *at = value.at, *end = at + value.length; at < end;) {
    const char *comma = memchr(at, ',', (size_t)(end - at));
    if (comma == NULL) comma = end;
    const struct text word = trimmed(at, comma);
    if (text_is_word(word, "close")) connection->close = true;
    if (text_is_word(word, "keep-alive")) connection->asked_to_keep = true;
    at = comma + 1;
  }
}

static int read_header(struct connection *connection, struct framing *framing, const char *line,
                       const char *line_end) {
  const char *colon = memchr(line, ':', (size_t)(line_end - line));
  if (colon == NULL || !is_token(line, colon)) return 400;
  for (const char *at = colon; at < line_end; ++at)
    if ((unsigned char)*at < ' ' && *at != '\t') return 400;
  const struct text name = {line, (size_t)(colon - line)}, value = trimmed(colon + 1, line_end);

  if (text_is_word(name, "host")) {
    if (framing->has_host) return 400;
    framing->has_host = true;
  } else if (text_is_word(name, "content-length")) {
    int64_t length;
    if (value.length == 0 || value.at[0] == '-' || !text_integer(value, &length)) return 400;
    if (framing->has_length && framing->length != (uint64_t)length) return 400;
    framing->has_length = true;
    framing->length = (uint64_t)length;
  } else if (text_is_word(name, "transfer-encoding")) {
    if (framing->chunked) return 400;
    if (!text_is_word(value, "chunked")) return 501;
    framing->chunked = true;
  } else if (text_is_word(name, "connection")) {
    read_connection_header(connection, value);
  } else if (text_is_word(name, "expect")) {
    framing->expects_continue = text_is_word(value, "100-continue");
  }
  return 0;
}

static int read_head(struct connection *connection, struct framing *framing) {
  const char *end = connection->in + connection->head_length;
  const char *line = connection->in, *line_end = end_of_line(line, end);
  int refusal = read_request_line(connection, line, line_end);
  while (refusal == 0) {
    line = line_end + 2;
    line_end = end_of_line(line, end);
    if (line_end == line) break;  // the empty line
    refusal = read_header(connection, framing, line, line_end);
  }
  if (refusal != 0) return refusal;
  if (!framing->has_host && !connection->http_1_0) return 400;
  if (framing->chunked && (framing->has_length || connection->http_1_0)) return 400;
  return 0;
}

static void begin_body(struct connection *connection, const struct framing *framing) {
  struct exchange *exchange = &connection->exchange;
  if (connection->http_1_0 && !connection->asked_to_keep) connection->close = true;
  exchange->on_body = NULL;
  exchange->limit = LONGEST_KEPT_BODY;
  if (exchange->loop->callbacks->on_head != NULL) exchange->loop->callbacks->on_head(exchange);

  connection->body.length = 0;
  connection->body_length = 0;
  connection->body_left = framing->length;
  connection->body_state = framing->chunked ? CHUNK_SIZE : BODY_OF_LENGTH;
  if (framing->length > exchange->limit) return refuse_request(connection, 413, "the body is too long");
  connection->state = READING_BODY;
  if (framing->expects_continue && (framing->chunked || framing->length > 0)) {
    static const char interim[] = "HTTP/1.1 100 Continue\r\n\r\n";
    send(connection->fd, interim, sizeof interim - 1, MSG_NOSIGNAL);  // if it fails, so does the answer
  }
}

// Returns whether there was something to do.
static bool look_for_head(struct connection *connection) {
  if (connection->unread == 0 && connection->scanned == 0) {  // an empty line may come before a request
    size_t blank = 0;
    while (connection->length - blank >= 2 && memcmp(connection->in + blank, "\r\n", 2) == 0) blank += 2;
    if (blank > 0) memmove(connection->in, connection->in + blank, connection->length -= blank);
  }
  const size_t first = connection->scanned < 3 ? 0 : connection->scanned - 3;
  const char *end = memmem(connection->in + first, connection->length - first, "\r\n\r\n", 4);
  connection->scanned = connection->length;
  connection->exchange.method = METHOD_OTHER;
  connection->close = connection->asked_to_keep = connection->http_1_0 = false;
  const size_t length = end == NULL ? connection->length : (size_t)(end + 4 - connection->in);
  if (length > LONGEST_HEAD) {
    refuse_request(connection, 431, "the head is too long");
    return true;
  }
  if (end == NULL) return false;

  connection->head_length = connection->unread = length;
  struct framing framing = {0};
  const int refusal = read_head(connection, &framing);
  if (refusal != 0)
    refuse_request(connection, refusal, "no request of HTTP/1.1 that is understood here");
  else
    begin_body(connection, &framing);
  return true;
}

// Up to `body_left` of the bytes that came.
static void take_data(struct connection *connection) {
  struct exchange *exchange = &connection->exchange;
  size_t length = connection->length - connection->unread;
  if (length > connection->body_left) length = (size_t)connection->body_left;
  const struct text piece = {connection->in + connection->unread, length};
  if (exchange->on_body != NULL)
    exchange->on_body(exchange, piece);
  else
    buffer_add(&connection->body, piece.at, piece.length);
  connection->unread += length;
  connection->body_left -= length;
}

static int read_chunk_size(struct connection *connection, const char *line, const char *line_end) {
  uint64_t size = 0;
  const char *at = line;
  for (; at < line_end; ++at) {
    const char low = (char)(*at | 0x20);
    int digit;
    if (*at >= '0' && *at <= '9')
      digit = *at - '0';
    else if (low >= 'a' && low <= 'f')
      digit = low - 'a' + 10;
    else
      break;
    if (size > UINT32_MAX) return 413;
    size = size * 16 + (uint64_t)digit;
  }
  if (at == line) return 400;
  if (at < line_end && *at != ';' && *at != ' ' && *at != '\t') return 400;
  connection->body_length += size;
  if (connection->body_length > connection->exchange.limit) return 413;
  connection->body_left = size;
  connection->body_state = size == 0 ? TRAILERS : CHUNK_DATA;
  return 0;
}

// The lines between chunks: a size, the end of a chunk, a trailer. Returns whether there was one.
static bool read_chunk_line(struct connection *connection) {
  const char *line = connection->in + connection->unread, *end = connection->in + connection->length;
  const char *line_end = end_of_line(line, end);
  if ((line_end ? line_end : end) - line > LONGEST_CHUNK_LINE) {
    refuse_request(connection, 400, "a line between chunks is too long");
    return true;
  }
  if (line_end == NULL) return false;
  connection->unread = (size_t)(line_end + 2 - connection->in);
  int refusal = 0;
  if (connection->body_state == CHUNK_SIZE) {
    refusal = read_chunk_size(connection, line, line_end);
  } else if (connection->body_state == CHUNK_END) {
    refusal = line == line_end ? 0 : 400;
    connection->body_state = CHUNK_SIZE;
  } else if (line == line_end) {
    connection->body_state = BODY_COMPLETE;
  } else if ((connection->body_length += (size_t)(line_end - line)) > connection->exchange.limit) {
    refusal = 413;  // trailers without an end
  }
  if (refusal != 0) refuse_request(connection, refusal, "the chunks of the body are not right");
  return true;
}

// Returns whether there was something to do.
static bool look_for_body(struct connection *connection) {
  switch (connection->body_state) {
    case BODY_OF_LENGTH:
    case CHUNK_DATA:
      if (connection->unread < connection->length && connection->body_left > 0) take_data(connection);
      if (connection->body_left > 0) return false;
      connection->body_state = connection->body_state == CHUNK_DATA ? CHUNK_END : BODY_COMPLETE;
      return true;
    case CHUNK_SIZE:
    case CHUNK_END:
    case TRAILERS:
      return read_chunk_line(connection);
    case BODY_COMPLETE:
      break;
  }
  struct exchange *exchange = &connection->exchange;
  exchange->body = (struct text){connection->body.at, connection->body.length};
  connection->state = HANDLED;
  exchange->loop->callbacks->on_request(exchange);
  return true;
}

// What was looked at makes room for what comes: while a body comes, the head stays. Returns false without any
// room.
static bool make_room(struct connection *connection) {
  const size_t kept = connection->state == READING_BODY ? connection->head_length : 0;
  if (connection->unread > kept) {
    memmove(connection->in + kept, connection->in + connection->unread,
            connection->length - connection->unread);
    connection->length -= connection->unread - kept;
    connection->unread = kept;
  }
  return connection->length < sizeof connection->in;
}

// Reads what there is. Returns false if nothing came.
static bool receive(struct connection *connection) {
  if (!connection->readable || !make_room(connection)) return false;
  const size_t room = sizeof connection->in - connection->length;
  const ssize_t count = recv(connection->fd, connection->in + connection->length, room, 0);
  if (count > 0) {
    connection->length += (size_t)count;
    // Less than was asked for is all that there was, and more makes another event; but the end makes none.
    if ((size_t)count < room && !connection->hung_up) connection->readable = false;
    return true;
  }
  if (count < 0 && errno == EINTR) return true;
  if (count < 0 && errno == EAGAIN)
    connection->readable = false;
  else
    hang_up(connection);  // the end, or a failure
  return false;
}

// The answer was sent: what was read beyond the request becomes the next one.
static void begin_request(struct connection *connection) {
  connection->state = READING_HEAD;
  connection->head_length = 0;
  connection->scanned = 0;
  connection->headers_length = 0;
  make_room(connection);
  if (connection->out.capacity > 1024 * 1024) {
    free(connection->out.at);
    connection->out = (struct buffer){0};
  }
}

// Returns whether all of the answer was sent.
static bool transmit(struct connection *connection) {
  while (connection->out_sent < connection->out.length) {
    const int more = connection->file >= 0 ? MSG_MORE : 0;
    const ssize_t count = send(connection->fd, connection->out.at + connection->out_sent,
                               connection->out.length - connection->out_sent, MSG_NOSIGNAL | more);
    if (count >= 0) {
      connection->out_sent += (size_t)count;
    } else if (errno != EINTR) {
      if (errno != EAGAIN) hang_up(connection);
      return false;
    }
  }
  while (connection->file >= 0) {
    if (connection->file_offset == connection->file_end) {
      close(connection->file);
      connection->file = -1;
      break;
    }
    const size_t left = (size_t)(connection->file_end - connection->file_offset);
    const ssize_t count = sendfile(connection->fd, connection->file, &connection->file_offset, left);
    if (count > 0 || (count < 0 && errno == EINTR)) continue;
    if (count == 0 || errno != EAGAIN) hang_up(connection);  // 0: the file has become shorter
    return false;
  }
  return true;
}

static void throw_away(struct connection *connection) {
  for (;;) {
    const ssize_t count = recv(connection->fd, connection->in, sizeof connection->in, 0);
    if (count > 0 || (count < 0 && errno == EINTR)) continue;
    if (count == 0 || errno != EAGAIN) hang_up(connection);
    return;
  }
}

static void go_on(struct connection *connection) {
  while (connection->fd >= 0) {
    switch (connection->state) {
      case READING_HEAD:
        if (!look_for_head(connection) && !receive(connection)) return;
        break;
      case READING_BODY:
        if (!look_for_body(connection) && !receive(connection)) return;
        break;
      case HANDLED:
        return;
      case WRITING:
        if (!transmit(connection)) return;
        if (connection->close)
          linger(connection);
        else
          begin_request(connection);
        break;
      case LINGERING:
        throw_away(connection);
        return;
    }
  }
}

// Goes on with a connection as far as that is possible now. An answer that is given meanwhile is sent from
// here too, so that a long pipeline is a loop and no recursion.
static void advance(struct connection *connection) {
  connection->advancing = true;
  go_on(connection);
  connection->advancing = false;
}

static void on_connection(struct watcher *watcher, uint32_t events) {
  struct connection *connection = (struct connection *)watcher;
  if (connection->fd < 0) return;  // an event that came before it was closed
  if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) connection->readable = true;
  if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) connection->hung_up = true;
  if (events & (EPOLLHUP | EPOLLERR))
    hang_up(connection);  // both ways: no answer would arrive
  else
    advance(connection);
}

static void on_listener(struct watcher *watcher, uint32_t events) {
  (void)events;
  struct loop *loop = (struct loop *)((char *)watcher - offsetof(struct loop, listener));
  for (;;) {
    const int fd = accept4(loop->listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    const int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    struct connection *connection = allocate(sizeof *connection);
    memset(connection, 0, offsetof(struct connection, in));
    connection->watcher.on_event = on_connection;
    connection->exchange.loop = loop;
    connection->fd = fd;
    connection->file = -1;
    loop_watch(loop, fd, &connection->watcher, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
  }
}

static void *run(void *argument) {
  struct loop *loop = argument;
  loop_watch(loop, loop->listening, &loop->listener, EPOLLIN);
  struct epoll_event events[MOST_EVENTS];
  for (;;) {
    if (loop->callbacks->before_wait != NULL) loop->callbacks->before_wait(loop);
    end_lingering(loop);
    free_gone(loop);
    const int count = epoll_wait(loop->epoll, events, MOST_EVENTS, loop->lingering != NULL ? 500 : -1);
    for (int i = 0; i < count; ++i) {
      struct watcher *watcher = events[i].data.ptr;
      watcher->on_event(watcher, events[i].events);
    }
  }
  return NULL;
}

static int listen_on(const struct settings *settings, bool shared) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (shared) setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes);
  const struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(settings->port), .sin_addr = settings->serve_on};
  if (bind(fd, (const struct sockaddr *)&address, sizeof address) == 0 && listen(fd, SOMAXCONN) == 0)
    return fd;
  fprintf(stderr, "%s:%d: %s\n", inet_ntoa(settings->serve_on), settings->port, strerror(errno));
  close(fd);
  return -1;
}

static void allow_descriptors(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

int serve(const struct settings *settings, const struct application *application) {
  signal(SIGPIPE, SIG_IGN);  // sendfile has no MSG_NOSIGNAL, and a client may be gone
  allow_descriptors();
  const int count = settings->threads;
  struct loop *loops = calloc((size_t)count, sizeof *loops);
  pthread_t *threads = calloc((size_t)count, sizeof *threads);
  if (loops == NULL || threads == NULL) return 1;
  for (int i = 0; i < count; ++i) {
    struct loop *loop = &loops[i];
    loop->callbacks = application;
    loop->listener.on_event = on_listener;
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (application->start != NULL) loop->application = application->start(loop, i, count);
  }
  // All of them before any thread runs: a port that is taken ends the program. One alone shares it with no
  // other.
  for (int i = 0; i < count; ++i)
    if ((loops[i].listening = listen_on(settings, count > 1)) < 0) return 1;
  for (int i = 1; i < count; ++i)
    if (pthread_create(&threads[i], NULL, run, &loops[i]) != 0) return 1;
  run(&loops[0]);
  return 1;
}
