// Items: each request is one statement.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "answers.hpp"
#include "database.hpp"

struct Item {
  std::string name, category;
  std::int64_t price, quantity;
};

inline std::optional<Item> item_of(const Request& request) {
  const auto body = nlohmann::json::parse(request.body, nullptr, /*allow_exceptions=*/false);
  if (!body.is_object()) return {};
  const auto text = [&body](const char* name) -> std::optional<std::string> {
    const auto member = body.find(name);
    if (member == body.end() || !member->is_string()) return {};
    auto value = member->get<std::string>();
    return value.find('\0') == value.npos ? std::optional(value)
                                          : std::nullopt;  // PostgreSQL has no such text
  };
  const auto number = [&body](const char* name) -> std::optional<std::int64_t> {
    using Limits = std::numeric_limits<std::int32_t>;
    const auto member = body.find(name);
    if (member == body.end() || !member->is_number_integer()) return {};
    return integer(member->dump(), Limits::min(), Limits::max());  // as text: it may be beyond 64 bits
  };
  const auto name = text("name"), category = text("category");
  const auto price = number("price"), quantity = number("quantity");
  if (!name || !category || !price || !quantity) return {};
  return Item{*name, *category, *price, *quantity};
}

inline nlohmann::json item(const pqxx::row& row) {
  return {{"id", row[0].as<int>()},
          {"name", row[1].as<std::string>()},
          {"category", row[2].as<std::string>()},
          {"price", row[3].as<int>()},
          {"quantity", row[4].as<int>()}};
}

// One statement, and its one row.
template <typename... Parameters>
void answer_item(Pool& pool, Response& response, int status, const char* statement,
                 const Parameters&... parameters) {
  Pool::Lease connection(pool);
  pqxx::nontransaction transaction(*connection);
  const auto rows = transaction.exec_prepared(statement, parameters...);
  if (rows.empty()) return not_found(response);
  response.status = status;
  json(response, item(rows.front()));
}

inline void list_items(Pool& pool, const Request& request, Response& response) {
  constexpr auto most_pages = std::numeric_limits<std::int64_t>::max() / 64;
  const auto category = request.get_param_value("category");
  const auto page = integer(request.get_param_value("page"), 1, most_pages);
  const auto limit = integer(request.get_param_value("limit"), 1, 50);
  if (!request.has_param("category") || category.find('\0') != category.npos)
    return bad_request(response, "category is missing, or no text");
  if (!page || !limit) return bad_request(response, "page or limit is no integer of its range");
  Pool::Lease connection(pool);
  pqxx::nontransaction transaction(*connection);
  auto items = nlohmann::json::array();
  for (const auto row : transaction.exec_prepared("items", category, *limit, (*page - 1) * *limit))
    items.push_back(item(row));
  json(response, {{"items", std::move(items)}, {"page", *page}, {"limit", *limit}});
}

inline void create_item(Pool& pool, const Request& request, Response& response) {
  const auto item = item_of(request);
  if (!item) return bad_request(response, "the body is no item");
  answer_item(pool, response, 201, "item-create", item->name, item->category, item->price, item->quantity);
}

inline std::optional<std::int64_t> item_id(const Request& request, Response& response) {
  using Limits = std::numeric_limits<std::int32_t>;
  const auto id = integer(request.matches[1].str(), Limits::min(), Limits::max());
  if (!id) bad_request(response, "the id is no integer");
  return id;
}

inline void add_item_routes(httplib::Server& server, Pool& pool) {
  server.Get("/crud/items",
             [&pool](const auto& request, auto& response) { list_items(pool, request, response); });
  server.Post("/crud/items",
              [&pool](const auto& request, auto& response) { create_item(pool, request, response); });
  server.Get("/crud/items/([^/]+)", [&pool](const auto& request, auto& response) {
    if (const auto id = item_id(request, response)) answer_item(pool, response, 200, "item", *id);
  });
  server.Put("/crud/items/([^/]+)", [&pool](const auto& request, auto& response) {
    const auto id = item_id(request, response);
    if (!id) return;
    const auto item = item_of(request);
    if (!item) return bad_request(response, "the body is no item");
    answer_item(pool, response, 200, "item-update", *id, item->name, item->category, item->price,
                item->quantity);
  });
}
