// What the service answers: routes, which are regular expressions, and their handlers.
#pragma once

#include <httplib.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

using httplib::Request;
using httplib::Response;

inline void text(Response& response, const std::string& body) {
  response.set_content(body, "text/plain; charset=utf-8");
}

inline void json(Response& response, const nlohmann::json& value) {
  response.set_content(value.dump(), "application/json");
}

inline void bad_request(Response& response, const std::string& why) {
  response.status = 400;
  text(response, why);
}

inline void echo(const Request& request, Response& response) {
  auto message = nlohmann::json::parse(request.body, nullptr, /*allow_exceptions=*/false);
  if (!message.is_object()) return bad_request(response, "not a JSON object");
  message["text"] = "received";
  json(response, message);
}

inline void benchmark(const Request& request, Response& response) {
  unsigned count = 10'000;
  if (request.has_param("count")) {
    const auto value = request.get_param_value("count");
    const auto last = value.data() + value.size();
    const auto [end, error] = std::from_chars(value.data(), last, count);
    if (error != std::errc() || end != last || count > 1'000'000)
      return bad_request(response, "count is no integer from 0 to 1000000");
  }
  std::vector<std::string> strings;
  strings.reserve(count);
  for (unsigned i = 0; i < count; ++i) strings.push_back("Index " + std::to_string(i));
  strings.resize(std::min(count, 10u));
  json(response, strings);
}

inline void add_routes(httplib::Server& server, std::chrono::milliseconds delay) {
  server.Get("/", [](const auto&, auto& response) { text(response, "Hello world!"); });
  server.Get("/api/test", [](const auto&, auto& response) { text(response, "Hello, World!"); });

  server.Post("/test", [delay](const Request& request, Response& response) {
    if (delay.count() > 0) std::this_thread::sleep_for(delay);
    echo(request, response);
  });
  server.Get("/test/status", [](const auto&, auto& response) { text(response, "OK"); });
  server.Get("/test/labels/([^/]+)",
             [](const auto& request, auto& response) { text(response, request.matches[1]); });

  server.Get("/framework", [](const auto&, auto& response) { json(response, {{"Hello", "world"}}); });
  server.Get("/benchmark", benchmark);
}
