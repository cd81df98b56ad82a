// What it costs to read a body, and to write JSON, by hand.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <zlib.h>

#include "../http.h"
#include "gateway.h"
#include "products.h"

enum { LONGEST_UPLOAD = 32 * 1024 * 1024 };

static bool has_products, has_upstream;

// What a loop has of its own.
struct worker {
  z_stream gzip;
  struct buffer json;
  struct gateway *gateway;
};

static void *start(struct loop *loop, int number, int loops) {
  (void)number, (void)loops;
  struct worker *worker = allocate(sizeof *worker);
  *worker = (struct worker){0};
  enum { WINDOW = 15, AS_GZIP = 16, MEMORY = 8 };  // zlib's defaults
  if (has_products && deflateInit2(&worker->gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW + AS_GZIP, MEMORY,
                                   Z_DEFAULT_STRATEGY) != Z_OK) {
    fputs("zlib cannot be used\n", stderr);
    exit(1);
  }
  if (has_upstream) worker->gateway = gateway_open(loop);
  return worker;
}

// upload: the body is counted as it comes, and thrown away.

enum { BYTES, OFFSET, BYTE };  // of exchange->state.numbers

static bool is_upload(const struct exchange *exchange) {
  return exchange->method == METHOD_POST && text_is(exchange->path, "/upload");
}

static void on_piece(struct exchange *exchange, struct text piece) {
  int64_t *numbers = exchange->state.numbers;
  const int64_t place = numbers[OFFSET] - numbers[BYTES];
  if (place >= 0 && place < (int64_t)piece.length) numbers[BYTE] = (unsigned char)piece.at[place];
  numbers[BYTES] += (int64_t)piece.length;
}

static void on_head(struct exchange *exchange) {
  if (!is_upload(exchange)) return;
  struct text offset;
  int64_t *numbers = exchange->state.numbers;
  numbers[BYTES] = 0;
  numbers[BYTE] = -1;
  if (!exchange_header(exchange, "x-offset", &offset) || !text_integer(offset, &numbers[OFFSET]))
    numbers[OFFSET] = -1;
  exchange->on_body = on_piece;
  exchange->limit = LONGEST_UPLOAD;
}

static void end_upload(struct exchange *exchange) {
  const int64_t *numbers = exchange->state.numbers;
  if (numbers[BYTE] < 0) return answer_text(exchange, 400, "X-Offset is no place in the body");
  struct buffer *out = answer_begin(exchange);
  buffer_text(out, "{\"bytes\":");
  buffer_integer(out, numbers[BYTES]);
  buffer_text(out, ",\"byte\":");
  buffer_integer(out, numbers[BYTE]);
  buffer_text(out, "}");
  answer_end(exchange, 200, "application/json");
}

// Whether `gzip` is among what the client takes: a weight of 0 says that it is not.
static bool takes_gzip(const struct exchange *exchange) {
  struct text header;
  if (!exchange_header(exchange, "accept-encoding", &header)) return false;
  for (const char *at = header.at, *end = at + header.length; at < end;) {
    while (at < end && (*at == ' ' || *at == ',')) ++at;
    const char *comma = memchr(at, ',', (size_t)(end - at));
    if (comma == NULL) comma = end;
    const char *weight = memmem(at, (size_t)(comma - at), "q=", 2);
    const char *name_end = at;
    while (name_end < comma && *name_end != ';' && *name_end != ' ') ++name_end;
    if (name_end - at == 4 && strncasecmp(at, "gzip", 4) == 0) {
      if (weight == NULL) return true;
      for (weight += 2; weight < comma && *weight != ' '; ++weight)
        if (*weight >= '1' && *weight <= '9') return true;
      return false;
    }
    at = comma;
  }
  return false;
}

static void compress_into(struct buffer *out, z_stream *gzip, const struct buffer *plain) {
  deflateReset(gzip);
  gzip->next_in = (Bytef *)plain->at;
  gzip->avail_in = (uInt)plain->length;
  const size_t most = deflateBound(gzip, plain->length);
  gzip->next_out = (Bytef *)buffer_reserve(out, most);
  gzip->avail_out = (uInt)most;
  deflate(gzip, Z_FINISH);  // in one step: there is room for the worst case
  out->length += most - gzip->avail_out;
}

static void send_products(struct exchange *exchange, struct text count_text, bool compressed) {
  struct worker *worker = exchange->loop->application;
  int64_t count, factor;
  if (!exchange_reads(exchange)) return answer_wrong_method(exchange, "GET, HEAD");
  if (!text_integer(count_text, &count) || count < 1 || count > 50)
    return answer_text(exchange, 400, "the count is no integer from 1 to 50");
  if (!exchange_integer(exchange, "m", 1, 1000000, &factor))
    return answer_text(exchange, 400, "m is no integer from 1 to 1000000");
  struct buffer *out = answer_begin(exchange);
  if (compressed) answer_header(exchange, "Vary", "Accept-Encoding");
  if (compressed && takes_gzip(exchange)) {
    worker->json.length = 0;
    products_write(&worker->json, count, factor);
    compress_into(out, &worker->gzip, &worker->json);
    answer_header(exchange, "Content-Encoding", "gzip");
  } else {
    products_write(out, count, factor);
  }
  answer_end(exchange, 200, "application/json");
}

static void ask_gateway(struct exchange *exchange, struct text id) {
  const struct worker *worker = exchange->loop->application;
  int64_t number;
  if (!exchange_reads(exchange)) return answer_wrong_method(exchange, "GET, HEAD");
  if (!text_integer(id, &number)) return answer_text(exchange, 404, "not found");
  gateway_ask(worker->gateway, exchange, id);
}

static void on_request(struct exchange *exchange) {
  struct text rest = exchange->path;
  if (is_upload(exchange)) return end_upload(exchange);
  if (text_is(rest, "/upload")) return answer_wrong_method(exchange, "POST");
  const bool json = has_products && text_skip(&rest, "/json/");
  const bool compressed = has_products && !json && text_skip(&rest, "/compress/");
  const bool gateway = has_upstream && text_skip(&rest, "/gateway/");
  if (!(json || compressed || gateway) || rest.length == 0 || memchr(rest.at, '/', rest.length) != NULL)
    return answer_text(exchange, 404, "not found");
  if (gateway)
    ask_gateway(exchange, rest);
  else
    send_products(exchange, rest, compressed);
}

int main(int argc, char *argv[]) {
  if (argc == 2 && strcmp(argv[1], "--version") == 0) {
    puts(zlibVersion());
    return 0;
  }
  const struct settings settings = settings_from_environment();
  const char *products = getenv("DATA_PRODUCTS"), *upstream = getenv("UPSTREAM_URL");
  has_products = products != NULL;
  has_upstream = upstream != NULL;
  if (has_products) products_read(products);
  if (has_upstream) gateway_use(upstream);
  return serve(&settings,
               &(struct application){.start = start, .on_head = on_head, .on_request = on_request});
}
