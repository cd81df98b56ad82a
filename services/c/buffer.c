#include "buffer.h"

#include <stdio.h>
#include <stdlib.h>

bool text_skip(struct text *text, const char *prefix) {
  const size_t length = strlen(prefix);
  if (text->length < length || memcmp(text->at, prefix, length) != 0) return false;
  text->at += length;
  text->length -= length;
  return true;
}

bool text_integer(struct text text, int64_t *value) {
  const bool negative = text_skip(&text, "-");
  if (text.length == 0) return false;
  int64_t number = 0;
  bool too_long = false;
  for (size_t i = 0; i < text.length; ++i) {
    if (text.at[i] < '0' || text.at[i] > '9') return false;
    too_long |= __builtin_mul_overflow(number, 10, &number);
    too_long |= __builtin_add_overflow(number, text.at[i] - '0', &number);
  }
  if (too_long)
    *value = negative ? INT64_MIN : INT64_MAX;
  else
    *value = negative ? -number : number;
  return true;
}

static void out_of_memory(void) {
  fputs("out of memory\n", stderr);
  exit(1);
}

void *allocate(size_t size) {
  void *memory = malloc(size);
  if (memory == NULL) out_of_memory();
  return memory;
}

char *buffer_reserve(struct buffer *buffer, size_t more) {
  if (buffer->capacity - buffer->length < more) {
    size_t capacity = buffer->capacity < 2048 ? 2048 : buffer->capacity;
    while (capacity - buffer->length < more) capacity *= 2;
    buffer->at = realloc(buffer->at, capacity);
    if (buffer->at == NULL) out_of_memory();
    buffer->capacity = capacity;
  }
  return buffer->at + buffer->length;
}

void buffer_add(struct buffer *buffer, const char *bytes, size_t length) {
  if (length == 0) return;  // `bytes` may be null then
  memcpy(buffer_reserve(buffer, length), bytes, length);
  buffer->length += length;
}

void buffer_integer(struct buffer *buffer, int64_t value) {
  char digits[20];
  char *first = digits + sizeof digits;
  uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
  do {
    *--first = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest > 0);
  if (value < 0) buffer_add(buffer, "-", 1);
  buffer_add(buffer, first, (size_t)(digits + sizeof digits - first));
}

// Adds `text` with some of its bytes replaced: `replacement` returns null for a byte that stays.
static void add_replaced(struct buffer *buffer, struct text text,
                         const char *(*replacement)(unsigned char byte, char *scratch)) {
  size_t kept = 0;
  for (size_t i = 0; i < text.length; ++i) {
    char scratch[8];
    const char *other = replacement((unsigned char)text.at[i], scratch);
    if (other == NULL) continue;
    buffer_add(buffer, text.at + kept, i - kept);
    buffer_text(buffer, other);
    kept = i + 1;
  }
  buffer_add(buffer, text.at + kept, text.length - kept);
}

static inline const char *in_json(unsigned char byte, char *scratch) {
  if (byte >= 0x20 && byte != '"' && byte != '\\') return NULL;
  switch (byte) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
  }
  snprintf(scratch, 8, "\\u%04x", byte);
  return scratch;
}

void buffer_json_string(struct buffer *buffer, struct text text) {
  buffer_add(buffer, "\"", 1);
  add_replaced(buffer, text, in_json);
  buffer_add(buffer, "\"", 1);
}

static inline const char *in_html(unsigned char byte, char *scratch) {
  (void)scratch;
  switch (byte) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
  }
  return NULL;
}

void buffer_html(struct buffer *buffer, struct text text) { add_replaced(buffer, text, in_html); }

static int hexadecimal(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  digit |= 0x20;
  return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

bool buffer_percent_decoded(struct buffer *buffer, struct text text, bool plus_is_blank) {
  char *out = buffer_reserve(buffer, text.length);
  for (size_t i = 0; i < text.length; ++i) {
    char byte = text.at[i];
    if (byte == '+' && plus_is_blank) byte = ' ';
    if (byte == '%') {
      if (text.length - i < 3) return false;
      const int high = hexadecimal(text.at[i + 1]), low = hexadecimal(text.at[i + 2]);
      if (high < 0 || low < 0) return false;
      byte = (char)(high * 16 + low);
      i += 2;
    }
    *out++ = byte;
  }
  buffer->length = (size_t)(out - buffer->at);
  return true;
}
