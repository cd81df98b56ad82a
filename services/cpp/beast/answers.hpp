// Requests and answers, and how an answer is made.
#pragma once

#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/version.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "body.hpp"

using Request = http::request<MessageBody>;
using Response = http::response<http::string_body>;
using FileResponse = http::response<http::file_body>;
using AnyResponse = std::variant<Response, FileResponse>;

// Gives the answer that a request waits for, from any thread.
using Reply = std::function<void(Response)>;

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

inline Response bad_request(const Request& request, std::string why) {
  return text(request, std::move(why), http::status::bad_request);
}

inline Response not_found(const Request& request) {
  return text(request, "not found", http::status::not_found);
}

inline Response json(const Request& request, const nlohmann::json& value,
                     http::status status = http::status::ok) {
  return respond(request, status, "application/json", value.dump());
}

inline bool reads(const Request& request) {
  return request.method() == http::verb::get || request.method() == http::verb::head;
}

inline beast::string_view path_of(const Request& request) {
  return request.target().substr(0, request.target().find('?'));
}

inline beast::string_view query_of(const Request& request) {
  const auto query = request.target().substr(path_of(request).size());
  return query.substr(query.empty() ? 0 : 1);
}

// What follows a prefix of the path, if that is one name and no more.
inline std::optional<beast::string_view> name_behind(beast::string_view path, beast::string_view prefix) {
  if (!path.starts_with(prefix)) return {};
  const auto name = path.substr(prefix.size());
  if (name.empty() || name.find('/') != name.npos) return {};
  return name;
}

// The value of a parameter of a query, as it came: still percent-encoded.
inline std::optional<beast::string_view> parameter(beast::string_view query, beast::string_view name) {
  while (!query.empty()) {
    const auto pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    const auto equals = std::min(pair.find('='), pair.size());
    if (pair.substr(0, equals) == name) return pair.substr(std::min(equals + 1, pair.size()));
  }
  return std::nullopt;
}

template <typename Integer>
std::optional<Integer> parameter(const Request& request, beast::string_view name, Integer lowest,
                                 Integer highest) {
  const auto value = parameter(query_of(request), name);
  return value ? integer(*value, lowest, highest) : std::nullopt;
}
