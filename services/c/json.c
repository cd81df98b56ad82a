#include "json.h"

#include <stdlib.h>

enum { BLOCK_SIZE = 64 * 1024, DEEPEST = 64 };

struct arena_block {
  struct arena_block *next;
  size_t size;
  _Alignas(max_align_t) char bytes[];
};

void *arena_allocate(struct arena *arena, size_t size) {
  size = (size + 15) & ~(size_t)15;
  while (arena->current == NULL || arena->current->size - arena->used < size) {
    struct arena_block **next = arena->current == NULL ? &arena->first : &arena->current->next;
    if (*next != NULL && (*next)->size < size) {  // kept of an earlier use, and too small for this one
      struct arena_block *small = *next;
      *next = small->next;
      free(small);
      continue;
    }
    if (*next == NULL) {
      const size_t block_size = size > BLOCK_SIZE ? size : BLOCK_SIZE;
      *next = allocate(sizeof(struct arena_block) + block_size);
      (*next)->next = NULL;
      (*next)->size = block_size;
    }
    arena->current = *next;
    arena->used = 0;
  }
  void *memory = arena->current->bytes + arena->used;
  arena->used += size;
  return memory;
}

void arena_reset(struct arena *arena) {
  // One block is kept; what a large document needed is not.
  while (arena->first != NULL && arena->first->next != NULL) {
    struct arena_block *block = arena->first->next;
    arena->first->next = block->next;
    free(block);
  }
  arena->current = arena->first;
  arena->used = 0;
}

struct parser {
  struct arena *arena;
  const char *at, *end;
  int depth;
};

static void skip_blanks(struct parser *parser) {
  while (parser->at < parser->end &&
         (*parser->at == ' ' || *parser->at == '\t' || *parser->at == '\n' || *parser->at == '\r'))
    ++parser->at;
}

static bool skip(struct parser *parser, char byte) {
  if (parser->at == parser->end || *parser->at != byte) return false;
  ++parser->at;
  return true;
}

static bool skip_word(struct parser *parser, const char *word) {
  struct text rest = {parser->at, (size_t)(parser->end - parser->at)};
  const bool is_there = text_skip(&rest, word);
  parser->at = rest.at;
  return is_there;
}

static bool skip_digits(struct parser *parser) {
  const char *first = parser->at;
  while (parser->at < parser->end && *parser->at >= '0' && *parser->at <= '9') ++parser->at;
  return parser->at > first;
}

static bool parse_number(struct parser *parser, struct json *json) {
  const char *first = parser->at;
  skip(parser, '-');
  if (!skip(parser, '0') && !skip_digits(parser)) return false;
  if (skip(parser, '.') && !skip_digits(parser)) return false;
  if (skip(parser, 'e') || skip(parser, 'E')) {
    if (!skip(parser, '+')) skip(parser, '-');
    if (!skip_digits(parser)) return false;
  }
  json->type = JSON_NUMBER;
  json->text = (struct text){first, (size_t)(parser->at - first)};
  return true;
}

// The length of the character of UTF-8 at `at`; 0 if there is none: neither overlong forms nor surrogates are
// any.
static size_t character_length(const char *at, const char *end) {
  const unsigned char *byte = (const unsigned char *)at;
  const size_t left = (size_t)(end - at);
  size_t length;
  unsigned lowest = 0x80, highest = 0xBF;  // of the second byte
  if (byte[0] < 0x80) return 1;
  if (byte[0] >= 0xC2 && byte[0] <= 0xDF) {
    length = 2;
  } else if (byte[0] >= 0xE0 && byte[0] <= 0xEF) {
    length = 3;
    if (byte[0] == 0xE0) lowest = 0xA0;
    if (byte[0] == 0xED) highest = 0x9F;
  } else if (byte[0] >= 0xF0 && byte[0] <= 0xF4) {
    length = 4;
    if (byte[0] == 0xF0) lowest = 0x90;
    if (byte[0] == 0xF4) highest = 0x8F;
  } else {
    return 0;
  }
  if (left < length || byte[1] < lowest || byte[1] > highest) return 0;
  for (size_t i = 2; i < length; ++i)
    if ((byte[i] & 0xC0) != 0x80) return 0;
  return length;
}

bool text_is_utf8(struct text text) {
  for (const char *at = text.at, *end = at + text.length; at < end;) {
    const size_t length = character_length(at, end);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

static bool parse_four_digits(struct parser *parser, uint32_t *value) {
  if (parser->end - parser->at < 4) return false;
  *value = 0;
  for (int i = 0; i < 4; ++i) {
    const char digit = *parser->at++, low = (char)(digit | 0x20);
    if (digit >= '0' && digit <= '9')
      *value = *value * 16 + (uint32_t)(digit - '0');
    else if (low >= 'a' && low <= 'f')
      *value = *value * 16 + (uint32_t)(low - 'a') + 10;
    else
      return false;
  }
  return true;
}

static char *write_character(char *out, uint32_t character) {
  if (character < 0x80) {
    *out++ = (char)character;
    return out;
  }
  if (character < 0x800) {
    *out++ = (char)(0xC0 | character >> 6);
  } else {
    if (character < 0x10000) {
      *out++ = (char)(0xE0 | character >> 12);
    } else {
      *out++ = (char)(0xF0 | character >> 18);
      *out++ = (char)(0x80 | (character >> 12 & 0x3F));
    }
    *out++ = (char)(0x80 | (character >> 6 & 0x3F));
  }
  *out++ = (char)(0x80 | (character & 0x3F));
  return out;
}

// What follows a backslash. Returns null if it is nothing that may.
static char *parse_escape(struct parser *parser, char *out) {
  static const char escaped[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
  if (parser->at == parser->end) return NULL;
  const char letter = *parser->at++;
  if (letter != 'u') {
    const char *place = letter == '\0' ? NULL : strchr(escaped, letter);
    if (place == NULL) return NULL;
    *out++ = meant[place - escaped];
    return out;
  }
  uint32_t character, second;
  if (!parse_four_digits(parser, &character)) return NULL;
  if (character >= 0xDC00 && character <= 0xDFFF) return NULL;
  if (character >= 0xD800 && character <= 0xDBFF) {
    if (!skip_word(parser, "\\u") || !parse_four_digits(parser, &second)) return NULL;
    if (second < 0xDC00 || second > 0xDFFF) return NULL;
    character = 0x10000 + ((character - 0xD800) << 10) + (second - 0xDC00);
  }
  return write_character(out, character);
}

// Behind the first quote.
static bool parse_string(struct parser *parser, struct text *text) {
  const char *first = parser->at;
  size_t escapes = 0;
  for (;;) {  // to the end of it
    if (parser->at == parser->end || (unsigned char)*parser->at < 0x20) return false;
    if (*parser->at == '"') break;
    if (*parser->at == '\\') {
      ++escapes;
      if (++parser->at == parser->end) return false;
    }
    const size_t length = character_length(parser->at, parser->end);
    if (length == 0) return false;
    parser->at += length;
  }
  *text = (struct text){first, (size_t)(parser->at - first)};
  const char *behind = parser->at + 1;
  if (escapes > 0) {  // what is meant is never longer than what was written
    char *copy = arena_allocate(parser->arena, text->length), *out = copy;
    const char *end = parser->end;
    parser->at = first;
    parser->end = first + text->length;
    while (out != NULL && parser->at < parser->end) {
      const char byte = *parser->at++;
      if (byte == '\\')
        out = parse_escape(parser, out);
      else
        *out++ = byte;
    }
    parser->end = end;
    if (out == NULL) return false;
    *text = (struct text){copy, (size_t)(out - copy)};
  }
  parser->at = behind;
  return true;
}

static struct json *parse_value(struct parser *parser);

static bool parse_children(struct parser *parser, struct json *json, char last) {
  struct json **place = &json->first;
  skip_blanks(parser);
  if (skip(parser, last)) return true;
  do {
    struct text name = {0};
    if (json->type == JSON_OBJECT) {
      skip_blanks(parser);
      if (!skip(parser, '"') || !parse_string(parser, &name)) return false;
      skip_blanks(parser);
      if (!skip(parser, ':')) return false;
    }
    struct json *child = parse_value(parser);
    if (child == NULL) return false;
    child->name = name;
    *place = child;
    place = &child->next;
    skip_blanks(parser);
  } while (skip(parser, ','));
  return skip(parser, last);
}

static struct json *parse_value(struct parser *parser) {
  struct json *json = arena_allocate(parser->arena, sizeof *json);
  *json = (struct json){0};
  bool right;
  skip_blanks(parser);
  if (++parser->depth > DEEPEST) return NULL;
  if (skip(parser, '{')) {
    json->type = JSON_OBJECT;
    right = parse_children(parser, json, '}');
  } else if (skip(parser, '[')) {
    json->type = JSON_ARRAY;
    right = parse_children(parser, json, ']');
  } else if (skip(parser, '"')) {
    json->type = JSON_STRING;
    right = parse_string(parser, &json->text);
  } else if (skip_word(parser, "null")) {
    right = true;
  } else if (skip_word(parser, "true")) {
    json->type = JSON_TRUE;
    right = true;
  } else if (skip_word(parser, "false")) {
    json->type = JSON_FALSE;
    right = true;
  } else {
    right = parse_number(parser, json);
  }
  --parser->depth;
  return right ? json : NULL;
}

struct json *json_parse(struct arena *arena, struct text text) {
  if (text.length == 0) return NULL;
  struct parser parser = {arena, text.at, text.at + text.length, 0};
  struct json *json = parse_value(&parser);
  skip_blanks(&parser);
  return parser.at == parser.end ? json : NULL;
}

const struct json *json_member(const struct json *json, const char *name) {
  const struct json *found = NULL;
  if (json->type != JSON_OBJECT) return NULL;
  for (const struct json *member = json->first; member != NULL; member = member->next)
    if (text_is(member->name, name)) found = member;
  return found;
}

bool json_string(const struct json *object, const char *name, struct text *value) {
  const struct json *member = json_member(object, name);
  if (member == NULL || member->type != JSON_STRING) return false;
  *value = member->text;
  return true;
}

bool json_integer(const struct json *object, const char *name, int64_t lowest, int64_t highest,
                  int64_t *value) {
  const struct json *member = json_member(object, name);
  return member != NULL && member->type == JSON_NUMBER && text_integer(member->text, value) &&
         *value >= lowest && *value <= highest;
}

void buffer_json(struct buffer *buffer, const struct json *json) {
  const bool is_object = json->type == JSON_OBJECT;
  switch (json->type) {
    case JSON_NULL:
      return buffer_text(buffer, "null");
    case JSON_FALSE:
      return buffer_text(buffer, "false");
    case JSON_TRUE:
      return buffer_text(buffer, "true");
    case JSON_NUMBER:
      return buffer_add(buffer, json->text.at, json->text.length);
    case JSON_STRING:
      return buffer_json_string(buffer, json->text);
    case JSON_ARRAY:
    case JSON_OBJECT:
      break;
  }
  buffer_text(buffer, is_object ? "{" : "[");
  for (const struct json *child = json->first; child != NULL; child = child->next) {
    if (child != json->first) buffer_text(buffer, ",");
    if (is_object) {
      buffer_json_string(buffer, child->name);
      buffer_text(buffer, ":");
    }
    buffer_json(buffer, child);
  }
  buffer_text(buffer, is_object ? "}" : "]");
}
