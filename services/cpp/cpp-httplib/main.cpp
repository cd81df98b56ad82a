// The blocking server of cpp-httplib: each connection occupies one thread of a pool for as long as it lives.
#include <httplib.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>

#include "crud.hpp"
#include "database.hpp"
#include "handlers.hpp"
#include "settings.hpp"
#include "worlds.hpp"

bool is_url(std::string_view text, std::string_view scheme) {
  return text.substr(0, scheme.size()) == scheme && text.size() > scheme.size();
}

// Returns only where the port cannot be served: SIGTERM ends the program.
int serve(httplib::Server& server, const Settings& settings) {
  server.new_task_queue = [&settings] { return new httplib::ThreadPool(settings.threads); };
  if (!settings.keep_alive) server.set_keep_alive_max_count(1);
  if (settings.nodelay) server.set_tcp_nodelay(true);
  add_routes(server, std::chrono::milliseconds(settings.delay_ms));
  if (settings.products) add_product_routes(server, read_products(settings.products));
  if (settings.folder && !server.set_mount_point("/static", settings.folder))
    refuse("FOLDER_STATIC: " + std::string(settings.folder) + " is no folder");
  if (settings.upstream) {
    if (!httplib::Client(settings.upstream).is_valid() || !is_url(settings.upstream, "http://"))
      refuse("UPSTREAM_URL must be a URL such as http://127.0.0.1:8080");
    add_gateway_route(server, settings.upstream);
  }
  std::optional<Pool> pool;
  if (settings.database) {
    if (!is_url(settings.database, "postgres://") && !is_url(settings.database, "postgresql://"))
      refuse("DATABASE_URL is no URL of PostgreSQL");
    pool.emplace(settings.database, settings.database_connections);
    add_world_routes(server, *pool);
    add_item_routes(server, *pool);
  }

  if (!server.listen(settings.serve_on, settings.port)) {
    std::cerr << "cannot listen on " << settings.serve_on << ':' << settings.port << '\n';
    return 1;
  }
  return 0;
}

int main(int argc, char* argv[]) try {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::cout << CPPHTTPLIB_VERSION << '\n';
    return 0;
  }
  const Settings settings;

  // No wait for the threads of the pool: they may be asleep, or wait for the next request of a connection.
  std::signal(SIGTERM, [](int) { std::_Exit(0); });

  if (settings.tls_cert) {
    httplib::SSLServer server(settings.tls_cert, settings.tls_key);
    if (!server.is_valid()) refuse("TLS_CERT or TLS_KEY cannot be used");
    return serve(server, settings);
  }
  httplib::Server server;
  return serve(server, settings);
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
