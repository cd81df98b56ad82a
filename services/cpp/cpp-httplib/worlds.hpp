// The tests of TechEmpower: db, queries, updates. For fortunes a template engine is missing.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <random>

#include "answers.hpp"
#include "database.hpp"

inline int random_number() {
  thread_local std::minstd_rand generator(std::random_device{}());
  return std::uniform_int_distribution(1, 10'000)(generator);
}

// Anything that is no integer counts as 1, and so does one below it.
inline int query_count(const Request& request) {
  const auto value = request.get_param_value("queries");
  if (const auto count = integer(value, 1, std::numeric_limits<std::int64_t>::max()))
    return static_cast<int>(std::min<std::int64_t>(*count, 500));
  const bool is_long = value.size() > 18 && value.find_first_not_of("0123456789") == value.npos;
  return is_long ? 500 : 1;
}

inline nlohmann::json world(int id, int number) { return {{"id", id}, {"randomNumber", number}}; }

inline nlohmann::json read_world(pqxx::transaction_base& transaction, int id) {
  const auto row = transaction.exec_prepared1("world", id);
  return world(row[0].as<int>(), row[1].as<int>());
}

inline nlohmann::json read_worlds(Pool& pool, int count) {
  Pool::Lease connection(pool);
  pqxx::nontransaction transaction(*connection);
  auto worlds = nlohmann::json::array();
  for (int i = 0; i < count; ++i) worlds.push_back(read_world(transaction, random_number()));
  return worlds;
}

// Rows are written by ascending id.
inline nlohmann::json update_worlds(Pool& pool, int count) {
  std::map<int, int> numbers;
  while (numbers.size() < static_cast<std::size_t>(count)) numbers[random_number()] = random_number();
  Pool::Lease connection(pool);
  pqxx::work transaction(*connection);
  auto worlds = nlohmann::json::array();
  for (const auto& [id, number] : numbers) {
    auto read = read_world(transaction, id);
    read["randomNumber"] = number;
    worlds.push_back(std::move(read));
  }
  for (const auto& [id, number] : numbers) transaction.exec_prepared0("world-update", id, number);
  transaction.commit();
  return worlds;
}

inline void add_world_routes(httplib::Server& server, Pool& pool) {
  server.Get("/db", [&pool](const auto&, auto& response) { json(response, read_worlds(pool, 1).front()); });
  server.Get("/queries", [&pool](const Request& request, auto& response) {
    json(response, read_worlds(pool, query_count(request)));
  });
  server.Get("/updates", [&pool](const Request& request, auto& response) {
    json(response, update_worlds(pool, query_count(request)));
  });
}
