// What the service answers: the router and its handlers.
#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <restinio/all.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using Router = restinio::router::express_router_t<>;
using Request = restinio::request_handle_t;

inline auto respond(const Request& request, restinio::http_status_line_t status, std::string type,
                    std::string body) {
  return request->create_response(std::move(status))
      .append_header(restinio::http_field::content_type, std::move(type))
      .set_body(std::move(body))
      .done();
}

inline auto text(const Request& request, std::string body) {
  return respond(request, restinio::status_ok(), "text/plain; charset=utf-8", std::move(body));
}

inline auto json(const Request& request, const nlohmann::json& value) {
  return respond(request, restinio::status_ok(), "application/json", value.dump());
}

inline auto bad_request(const Request& request, std::string why) {
  return respond(request, restinio::status_bad_request(), "text/plain; charset=utf-8", std::move(why));
}

inline auto echo(const Request& request) {
  auto message = nlohmann::json::parse(request->body(), nullptr, /*allow_exceptions=*/false);
  if (!message.is_object()) return bad_request(request, "not a JSON object");
  message["text"] = "received";
  return json(request, message);
}

inline auto benchmark(const Request& request) {
  const auto query =
      restinio::try_parse_query<restinio::parse_query_traits::restinio_defaults>(request->header().query());
  if (!query) return bad_request(request, query.error().description());

  unsigned count = 10'000;
  if (const auto value = query->get_param("count")) {
    const auto last = value->data() + value->size();
    const auto [end, error] = std::from_chars(value->data(), last, count);
    if (error != std::errc() || end != last || count > 1'000'000)
      return bad_request(request, "count is no integer from 0 to 1000000");
  }
  std::vector<std::string> strings;
  strings.reserve(count);
  for (unsigned i = 0; i < count; ++i) strings.push_back("Index " + std::to_string(i));
  strings.resize(std::min(count, 10u));
  return json(request, strings);
}

inline std::unique_ptr<Router> make_router(std::chrono::milliseconds delay) {
  auto router = std::make_unique<Router>();

  router->http_get("/", [](auto request, auto) { return text(request, "Hello world!"); });
  router->http_get("/api/test", [](auto request, auto) { return text(request, "Hello, World!"); });

  router->http_post("/test", [delay](auto request, auto) {
    if (delay.count() > 0) std::this_thread::sleep_for(delay);
    return echo(request);
  });
  router->http_get("/test/status", [](auto request, auto) { return text(request, "OK"); });
  router->http_get("/test/labels/:label", [](auto request, auto params) {
    return text(request, restinio::cast_to<std::string>(params["label"]));
  });

  router->http_get("/framework", [](auto request, auto) { return json(request, {{"Hello", "world"}}); });
  router->http_get("/benchmark", [](auto request, auto) { return benchmark(request); });

  // Without a body, because HEAD comes here too: RESTinio does not derive it from GET.
  router->non_matched_request_handler(
      [](auto request) { return request->create_response(restinio::status_not_found()).done(); });
  return router;
}
