// JSON that was received, as a tree. It lives in an arena, and points into the text that was parsed.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer.h"

// Memory that is given back all at once.
struct arena {
  struct arena_block *first, *current;
  size_t used;
};

void *arena_allocate(struct arena *arena, size_t size);
void arena_reset(struct arena *arena);

enum json_type { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json {
  enum json_type type;
  struct text text;           // of a string without its escapes, of a number as it was written
  struct text name;           // of a member of an object
  struct json *first, *next;  // elements or members
};

// Null if it is no JSON (RFC 8259), is no UTF-8, or is nested too deeply.
struct json *json_parse(struct arena *arena, struct text text);

// The last member of this name, null if there is none or `json` is no object.
const struct json *json_member(const struct json *json, const char *name);

// Members of one type, as a service wants them. False if it is missing or of another.
bool json_string(const struct json *object, const char *name, struct text *value);
bool json_integer(const struct json *object, const char *name, int64_t lowest, int64_t highest,
                  int64_t *value);

// Whether all of it is UTF-8.
bool text_is_utf8(struct text text);

void buffer_json(struct buffer *buffer, const struct json *json);
