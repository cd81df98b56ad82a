// What the service answers: routes, which are regular expressions, and their handlers.
#pragma once

#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "answers.hpp"
#include "products.hpp"

inline void echo(const Request& request, Response& response) {
  auto message = nlohmann::json::parse(request.body, nullptr, /*allow_exceptions=*/false);
  if (!message.is_object()) return bad_request(response, "not a JSON object");
  message["text"] = "received";
  json(response, message);
}

inline void benchmark(const Request& request, Response& response) {
  unsigned count = 10'000;
  if (request.has_param("count")) {
    const auto number = integer(request.get_param_value("count"), 0, 1'000'000);
    if (!number) return bad_request(response, "count is no integer from 0 to 1000000");
    count = static_cast<unsigned>(*number);
  }
  std::vector<std::string> strings;
  strings.reserve(count);
  for (unsigned i = 0; i < count; ++i) strings.push_back("Index " + std::to_string(i));
  strings.resize(std::min(count, 10u));
  json(response, strings);
}

// The body is counted as it comes.
inline void upload(const Request& request, Response& response, const httplib::ContentReader& read) {
  const auto offset = integer(request.get_header_value("X-Offset"), 0, std::int64_t{1} << 32);
  std::int64_t bytes = 0;
  std::optional<unsigned char> byte;
  read([&](const char* data, std::size_t length) {
    const auto size = static_cast<std::int64_t>(length);
    if (offset && *offset >= bytes && *offset < bytes + size)
      byte = static_cast<unsigned char>(data[*offset - bytes]);
    bytes += size;
    return true;
  });
  if (!byte) return bad_request(response, "X-Offset is no place in the body");
  json(response, {{"bytes", bytes}, {"byte", *byte}});
}

// cpp-httplib compresses by itself what a client takes compressed, so `compress` is this as well.
inline void add_product_routes(httplib::Server& server, std::vector<Product> products) {
  const auto list = [products = std::move(products)](const Request& request, Response& response) {
    const auto count = integer(request.matches[1].str(), 1, product_count);
    const auto factor = integer(request.get_param_value("m"), 1, 1'000'000);
    if (!count || !factor) return bad_request(response, "count or m is no integer of its range");
    json(response, list_products(products, static_cast<int>(*count), *factor));
  };
  server.Get("/json/([^/]+)", list);
  server.Get("/compress/([^/]+)", list);
}

// A thread waits for its answer, on a connection of its own that it keeps.
inline void add_gateway_route(httplib::Server& server, const std::string& upstream) {
  server.Get("/gateway/([^/]+)", [upstream](const Request& request, Response& response) {
    thread_local httplib::Client client(upstream);
    client.set_keep_alive(true);
    const auto answer = client.Get("/items/" + request.matches[1].str());
    if (answer && answer->status == 404) return not_found(response);
    auto object = nlohmann::json::parse(answer ? answer->body : "", nullptr, /*allow_exceptions=*/false);
    if (!object.is_object() || answer->status != 200) {
      response.status = 502;
      return text(response, "the other server failed");
    }
    object["via"] = "gateway";
    json(response, object);
  });
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
  server.Post("/upload", upload);
}
