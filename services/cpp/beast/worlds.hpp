// The tests of TechEmpower: db, queries, updates, fortunes. Each returns true: it will answer.
#pragma once

#include <algorithm>
#include <kainjow/mustache.hpp>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "answers.hpp"
#include "database.hpp"

inline int random_number() {
  thread_local std::minstd_rand generator(std::random_device{}());
  return std::uniform_int_distribution(1, 10'000)(generator);
}

// Anything that is no integer counts as 1, and so does one below it.
inline int query_count(const Request& request) {
  const auto value = parameter(query_of(request), "queries").value_or("");
  constexpr auto most = std::numeric_limits<long>::max();
  if (const auto count = integer(value, 1L, most)) return static_cast<int>(std::min(*count, 500L));
  const bool is_long = value.size() > 18 && value.find_first_not_of("0123456789") == value.npos;
  return is_long ? 500 : 1;
}

inline Response failed(const Request& request) {
  return text(request, "the database failed", http::status::internal_server_error);
}

inline nlohmann::json world(int id, int number) { return {{"id", id}, {"randomNumber", number}}; }

inline bool read_world(Database& database, const Request& request, Reply reply) {
  database.run({{"world", {std::to_string(random_number())}}}, [&request, reply](std::vector<Rows> results) {
    if (results.size() != 1 || results[0].size() != 1) return reply(failed(request));
    reply(json(request, world(results[0].integer(0, 0), results[0].integer(0, 1))));
  });
  return true;
}

inline bool read_worlds(Database& database, const Request& request, Reply reply) {
  std::vector<Statement> statements;
  for (int left = query_count(request); left > 0; --left)
    statements.push_back({"world", {std::to_string(random_number())}});
  database.run(std::move(statements), [&request, reply](std::vector<Rows> results) {
    if (results.empty()) return reply(failed(request));
    auto worlds = nlohmann::json::array();
    for (const Rows& rows : results) {
      if (rows.size() != 1) return reply(failed(request));
      worlds.push_back(world(rows.integer(0, 0), rows.integer(0, 1)));
    }
    reply(json(request, worlds));
  });
  return true;
}

// Reads and writes go out at once: a new number does not depend on the old one. Rows are written by ascending
// id.
inline bool update_worlds(Database& database, const Request& request, Reply reply) {
  const int count = query_count(request);
  std::set<int> ids;
  while (ids.size() < static_cast<std::size_t>(count)) ids.insert(random_number());
  std::vector<Statement> statements;
  auto worlds = nlohmann::json::array();
  for (const int id : ids) statements.push_back({"world", {std::to_string(id)}});
  for (const int id : ids) {
    const int number = random_number();
    statements.push_back({"world-update", {std::to_string(id), std::to_string(number)}});
    worlds.push_back(world(id, number));
  }
  database.run(std::move(statements),
               [&request, reply, worlds = std::move(worlds)](std::vector<Rows> results) {
                 reply(results.empty() ? failed(request) : json(request, worlds));
               });
  return true;
}

struct Fortune {
  int id;
  std::string message;
};

inline std::string render(const std::vector<Fortune>& fortunes) {
  using namespace kainjow::mustache;
  thread_local mustache page(
      "<!DOCTYPE "
      "html><html><head><title>Fortunes</title></head><body><table><tr><th>id</th><th>message</th></tr>"
      "{{#fortunes}}<tr><td>{{id}}</td><td>{{message}}</td></tr>{{/fortunes}}</table></body></html>");
  data rows(data::type::list);
  for (const Fortune& fortune : fortunes) {
    data row;
    row.set("id", std::to_string(fortune.id));
    row.set("message", fortune.message);
    rows.push_back(std::move(row));
  }
  return page.render({"fortunes", rows});
}

inline bool read_fortunes(Database& database, const Request& request, Reply reply) {
  database.run({{"fortunes", {}}}, [&request, reply](std::vector<Rows> results) {
    if (results.empty()) return reply(failed(request));
    std::vector<Fortune> fortunes{{0, "Additional fortune added at request time."}};
    for (int row = 0; row < results[0].size(); ++row)
      fortunes.push_back({results[0].integer(row, 0), results[0].text(row, 1)});
    std::sort(fortunes.begin(), fortunes.end(),
              [](const Fortune& a, const Fortune& b) { return a.message < b.message; });
    reply(respond(request, http::status::ok, "text/html; charset=utf-8", render(fortunes)));
  });
  return true;
}
