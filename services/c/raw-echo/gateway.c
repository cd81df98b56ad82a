#include "gateway.h"

#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../json.h"

enum { LONGEST_ANSWER = 1024 * 1024 };

static struct sockaddr_storage address;
static socklen_t address_length;
static char host[256];

// A connection to the other server, with one request at a time.
struct upstream {
  struct watcher watcher;
  struct gateway *gateway;
  struct upstream *next;  // among the idle ones
  int fd;                 // -1: not connected
  struct exchange *exchange;
  bool used_before;  // the other server may have closed it in the meantime
  struct buffer out, in;
  size_t sent;
};

struct gateway {
  struct loop *loop;
  struct upstream *idle;
  struct arena arena;
};

void gateway_use(const char *url) {
  struct text rest = text_of(url);
  char port[8] = "80";
  const bool is_http = text_skip(&rest, "http://");
  if (rest.length > 0 && rest.at[rest.length - 1] == '/') --rest.length;
  if (!is_http || rest.length == 0 || rest.length >= sizeof host || memchr(rest.at, '/', rest.length) != NULL)
    refuse("UPSTREAM_URL must be a URL such as http://127.0.0.1:8080");
  memcpy(host, rest.at, rest.length);
  const char *colon = memchr(rest.at, ':', rest.length);
  if (colon != NULL) {
    const struct text digits = {colon + 1, rest.length - (size_t)(colon + 1 - rest.at)};
    int64_t number;
    if (!text_integer(digits, &number) || number < 1 || number > 65535 || digits.length >= sizeof port)
      refuse("UPSTREAM_URL has no port from 1 to 65535");
    memcpy(port, digits.at, digits.length);
    port[digits.length] = '\0';
  }
  char name[sizeof host] = "";
  memcpy(name, rest.at, colon != NULL ? (size_t)(colon - rest.at) : rest.length);
  struct addrinfo *found = NULL;
  const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
  if (getaddrinfo(name, port, &hints, &found) != 0) refuse("UPSTREAM_URL names no host that is known");
  memcpy(&address, found->ai_addr, found->ai_addrlen);
  address_length = found->ai_addrlen;
  freeaddrinfo(found);
}

struct gateway *gateway_open(struct loop *loop) {
  struct gateway *gateway = allocate(sizeof *gateway);
  *gateway = (struct gateway){.loop = loop};
  return gateway;
}

static void disconnect(struct upstream *upstream) {
  if (upstream->fd >= 0) close(upstream->fd);
  upstream->fd = -1;
  upstream->used_before = false;
}

static bool connect_upstream(struct upstream *upstream) {
  upstream->fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (upstream->fd < 0) return false;
  const int yes = 1;
  setsockopt(upstream->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if (connect(upstream->fd, (const struct sockaddr *)&address, address_length) != 0 && errno != EINPROGRESS) {
    disconnect(upstream);
    return false;
  }
  loop_watch(upstream->gateway->loop, upstream->fd, &upstream->watcher,
             EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
  return true;
}

// Idle ones keep their place, connected or not: as many as there ever were requests at once.
static struct exchange *release(struct upstream *upstream) {
  struct exchange *exchange = upstream->exchange;
  upstream->exchange = NULL;
  upstream->next = upstream->gateway->idle;
  upstream->gateway->idle = upstream;
  return exchange;
}

static void fail(struct upstream *upstream) {
  disconnect(upstream);
  answer_text(release(upstream), 502, "the other server does not answer");
}

static bool transmit(struct upstream *upstream) {
  while (upstream->sent < upstream->out.length) {
    const ssize_t count = send(upstream->fd, upstream->out.at + upstream->sent,
                               upstream->out.length - upstream->sent, MSG_NOSIGNAL);
    if (count < 0) return errno == EAGAIN || errno == ENOTCONN || errno == EINTR;
    upstream->sent += (size_t)count;
  }
  return true;
}

// Nothing of an answer came on a connection that was used before: then it had been closed, and another is
// made.
static void try_again_or_fail(struct upstream *upstream) {
  const bool again = upstream->used_before && upstream->in.length == 0;
  disconnect(upstream);
  upstream->sent = 0;
  if (!again || !connect_upstream(upstream) || !transmit(upstream)) fail(upstream);
}

struct answer {
  int64_t status;
  struct text body;
  bool closes;
};

// A body of chunks, put together in place once all of it is there. False if it is not.
static bool join_chunks(char *first, const char *end, struct text *body, bool *broken) {
  char *out = first;
  for (int is_complete = 0; is_complete < 2; ++is_complete) {
    for (char *at = first;;) {
      const char *line_end = memmem(at, (size_t)(end - at), "\r\n", 2);
      if (line_end == NULL) return false;
      char *size_end = at;
      const size_t size = isxdigit((unsigned char)*at) ? strtoul(at, &size_end, 16) : 0;
      *broken = size_end == at || size > LONGEST_ANSWER;
      if (*broken) return false;
      char *data = (char *)line_end + 2;
      if ((size_t)(end - data) < size + 2) return false;
      if (size == 0) break;  // there are no trailers, or they are not looked at
      if (is_complete) {
        memmove(out, data, size);
        out += size;
      }
      at = data + size + 2;
    }
  }
  *body = (struct text){first, (size_t)(out - first)};
  return true;
}

static struct text trimmed(const char *at, const char *end) {
  while (at < end && *at == ' ') ++at;
  while (end > at && end[-1] == ' ') --end;
  return (struct text){at, (size_t)(end - at)};
}

// Whether the answer is complete; `broken` if it will never be.
static bool read_answer(struct upstream *upstream, struct answer *answer, bool *broken) {
  char *at = upstream->in.at, *end = at + upstream->in.length;
  const char *head_end = memmem(at, upstream->in.length, "\r\n\r\n", 4);
  if (head_end == NULL) {
    *broken = upstream->in.length > LONGEST_ANSWER;
    return false;
  }
  if (head_end - at < 12 || memcmp(at, "HTTP/1.1 ", 9) != 0 ||
      !text_integer((struct text){at + 9, 3}, &answer->status)) {
    *broken = true;
    return false;
  }
  int64_t length = -1;
  bool chunked = false;
  const char *line = (const char *)memmem(at, (size_t)(head_end + 2 - at), "\r\n", 2) + 2;
  for (const char *line_end; line < head_end + 2; line = line_end + 2) {
    line_end = memmem(line, (size_t)(head_end + 2 - line), "\r\n", 2);
    const char *colon = memchr(line, ':', (size_t)(line_end - line));
    if (colon == NULL) continue;
    const struct text name = {line, (size_t)(colon - line)}, value = trimmed(colon + 1, line_end);
    if (name.length == 14 && strncasecmp(name.at, "content-length", 14) == 0) {
      if (!text_integer(value, &length) || length < 0 || length > LONGEST_ANSWER) *broken = true;
    } else if (name.length == 17 && strncasecmp(name.at, "transfer-encoding", 17) == 0) {
      chunked = true;
    } else if (name.length == 10 && strncasecmp(name.at, "connection", 10) == 0) {
      answer->closes = value.length == 5 && strncasecmp(value.at, "close", 5) == 0;
    }
  }
  char *body = (char *)head_end + 4;
  if (*broken) return false;
  if (chunked) return join_chunks(body, end, &answer->body, broken);
  if (length < 0) *broken = true;
  answer->body = (struct text){body, (size_t)length};
  return !*broken && end - body >= length;
}

static void give(struct upstream *upstream, const struct answer *answer) {
  struct gateway *gateway = upstream->gateway;
  struct exchange *exchange = upstream->exchange;
  int status = 502;
  if (answer->status == 404) status = 404;
  if (answer->status == 200) {
    arena_reset(&gateway->arena);
    struct json *json = json_parse(&gateway->arena, answer->body);
    if (json != NULL && json->type == JSON_OBJECT) {
      struct json via = {.type = JSON_STRING, .name = text_of("via"), .text = text_of("gateway")};
      struct json **place = &json->first;
      while (*place != NULL) place = &(*place)->next;
      *place = &via;
      buffer_json(answer_begin(exchange), json);
      status = 200;
    }
  }
  if (answer->closes) disconnect(upstream);
  upstream->used_before = upstream->fd >= 0;
  release(upstream);
  if (status == 200)
    answer_end(exchange, 200, "application/json");
  else
    answer_text(exchange, status,
                status == 404 ? "not found" : "the other server answers with something else");
}

static void on_upstream(struct watcher *watcher, uint32_t events) {
  struct upstream *upstream = (struct upstream *)watcher;
  if (upstream->fd < 0) return;
  if (upstream->exchange == NULL) {  // idle: it may only be closed
    if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) disconnect(upstream);
    return;
  }
  if (!transmit(upstream)) return try_again_or_fail(upstream);
  for (;;) {
    char *room = buffer_reserve(&upstream->in, 4096);
    const size_t size = upstream->in.capacity - upstream->in.length;
    const ssize_t count = recv(upstream->fd, room, size, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) return try_again_or_fail(upstream);
    upstream->in.length += (size_t)count;
    struct answer answer = {0};
    bool broken = false;
    if (read_answer(upstream, &answer, &broken)) return give(upstream, &answer);
    if (broken) return fail(upstream);
  }
}

static struct upstream *take(struct gateway *gateway) {
  struct upstream *upstream = gateway->idle;
  if (upstream != NULL) {
    gateway->idle = upstream->next;
    return upstream;
  }
  upstream = allocate(sizeof *upstream);
  *upstream = (struct upstream){.watcher.on_event = on_upstream, .gateway = gateway, .fd = -1};
  return upstream;
}

void gateway_ask(struct gateway *gateway, struct exchange *exchange, struct text id) {
  struct upstream *upstream = take(gateway);
  upstream->exchange = exchange;
  upstream->in.length = upstream->out.length = upstream->sent = 0;
  buffer_text(&upstream->out, "GET /items/");
  buffer_add(&upstream->out, id.at, id.length);
  buffer_text(&upstream->out, " HTTP/1.1\r\nHost: ");
  buffer_text(&upstream->out, host);
  buffer_text(&upstream->out, "\r\n\r\n");
  if (upstream->fd < 0 && !connect_upstream(upstream)) return fail(upstream);
  if (!transmit(upstream)) try_again_or_fail(upstream);
}
