// `crud`: items are read, listed, made and changed, each with one statement.
#pragma once

#include "worker.h"

// `rest` is what follows `/crud/items` in the path.
void crud(struct exchange *exchange, struct text rest);
