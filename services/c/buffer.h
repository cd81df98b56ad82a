// Bytes that grow, views of bytes, and what is written into answers: integers, JSON strings, text in HTML.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct text {
  const char *at;
  size_t length;
};

struct buffer {
  char *at;
  size_t length, capacity;
};

static inline struct text text_of(const char *string) { return (struct text){string, strlen(string)}; }

static inline bool text_is(struct text text, const char *string) {
  return text.length == strlen(string) && memcmp(text.at, string, text.length) == 0;
}

// Takes `prefix` off the beginning of `text`, if it is there.
bool text_skip(struct text *text, const char *prefix);

// Optional sign and digits, and nothing else. What is beyond 64 bits is the largest or smallest of them.
bool text_integer(struct text text, int64_t *value);

// Ends the program: there is no memory.
void *allocate(size_t size);

// Makes room for `more` bytes, and returns where they go.
char *buffer_reserve(struct buffer *buffer, size_t more);

void buffer_add(struct buffer *buffer, const char *bytes, size_t length);
void buffer_integer(struct buffer *buffer, int64_t value);
void buffer_json_string(struct buffer *buffer, struct text text);
void buffer_html(struct buffer *buffer, struct text text);

static inline void buffer_text(struct buffer *buffer, const char *string) {
  buffer_add(buffer, string, strlen(string));
}

// A component of a path, or of a query with `plus_is_blank`. False if an escape is broken.
bool buffer_percent_decoded(struct buffer *buffer, struct text text, bool plus_is_blank);
