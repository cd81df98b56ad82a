#include "products.h"

#include <errno.h>
#include <stdio.h>

#include "../json.h"
#include "../settings.h"

enum { PRODUCTS = 50, MOST_TAGS = 8 };

struct product {
  int64_t id, price, quantity, score, ratings;
  struct text name, category, tags[MOST_TAGS];
  int tag_count;
  bool active;
};

static struct product products[PRODUCTS];

static bool read_integer(const struct json *object, const char *name, int64_t *value) {
  return json_integer(object, name, 0, (int64_t)1 << 53, value);
}

static bool read_tags(const struct json *tags, struct product *product) {
  if (tags == NULL || tags->type != JSON_ARRAY) return false;
  for (const struct json *tag = tags->first; tag != NULL; tag = tag->next) {
    if (tag->type != JSON_STRING || product->tag_count == MOST_TAGS) return false;
    product->tags[product->tag_count++] = tag->text;
  }
  return true;
}

static bool read_product(const struct json *json, struct product *product) {
  const struct json *active = json_member(json, "active"), *rating = json_member(json, "rating");
  if (active == NULL || (active->type != JSON_TRUE && active->type != JSON_FALSE)) return false;
  product->active = active->type == JSON_TRUE;
  return read_integer(json, "id", &product->id) && json_string(json, "name", &product->name) &&
         json_string(json, "category", &product->category) && read_integer(json, "price", &product->price) &&
         read_integer(json, "quantity", &product->quantity) &&
         read_tags(json_member(json, "tags"), product) && rating != NULL &&
         read_integer(rating, "score", &product->score) && read_integer(rating, "count", &product->ratings);
}

void products_read(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) refuse("DATA_PRODUCTS: %s: %s", path, strerror(errno));
  static struct buffer text;  // the products point into both, for as long as the program runs
  static struct arena arena;
  size_t count;
  do {
    count = fread(buffer_reserve(&text, 64 * 1024), 1, 64 * 1024, file);
    text.length += count;
  } while (count > 0);
  fclose(file);
  const struct json *json = json_parse(&arena, (struct text){text.at, text.length});
  if (json == NULL || json->type != JSON_ARRAY) refuse("DATA_PRODUCTS: %s is no JSON array", path);
  int read = 0;
  for (const struct json *child = json->first; child != NULL; child = child->next)
    if (read == PRODUCTS || !read_product(child, &products[read++]))
      refuse("DATA_PRODUCTS: %s has something other than %d products", path, PRODUCTS);
  if (read != PRODUCTS) refuse("DATA_PRODUCTS: %s has no %d products", path, PRODUCTS);
}

static void write_product(struct buffer *out, const struct product *product, int64_t factor) {
  buffer_text(out, "{\"id\":");
  buffer_integer(out, product->id);
  buffer_text(out, ",\"name\":");
  buffer_json_string(out, product->name);
  buffer_text(out, ",\"category\":");
  buffer_json_string(out, product->category);
  buffer_text(out, ",\"price\":");
  buffer_integer(out, product->price);
  buffer_text(out, ",\"quantity\":");
  buffer_integer(out, product->quantity);
  buffer_text(out, product->active ? ",\"active\":true,\"tags\":[" : ",\"active\":false,\"tags\":[");
  for (int i = 0; i < product->tag_count; ++i) {
    if (i > 0) buffer_text(out, ",");
    buffer_json_string(out, product->tags[i]);
  }
  buffer_text(out, "],\"rating\":{\"score\":");
  buffer_integer(out, product->score);
  buffer_text(out, ",\"count\":");
  buffer_integer(out, product->ratings);
  buffer_text(out, "},\"total\":");
  buffer_integer(out, product->price * product->quantity * factor);
  buffer_text(out, "}");
}

void products_write(struct buffer *out, int64_t count, int64_t factor) {
  buffer_text(out, "{\"items\":[");
  for (int i = 0; i < count; ++i) {
    if (i > 0) buffer_text(out, ",");
    write_product(out, &products[i], factor);
  }
  buffer_text(out, "],\"count\":");
  buffer_integer(out, count);
  buffer_text(out, "}");
}
