// A server of Simple-Web-Server, on its own pool of THREADS threads.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <simple-web-server/server_http.hpp>
#include <string_view>

#include "handlers.hpp"
#include "settings.hpp"

int main(int argc, char* argv[]) try {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::cout << "server_http.hpp-" << SIMPLE_WEB_SERVER_DIGEST << '\n';
    return 0;
  }
  const bool is_bare = argc == 2 && std::string_view(argv[1]) == "--bare";
  const Settings settings;

  // No wait for the threads of the pool: they may be asleep for DELAY_MS.
  std::signal(SIGTERM, [](int) { std::_Exit(0); });

  Server server;
  server.config.address = settings.serve_on;
  server.config.port = settings.port;
  server.config.thread_pool_size = settings.threads;
  server.config.timeout_request = 3600;
  add_resources(server, std::chrono::milliseconds(settings.delay_ms), is_bare);
  server.start();
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
