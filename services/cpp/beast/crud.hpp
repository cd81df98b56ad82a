// Items: each request is one statement.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "answers.hpp"
#include "database.hpp"

// The columns of an item as parameters of a statement, if the body is one.
inline std::optional<std::vector<std::string>> item_parameters(const Request& request) {
  const auto item = nlohmann::json::parse(request.body().text, nullptr, /*allow_exceptions=*/false);
  if (!item.is_object()) return {};
  std::vector<std::string> parameters;
  for (const char* name : {"name", "category"}) {
    const auto member = item.find(name);
    if (member == item.end() || !member->is_string()) return {};
    parameters.push_back(member->get<std::string>());
    if (parameters.back().find('\0') != std::string::npos) return {};  // PostgreSQL has no text with it
  }
  using Limits = std::numeric_limits<std::int32_t>;
  for (const char* name : {"price", "quantity"}) {
    const auto member = item.find(name);
    if (member == item.end() || !member->is_number_integer()) return {};
    // As text: an unsigned one may be beyond a signed one.
    if (!integer<std::int64_t>(member->dump(), Limits::min(), Limits::max())) return {};
    parameters.push_back(member->dump());
  }
  return parameters;
}

inline nlohmann::json item(const Rows& rows, int row) {
  return {{"id", rows.integer(row, 0)},
          {"name", rows.text(row, 1)},
          {"category", rows.text(row, 2)},
          {"price", rows.integer(row, 3)},
          {"quantity", rows.integer(row, 4)}};
}

inline void answer_item(Database& database, Statement statement, const Request& request, http::status status,
                        Reply reply) {
  database.run({std::move(statement)}, [&request, status, reply](std::vector<Rows> results) {
    if (results.empty())
      return reply(text(request, "the database failed", http::status::internal_server_error));
    if (results[0].size() == 0) return reply(not_found(request));
    reply(json(request, item(results[0], 0), status));
  });
}

// PostgreSQL refuses any other text, and so does nlohmann-json.
inline bool is_utf8(const std::string& text) try {
  nlohmann::json(text).dump();
  return true;
} catch (const nlohmann::json::exception&) {
  return false;
}

// A component of a query: `+` is a blank.
inline std::optional<std::string> decoded(beast::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    unsigned char byte = 0;
    const auto digits = text.substr(i + 1, 2);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (error != std::errc() || end != digits.data() + 2 || byte == 0) return {};
    result += static_cast<char>(byte);
    i += 2;
  }
  return result;
}

inline void list_items(Database& database, const Request& request, Reply reply) {
  const auto category_text = parameter(query_of(request), "category");
  const auto category = category_text ? decoded(*category_text) : std::nullopt;
  const auto page =
      parameter<std::int64_t>(request, "page", 1, std::numeric_limits<std::int64_t>::max() / 64);
  const auto limit = parameter<std::int64_t>(request, "limit", 1, 50);
  if (!category || !is_utf8(*category) || !page || !limit)
    return reply(bad_request(request, "category, page or limit is missing, or not of its range"));
  const auto before = (*page - 1) * *limit;
  Statement statement{"items", {*category, std::to_string(*limit), std::to_string(before)}};
  database.run({std::move(statement)}, [&request, reply, page, limit](std::vector<Rows> results) {
    if (results.empty())
      return reply(text(request, "the database failed", http::status::internal_server_error));
    auto items = nlohmann::json::array();
    for (int row = 0; row < results[0].size(); ++row) items.push_back(item(results[0], row));
    reply(json(request, {{"items", std::move(items)}, {"page", *page}, {"limit", *limit}}));
  });
}

inline void write_item(Database& database, const Request& request, const std::string* id, Reply reply) {
  auto parameters = item_parameters(request);
  if (!parameters) return reply(bad_request(request, "the body is no item"));
  if (id == nullptr)
    return answer_item(database, {"item-create", std::move(*parameters)}, request, http::status::created,
                       std::move(reply));
  parameters->insert(parameters->begin(), *id);
  answer_item(database, {"item-update", std::move(*parameters)}, request, http::status::ok, std::move(reply));
}

// Whether this is a request for items, which is then answered.
inline bool crud(Database& database, const Request& request, Reply reply) {
  const auto path = path_of(request);
  const bool writes = request.method() == http::verb::put;
  if (path == "/crud/items") {
    if (reads(request))
      list_items(database, request, std::move(reply));
    else if (request.method() == http::verb::post)
      write_item(database, request, nullptr, std::move(reply));
    else
      return false;
    return true;
  }
  const auto name = name_behind(path, "/crud/items/");
  if (!name || !(reads(request) || writes)) return false;
  using Limits = std::numeric_limits<std::int32_t>;
  const auto id = integer<std::int64_t>(*name, Limits::min(), Limits::max());
  if (!id) {
    reply(bad_request(request, "the id is no integer"));
  } else if (writes) {
    const auto id_text = std::to_string(*id);
    write_item(database, request, &id_text, std::move(reply));
  } else {
    answer_item(database, {"item", {std::to_string(*id)}}, request, http::status::ok, std::move(reply));
  }
  return true;
}
