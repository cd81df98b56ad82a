// `gateway`: asks another server of HTTP, on connections that each loop keeps.
#pragma once

#include "../http.h"

struct gateway;

// Where the other server is. Ends the program if this is no URL.
void gateway_use(const char *url);

struct gateway *gateway_open(struct loop *loop);

// Answers with the object that the other server has under this id.
void gateway_ask(struct gateway *gateway, struct exchange *exchange, struct text id);
