// What the service answers: resources and their handlers. JSON is nlohmann-json.
#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <restbed>
#include <string>
#include <thread>
#include <vector>

#include "body.hpp"

// Restbed leaves both to its user: the length of a body, and whether a session goes on (`yield`) or ends
// (`close`).
inline void respond(const Session& session, int status, const std::string& type, const std::string& body) {
  std::multimap<std::string, std::string> headers{{"Content-Type", type},
                                                  {"Content-Length", std::to_string(body.size())}};
  const auto request = session->get_request();
  const auto wish = restbed::String::lowercase(request->get_header("Connection", std::string()));
  if (wish == "close" || (request->get_version() < 1.1 && wish != "keep-alive")) {
    headers.emplace("Connection", "close");
    session->close(status, body, headers);
  } else {
    headers.emplace("Connection", "keep-alive");
    session->yield(status, body, headers);
  }
}

inline void text(const Session& session, const std::string& body, int status = restbed::OK) {
  respond(session, status, "text/plain; charset=utf-8", body);
}

inline void json(const Session& session, const nlohmann::json& value) {
  respond(session, restbed::OK, "application/json", value.dump());
}

inline void bad_request(const Session& session, const std::string& why) {
  text(session, why, restbed::BAD_REQUEST);
}

inline void echo(const Session& session, std::chrono::milliseconds delay) {
  fetch_body(session, [delay](const Session& session, const std::string& body) {
    if (delay.count() > 0) std::this_thread::sleep_for(delay);
    auto message = nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
    if (!message.is_object()) return bad_request(session, "not a JSON object");
    message["text"] = "received";
    json(session, message);
  });
}

inline void benchmark(const Session& session) {
  unsigned count = 10'000;
  if (session->get_request()->has_query_parameter("count")) {
    const auto value = session->get_request()->get_query_parameter("count");
    const auto last = value.data() + value.size();
    const auto [end, error] = std::from_chars(value.data(), last, count);
    if (error != std::errc() || end != last || count > 1'000'000)
      return bad_request(session, "count is no integer from 0 to 1000000");
  }
  std::vector<std::string> strings;
  strings.reserve(count);
  for (unsigned i = 0; i < count; ++i) strings.push_back("Index " + std::to_string(i));
  strings.resize(std::min(count, 10u));
  json(session, strings);
}

inline void publish(restbed::Service& service, const std::string& method, const std::string& path,
                    const std::function<void(const Session)>& handler) {
  const auto resource = std::make_shared<restbed::Resource>();
  resource->set_path(path);
  resource->set_method_handler(method, handler);
  service.publish(resource);
}

inline void publish_all(restbed::Service& service, std::chrono::milliseconds delay) {
  publish(service, "GET", "/", [](const Session session) { text(session, "Hello world!"); });
  publish(service, "GET", "/api/test", [](const Session session) { text(session, "Hello, World!"); });

  publish(service, "POST", "/test", [delay](const Session session) { echo(session, delay); });
  publish(service, "GET", "/test/status", [](const Session session) { text(session, "OK"); });
  publish(service, "GET", "/test/labels/{label: [A-Za-z0-9_-]+}",
          [](const Session session) { text(session, session->get_request()->get_path_parameter("label")); });

  publish(service, "GET", "/framework", [](const Session session) { json(session, {{"Hello", "world"}}); });
  publish(service, "GET", "/benchmark", [](const Session session) { benchmark(session); });

  service.set_method_not_implemented_handler(
      [](const Session session) { session->close(restbed::METHOD_NOT_ALLOWED); });
}
