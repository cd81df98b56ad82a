// How an answer is made, and what a request is asked for.
#pragma once

#include <httplib.h>

#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

using httplib::Request;
using httplib::Response;

inline void text(Response& response, const std::string& body) {
  response.set_content(body, "text/plain; charset=utf-8");
}

inline void json(Response& response, const nlohmann::json& value) {
  response.set_content(value.dump(), "application/json");
}

inline void bad_request(Response& response, const std::string& why) {
  response.status = 400;
  text(response, why);
}

inline void not_found(Response& response) {
  response.status = 404;
  text(response, "not found");
}

// The whole of a text as an integer of this range.
inline std::optional<std::int64_t> integer(std::string_view text, std::int64_t lowest, std::int64_t highest) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < lowest || value > highest)
    return {};
  return value;
}
