// The tests of TechEmpower: db, queries, updates, fortunes.
#pragma once

#include "worker.h"

void seed(struct worker *worker);

void read_world(struct exchange *exchange);
void read_worlds(struct exchange *exchange);
void update_worlds(struct exchange *exchange);
void read_fortunes(struct exchange *exchange);
