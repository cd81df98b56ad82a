// What the service answers: the router and its handlers.
#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <restinio/all.hpp>
#include <restinio/helpers/http_field_parsers/accept-encoding.hpp>
#include <restinio/transforms/zlib.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "products.hpp"
#include "settings.hpp"

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

// The whole of a text as an integer of this range.
template <typename Text>
std::optional<std::int64_t> integer(const Text& text, std::int64_t lowest, std::int64_t highest) {
  std::int64_t value = 0;
  const auto last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last || value < lowest || value > highest) return {};
  return value;
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
    const auto number = integer(*value, 0, 1'000'000);
    if (!number) return bad_request(request, "count is no integer from 0 to 1000000");
    count = static_cast<unsigned>(*number);
  }
  std::vector<std::string> strings;
  strings.reserve(count);
  for (unsigned i = 0; i < count; ++i) strings.push_back("Index " + std::to_string(i));
  strings.resize(std::min(count, 10u));
  return json(request, strings);
}

// RESTinio keeps the body, and has no way to take it as it comes.
inline auto upload(const Request& request) {
  const auto& body = request->body();
  const auto last = static_cast<std::int64_t>(body.size()) - 1;
  const auto offset = integer(request->header().get_field_or("X-Offset", ""), 0, last);
  if (!offset) return bad_request(request, "X-Offset is no place in the body");
  return json(request, {{"bytes", body.size()}, {"byte", static_cast<unsigned char>(body[*offset])}});
}

inline bool takes_gzip(const Request& request) {
  using namespace restinio::http_field_parsers;
  const auto field = request->header().opt_value_of(restinio::http_field::accept_encoding);
  const auto accepted = accept_encoding_value_t::try_parse(field.value_or(""));
  if (!accepted) return false;
  return std::any_of(accepted->codings.begin(), accepted->codings.end(), [](const auto& coding) {
    return coding.content_coding == "gzip" && coding.weight != qvalue_t::zero;
  });
}

inline auto list(const Request& request, const std::vector<Product>& products,
                 restinio::string_view_t count_text, bool compress) {
  const auto query =
      restinio::try_parse_query<restinio::parse_query_traits::restinio_defaults>(request->header().query());
  const auto factor_text = query ? query->get_param("m") : restinio::nullopt;
  const auto count = integer(count_text, 1, product_count);
  const auto factor = integer(factor_text.value_or(""), 1, 1'000'000);
  if (!count || !factor) return bad_request(request, "count or m is no integer of its range");
  const auto list = list_products(products, static_cast<int>(*count), *factor);
  if (!compress || !takes_gzip(request)) return json(request, list);

  auto response = request->create_response();
  response.append_header(restinio::http_field::content_type, "application/json");
  response.append_header(restinio::http_field::vary, "Accept-Encoding");
  auto body = restinio::transforms::zlib::gzip_body_appender(response);
  body.append(list.dump());
  body.complete();
  return response.done();
}

inline std::string content_type(const std::filesystem::path& name) {
  const auto ending = name.extension();
  if (ending == ".css") return "text/css; charset=utf-8";
  if (ending == ".html") return "text/html; charset=utf-8";
  if (ending == ".js") return "text/javascript; charset=utf-8";
  if (ending == ".json") return "application/json";
  if (ending == ".svg") return "image/svg+xml";
  if (ending == ".txt") return "text/plain; charset=utf-8";
  if (ending == ".webp") return "image/webp";
  if (ending == ".woff2") return "font/woff2";
  return "application/octet-stream";
}

// As the sample of the documentation has it: by sendfile, with the type by the ending of the name.
inline auto file(const Request& request, const std::filesystem::path& folder, const std::string& name) {
  const auto path = folder / name;
  const bool is_outside = name.find('/') != name.npos || name.find("..") != name.npos;
  if (is_outside || name.find('\0') != name.npos || !std::filesystem::is_regular_file(path))
    return respond(request, restinio::status_not_found(), "text/plain; charset=utf-8", "not found");
  return request->create_response()
      .append_header(restinio::http_field::content_type, content_type(name))
      .set_body(restinio::sendfile(path.string()))
      .done();
}

inline void add_product_routes(Router& router, const std::shared_ptr<const std::vector<Product>>& products) {
  router.http_get("/json/:count", [products](auto request, auto params) {
    return list(request, *products, params["count"], /*compress=*/false);
  });
  router.http_get("/compress/:count", [products](auto request, auto params) {
    return list(request, *products, params["count"], /*compress=*/true);
  });
}

inline void add_file_route(Router& router, const std::filesystem::path& folder) {
  router.http_get("/static/:name", [folder](auto request, auto params) {
    return file(request, folder, restinio::cast_to<std::string>(params["name"]));
  });
}

inline std::unique_ptr<Router> make_router(const Settings& settings) {
  const auto delay = std::chrono::milliseconds(settings.delay_ms);
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
  router->http_post("/upload", [](auto request, auto) { return upload(request); });

  if (settings.products)
    add_product_routes(*router,
                       std::make_shared<const std::vector<Product>>(read_products(settings.products)));
  if (settings.folder) {
    if (!std::filesystem::is_directory(settings.folder)) refuse("FOLDER_STATIC is no folder");
    add_file_route(*router, settings.folder);
  }

  // Without a body, because HEAD comes here too: RESTinio does not derive it from GET.
  router->non_matched_request_handler(
      [](auto request) { return request->create_response(restinio::status_not_found()).done(); });
  return router;
}
