// What the service answers: resources, which are regular expressions, and their handlers. JSON is
// nlohmann-json.
#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <simple-web-server/server_http.hpp>
#include <string>
#include <thread>
#include <vector>

using Server = SimpleWeb::Server<SimpleWeb::HTTP>;
using SimpleWeb::StatusCode;
using Response = std::shared_ptr<Server::Response>;
using Request = std::shared_ptr<Server::Request>;

inline void text(const Response& response, const std::string& body,
                 StatusCode status = StatusCode::success_ok) {
  response->write(status, body, {{"Content-Type", "text/plain; charset=utf-8"}});
}

inline void json(const Response& response, const nlohmann::json& value) {
  response->write(value.dump(), {{"Content-Type", "application/json"}});
}

// The contract `bare`: no header but these two, of which Content-Length is the library's.
inline void bare(const Response& response) {
  const auto now = std::chrono::system_clock::now();
  response->write("Hello World!", {{"Date", SimpleWeb::Date::to_string(now)}});
}

inline void bad_request(const Response& response, const std::string& why) {
  text(response, why, StatusCode::client_error_bad_request);
}

inline void echo(const Response& response, const Request& request) {
  auto message = nlohmann::json::parse(request->content, nullptr, /*allow_exceptions=*/false);
  if (!message.is_object()) return bad_request(response, "not a JSON object");
  message["text"] = "received";
  json(response, message);
}

inline void benchmark(const Response& response, const Request& request) {
  unsigned count = 10'000;
  const auto query = request->parse_query_string();
  if (const auto found = query.find("count"); found != query.end()) {
    const auto last = found->second.data() + found->second.size();
    const auto [end, error] = std::from_chars(found->second.data(), last, count);
    if (error != std::errc() || end != last || count > 1'000'000)
      return bad_request(response, "count is no integer from 0 to 1000000");
  }
  std::vector<std::string> strings;
  strings.reserve(count);
  for (unsigned i = 0; i < count; ++i) strings.push_back("Index " + std::to_string(i));
  strings.resize(std::min(count, 10u));
  json(response, strings);
}

inline void add_resources(Server& server, std::chrono::milliseconds delay, bool is_bare) {
  auto& resource = server.resource;
  resource["^/$"]["GET"] = [](Response response, Request) { text(response, "Hello world!"); };
  if (is_bare) resource["^/$"]["GET"] = [](Response response, Request) { bare(response); };
  resource["^/api/test$"]["GET"] = [](Response response, Request) { text(response, "Hello, World!"); };

  resource["^/test$"]["POST"] = [delay](Response response, Request request) {
    if (delay.count() > 0) std::this_thread::sleep_for(delay);
    echo(response, request);
  };
  resource["^/test/status$"]["GET"] = [](Response response, Request) { text(response, "OK"); };
  resource["^/test/labels/([^/]+)$"]["GET"] = [](Response response, Request request) {
    text(response, request->path_match[1].str());
  };

  resource["^/framework$"]["GET"] = [](Response response, Request) { json(response, {{"Hello", "world"}}); };
  resource["^/benchmark$"]["GET"] = [](Response response, Request request) { benchmark(response, request); };

  // What no resource matches is not answered at all where its method has no default.
  for (const auto* method : {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
    server.default_resource[method] = [](Response response, Request) {
      response->write(StatusCode::client_error_not_found);
    };
}
