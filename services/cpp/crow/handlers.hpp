// What the service answers: routes and their handlers, with the JSON that Crow brings.
#pragma once

#include <crow.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

inline crow::response text(std::string body, int status = crow::status::OK) {
  crow::response response(status, std::move(body));
  response.set_header("Content-Type", "text/plain; charset=utf-8");
  return response;
}

inline crow::response echo(const crow::request& request) {
  const auto received = crow::json::load(request.body);
  if (!received || received.t() != crow::json::type::Object)
    return text("not a JSON object", crow::status::BAD_REQUEST);
  crow::json::wvalue message(received);
  message["text"] = "received";
  return message;
}

inline crow::response benchmark(const crow::request& request) {
  unsigned count = 10'000;
  if (const char* value = request.url_params.get("count")) {
    const auto last = value + std::strlen(value);
    const auto [end, error] = std::from_chars(value, last, count);
    if (error != std::errc() || end != last || count > 1'000'000)
      return text("count is no integer from 0 to 1000000", crow::status::BAD_REQUEST);
  }
  std::vector<std::string> strings;
  strings.reserve(count);
  for (unsigned i = 0; i < count; ++i) strings.push_back("Index " + std::to_string(i));
  strings.resize(std::min(count, 10u));
  return crow::json::wvalue(crow::json::wvalue::list(strings.begin(), strings.end()));
}

inline void add_routes(crow::SimpleApp& app, std::chrono::milliseconds delay) {
  CROW_ROUTE(app, "/")([] { return text("Hello world!"); });
  CROW_ROUTE(app, "/api/test")([] { return text("Hello, World!"); });

  CROW_ROUTE(app, "/test").methods(crow::HTTPMethod::POST)([delay](const crow::request& request) {
    if (delay.count() > 0) std::this_thread::sleep_for(delay);
    return echo(request);
  });
  CROW_ROUTE(app, "/test/status")([] { return text("OK"); });
  CROW_ROUTE(app, "/test/labels/<string>")([](std::string label) { return text(std::move(label)); });

  CROW_ROUTE(app, "/framework")([] { return crow::json::wvalue({{"Hello", "world"}}); });
  CROW_ROUTE(app, "/benchmark")([](const crow::request& request) { return benchmark(request); });
}
