// What the service answers. The listener of cpprestsdk knows methods but no routes: paths are split and
// compared here, as its samples do.
#pragma once

#include <cpprest/http_listener.h>
#include <cpprest/json.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "settings.hpp"

namespace http = web::http;
namespace json = web::json;

inline void bad_request(const http::http_request& request, const std::string& why) {
  request.reply(http::status_codes::BadRequest, why);
}

inline void not_found(const http::http_request& request) { request.reply(http::status_codes::NotFound); }

inline void receive(const http::http_request& request, json::value message, std::chrono::milliseconds delay) {
  if (delay.count() > 0) std::this_thread::sleep_for(delay);
  if (!message.is_object()) return bad_request(request, "not a JSON object");
  message["text"] = json::value::string("received");
  request.reply(http::status_codes::OK, message);
}

inline void echo(const http::http_request& request, std::chrono::milliseconds delay) {
  request.extract_json()
      .then([request, delay](json::value message) { receive(request, std::move(message), delay); })
      .then([request](pplx::task<void> done) {
        try {
          done.get();
        } catch (const std::exception& error) {
          bad_request(request, error.what());
        }
      });
}

// The handler of the benchmark of 2020: it waits on a thread of the pool for a body that a thread of the pool
// has to read.
inline void echo_waiting(const http::http_request& request, std::chrono::milliseconds delay) try {
  const auto body = request.extract_json();
  receive(request, body.get(), delay);
} catch (const std::exception& error) {
  bad_request(request, error.what());
}

inline void benchmark(const http::http_request& request) {
  unsigned count = 10'000;
  const auto query = web::uri::split_query(request.relative_uri().query());
  if (const auto found = query.find("count"); found != query.end()) {
    const auto last = found->second.data() + found->second.size();
    const auto [end, error] = std::from_chars(found->second.data(), last, count);
    if (error != std::errc() || end != last || count > 1'000'000)
      return bad_request(request, "count is no integer from 0 to 1000000");
  }
  std::vector<std::string> strings;
  strings.reserve(count);
  for (unsigned i = 0; i < count; ++i) strings.push_back("Index " + std::to_string(i));
  strings.resize(std::min(count, 10u));
  request.reply(http::status_codes::OK, json::value::array({strings.begin(), strings.end()}));
}

inline void get(const http::http_request& request) {
  const auto path = web::uri::split_path(web::uri::decode(request.relative_uri().path()));

  if (path.empty()) {
    request.reply(http::status_codes::OK, "Hello world!");
  } else if (path.size() == 2 && path[0] == "api" && path[1] == "test") {
    request.reply(http::status_codes::OK, "Hello, World!");
  } else if (path.size() == 2 && path[0] == "test" && path[1] == "status") {
    request.reply(http::status_codes::OK, "OK");
  } else if (path.size() == 3 && path[0] == "test" && path[1] == "labels") {
    request.reply(http::status_codes::OK, path[2]);
  } else if (path.size() == 1 && path[0] == "framework") {
    request.reply(http::status_codes::OK, json::value::object({{"Hello", json::value::string("world")}}));
  } else if (path.size() == 1 && path[0] == "benchmark") {
    benchmark(request);
  } else {
    not_found(request);
  }
}

inline void post(const http::http_request& request, const Settings& settings) {
  const std::chrono::milliseconds delay(settings.delay_ms);
  const auto path = web::uri::split_path(request.relative_uri().path());
  if (path.size() != 1 || path[0] != "test") return not_found(request);
  if (settings.wait)
    echo_waiting(request, delay);
  else
    echo(request, delay);
}
