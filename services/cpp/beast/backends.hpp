// What the service asks others for: a database and another server of HTTP. All of it is answered later.
#pragma once

#include <boost/asio.hpp>
#include <optional>
#include <string>
#include <utility>

#include "answers.hpp"
#include "crud.hpp"
#include "database.hpp"
#include "gateway.hpp"
#include "settings.hpp"
#include "worlds.hpp"

class Backends {
 public:
  Backends(boost::asio::io_context& io, const Settings& settings) {
    if (settings.database) {
      check_url(settings.database);
      database_.emplace(io, settings.database, settings.database_connections);
    }
    if (settings.upstream) gateway_.emplace(io, settings.upstream);
  }

  // Whether this is a request for one of them. It outlives its reply.
  bool handle(const Request& request, Reply reply) {
    const auto path = path_of(request);
    if (gateway_ && reads(request)) {
      if (const auto id = name_behind(path, "/gateway/")) {
        gateway_->ask(request, *id, std::move(reply));
        return true;
      }
    }
    if (!database_) return false;
    if (path.starts_with("/crud/items")) return crud(*database_, request, std::move(reply));
    if (!reads(request)) return false;
    if (path == "/db") return read_world(*database_, request, std::move(reply));
    if (path == "/queries") return read_worlds(*database_, request, std::move(reply));
    if (path == "/updates") return update_worlds(*database_, request, std::move(reply));
    if (path == "/fortunes") return read_fortunes(*database_, request, std::move(reply));
    return false;
  }

 private:
  static void check_url(beast::string_view url) {
    char* message = nullptr;
    PQconninfoOption* const options = PQconninfoParse(url.data(), &message);
    if (options == nullptr || !(url.starts_with("postgres://") || url.starts_with("postgresql://")))
      refuse("DATABASE_URL is no URL of PostgreSQL");
    PQconninfoFree(options);
  }

  std::optional<Database> database_;
  std::optional<Gateway> gateway_;
};
