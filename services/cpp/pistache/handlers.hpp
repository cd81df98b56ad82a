// What the service answers: the router and its handlers. Pistache has no JSON of its own.
#pragma once

#include <pistache/endpoint.h>
#include <pistache/router.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "products.hpp"
#include "settings.hpp"

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

// The whole of a text as an integer of this range.
template <typename Text>
std::optional<std::int64_t> integer(const Text& text, std::int64_t lowest, std::int64_t highest) {
  std::int64_t value = 0;
  const auto last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last || value < lowest || value > highest) return {};
  return value;
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
    const auto number = integer(*value, 0, 1'000'000);
    if (!number) return bad_request(response, "count is no integer from 0 to 1000000");
    count = static_cast<unsigned>(*number);
  }
  std::vector<std::string> strings;
  strings.reserve(count);
  for (unsigned i = 0; i < count; ++i) strings.push_back("Index " + std::to_string(i));
  strings.resize(std::min(count, 10u));
  return json(response, strings);
}

inline Result list(const Rest::Request& request, Http::ResponseWriter& response,
                   const std::vector<Product>& products) {
  const auto count = integer(request.param(":count").as<std::string>(), 1, product_count);
  const auto factor = integer(request.query().get("m").value_or(""), 1, 1'000'000);
  if (!count || !factor) return bad_request(response, "count or m is no integer of its range");
  return json(response, list_products(products, static_cast<int>(*count), *factor));
}

// What `serveFile` is given as a type; from the ending of a name alone it finds none that it sends.
inline Http::Mime::MediaType media_type(const std::filesystem::path& name) {
  const auto ending = name.extension();
  if (ending == ".css") return MIME(Text, Css);
  if (ending == ".html") return MIME(Text, Html);
  if (ending == ".js") return MIME(Application, Javascript);
  if (ending == ".json") return MIME(Application, Json);
  if (ending == ".svg") return Http::Mime::MediaType::fromString("image/svg+xml");
  if (ending == ".txt") return MIME(Text, Plain);
  if (ending == ".webp") return Http::Mime::MediaType::fromString("image/webp");
  // The type of today is font/woff2, but Pistache refuses what begins with "font".
  if (ending == ".woff2") return Http::Mime::MediaType::fromString("application/font-woff2");
  return MIME(Application, OctetStream);
}

inline Result file(const Rest::Request& request, Http::ResponseWriter& response,
                   const std::filesystem::path& folder) {
  const auto name = request.param(":name").as<std::string>();
  const auto path = folder / name;
  if (name.find("..") != name.npos || !std::filesystem::is_regular_file(path))
    return text(response, "not found", Http::Code::Not_Found);
  Http::serveFile(response, path.string(), media_type(name));
  return Result::Ok;
}

// Pistache says `Connection: Close` to whoever sends no `Connection`, and keeps the connection all the same.
inline bool say_no_close(Http::Request& request, Http::ResponseWriter& response) {
  if (request.version() == Http::Version::Http11 && !request.headers().has<Http::Header::Connection>())
    response.headers().remove<Http::Header::Connection>();
  return true;
}

inline Rest::Router make_router(const Settings& settings) {
  const auto delay = std::chrono::milliseconds(settings.delay_ms);
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

  if (settings.products) {
    const auto products = std::make_shared<const std::vector<Product>>(read_products(settings.products));
    router.get("/json/:count",
               [products](auto request, auto response) { return list(request, response, *products); });
  }
  if (settings.folder) {
    const std::filesystem::path folder = settings.folder;
    if (!std::filesystem::is_directory(folder)) refuse("FOLDER_STATIC is no folder");
    router.get("/static/:name",
               [folder](auto request, auto response) { return file(request, response, folder); });
  }
  return router;
}
