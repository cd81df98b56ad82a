// Fifty products, and as many of them as a request wants, as JSON.
#pragma once

#include "../buffer.h"

// Ends the program if the file cannot be read or holds anything else.
void products_read(const char *path);

// The first `count` of them, each with its total: price * quantity * `factor`.
void products_write(struct buffer *out, int64_t count, int64_t factor);
