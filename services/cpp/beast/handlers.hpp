// What the service answers. Beast has no router, and Boost 1.74 neither URLs nor JSON: methods and targets
// are compared by hand, as its examples do, and JSON is left to nlohmann-json.
#pragma once

#include <algorithm>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/version.hpp>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace beast = boost::beast;
namespace http = beast::http;

using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

inline Response respond(const Request& request, http::status status, beast::string_view type,
                        std::string body) {
  Response response(status, request.version());
  response.set(http::field::server, BOOST_BEAST_VERSION_STRING);
  response.set(http::field::content_type, type);
  response.keep_alive(request.keep_alive());
  response.body() = std::move(body);
  response.prepare_payload();
  if (request.method() == http::verb::head) response.body().clear();  // the header remains that of GET
  return response;
}

inline Response text(const Request& request, std::string body, http::status status = http::status::ok) {
  return respond(request, status, "text/plain; charset=utf-8", std::move(body));
}

inline Response json(const Request& request, const nlohmann::json& value) {
  return respond(request, http::status::ok, "application/json", value.dump());
}

// The value of a parameter of a query. It is not percent-decoded: the one parameter here is a number.
inline std::optional<beast::string_view> parameter(beast::string_view query, beast::string_view name) {
  while (!query.empty()) {
    const auto pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    const auto equals = std::min(pair.find('='), pair.size());
    if (pair.substr(0, equals) == name) return pair.substr(std::min(equals + 1, pair.size()));
  }
  return std::nullopt;
}

inline Response echo(const Request& request) {
  auto message = nlohmann::json::parse(request.body(), nullptr, /*allow_exceptions=*/false);
  if (!message.is_object()) return text(request, "not a JSON object", http::status::bad_request);
  message["text"] = "received";
  return json(request, message);
}

inline Response benchmark(const Request& request, beast::string_view query) {
  unsigned count = 10'000;
  if (const auto value = parameter(query, "count")) {
    const auto [end, error] = std::from_chars(value->begin(), value->end(), count);
    if (error != std::errc() || end != value->end() || count > 1'000'000)
      return text(request, "count is no integer from 0 to 1000000", http::status::bad_request);
  }
  std::vector<std::string> strings;
  strings.reserve(count);
  for (unsigned i = 0; i < count; ++i) strings.push_back("Index " + std::to_string(i));
  strings.resize(std::min(count, 10u));
  return json(request, strings);
}

inline beast::string_view path_of(const Request& request) {
  return request.target().substr(0, request.target().find('?'));
}

inline bool is_echo(const Request& request) {
  return request.method() == http::verb::post && path_of(request) == "/test";
}

inline Response handle(const Request& request) {
  const beast::string_view path = path_of(request);
  if (is_echo(request)) return echo(request);

  if (request.method() == http::verb::get || request.method() == http::verb::head) {
    if (path == "/") return text(request, "Hello world!");
    if (path == "/api/test") return text(request, "Hello, World!");
    if (path == "/test/status") return text(request, "OK");
    if (path == "/framework") return json(request, {{"Hello", "world"}});
    if (path == "/benchmark") {
      const auto query = request.target().substr(path.size());
      return benchmark(request, query.substr(query.empty() ? 0 : 1));
    }
    constexpr beast::string_view labels = "/test/labels/";
    if (path.starts_with(labels)) {
      const auto label = path.substr(labels.size());
      if (!label.empty() && label.find('/') == label.npos) return text(request, std::string(label));
    }
  }
  return text(request, "not found", http::status::not_found);
}
