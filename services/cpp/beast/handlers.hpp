// What the service answers at once. Beast has no router, and Boost 1.74 neither URLs nor JSON: methods and
// targets are compared by hand, as its examples do, and JSON is left to nlohmann-json.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "answers.hpp"
#include "files.hpp"
#include "gzip.hpp"
#include "products.hpp"

// What the service was started with.
struct Site {
  std::vector<Product> products;
  std::string folder;
};

inline Response echo(const Request& request) {
  auto message = nlohmann::json::parse(request.body().text, nullptr, /*allow_exceptions=*/false);
  if (!message.is_object()) return bad_request(request, "not a JSON object");
  message["text"] = "received";
  return json(request, message);
}

inline Response benchmark(const Request& request) {
  unsigned count = 10'000;
  if (const auto value = parameter(query_of(request), "count")) {
    const auto number = integer(*value, 0u, 1'000'000u);
    if (!number) return bad_request(request, "count is no integer from 0 to 1000000");
    count = *number;
  }
  std::vector<std::string> strings;
  strings.reserve(count);
  for (unsigned i = 0; i < count; ++i) strings.push_back("Index " + std::to_string(i));
  strings.resize(std::min(count, 10u));
  return json(request, strings);
}

inline bool is_echo(const Request& request) {
  return request.method() == http::verb::post && path_of(request) == "/test";
}

inline Response upload(const Request& request) {
  const auto& body = request.body();
  if (!body.byte) return bad_request(request, "X-Offset is no place in the body");
  return json(request, {{"bytes", body.bytes}, {"byte", *body.byte}});
}

inline Response list(const Request& request, const Site& site, beast::string_view count_text, bool compress) {
  const auto count = integer(count_text, 1, product_count);
  const auto factor = parameter<std::int64_t>(request, "m", 1, 1'000'000);
  if (!count || !factor) return bad_request(request, "count or m is no integer of its range");
  const auto list = list_products(site.products, *count, *factor);
  if (!compress || !takes_gzip(request[http::field::accept_encoding])) return json(request, list);
  auto response = respond(request, http::status::ok, "application/json", gzip(list.dump()));
  response.set(http::field::content_encoding, "gzip");
  response.set(http::field::vary, "Accept-Encoding");
  return response;
}

inline AnyResponse handle(const Request& request, const Site& site) {
  const beast::string_view path = path_of(request);
  if (is_echo(request)) return echo(request);
  if (request.body().is_upload) return upload(request);

  if (reads(request)) {
    if (path == "/") return text(request, "Hello world!");
    if (path == "/api/test") return text(request, "Hello, World!");
    if (path == "/test/status") return text(request, "OK");
    if (path == "/framework") return json(request, {{"Hello", "world"}});
    if (path == "/benchmark") return benchmark(request);
    if (const auto label = name_behind(path, "/test/labels/")) return text(request, std::string(*label));
    if (!site.products.empty()) {
      if (const auto count = name_behind(path, "/json/")) return list(request, site, *count, false);
      if (const auto count = name_behind(path, "/compress/")) return list(request, site, *count, true);
    }
    if (!site.folder.empty())
      if (const auto name = name_behind(path, "/static/")) return file(request, site.folder, *name);
  }
  return not_found(request);
}
