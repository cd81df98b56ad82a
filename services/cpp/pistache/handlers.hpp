// What the service answers: the router and its handlers. Pistache has no JSON of its own.
#pragma once

#include <pistache/endpoint.h>
#include <pistache/router.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

namespace Http = Pistache::Http;
namespace Rest = Pistache::Rest;

using Result = Rest::Route::Result;

inline Result text(Http::ResponseWriter& response, const std::string& body,
                   Http::Code code = Http::Code::Ok) {
  static const auto type = Http::Mime::MediaType::fromString("text/plain; charset=utf-8");
  response.send(code, body, type);
  return Result::Ok;
}

inline Result json(Http::ResponseWriter& response, const nlohmann::json& value) {
  response.send(Http::Code::Ok, value.dump(), MIME(Application, Json));
  return Result::Ok;
}

inline Result bad_request(Http::ResponseWriter& response, const std::string& why) {
  return text(response, why, Http::Code::Bad_Request);
}

inline Result echo(const Rest::Request& request, Http::ResponseWriter& response) {
  auto message = nlohmann::json::parse(request.body(), nullptr, /*allow_exceptions=*/false);
  if (!message.is_object()) return bad_request(response, "not a JSON object");
  message["text"] = "received";
  return json(response, message);
}

inline Result benchmark(const Rest::Request& request, Http::ResponseWriter& response) {
  unsigned count = 10'000;
  if (const auto value = request.query().get("count")) {
    const auto last = value->data() + value->size();
    const auto [end, error] = std::from_chars(value->data(), last, count);
    if (error != std::errc() || end != last || count > 1'000'000)
      return bad_request(response, "count is no integer from 0 to 1000000");
  }
  std::vector<std::string> strings;
  strings.reserve(count);
  for (unsigned i = 0; i < count; ++i) strings.push_back("Index " + std::to_string(i));
  strings.resize(std::min(count, 10u));
  return json(response, strings);
}

// Pistache says `Connection: Close` to whoever sends no `Connection`, and keeps the connection all the same.
inline bool say_no_close(Http::Request& request, Http::ResponseWriter& response) {
  if (request.version() == Http::Version::Http11 && !request.headers().has<Http::Header::Connection>())
    response.headers().remove<Http::Header::Connection>();
  return true;
}

inline Rest::Router make_router(std::chrono::milliseconds delay) {
  Rest::Router router;
  router.addMiddleware(Rest::Routes::middleware(&say_no_close));

  router.get("/", [](auto, auto response) { return text(response, "Hello world!"); });
  router.get("/api/test", [](auto, auto response) { return text(response, "Hello, World!"); });

  router.post("/test", [delay](auto request, auto response) {
    if (delay.count() > 0) std::this_thread::sleep_for(delay);
    return echo(request, response);
  });
  router.get("/test/status", [](auto, auto response) { return text(response, "OK"); });
  router.get("/test/labels/:label", [](auto request, auto response) {
    return text(response, request.param(":label").template as<std::string>());
  });

  router.get("/framework", [](auto, auto response) { return json(response, {{"Hello", "world"}}); });
  router.get("/benchmark", [](auto request, auto response) { return benchmark(request, response); });
  return router;
}
