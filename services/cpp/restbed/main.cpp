// A service of Restbed, with a resource for each path.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <restbed>
#include <string_view>

#include "handlers.hpp"
#include "settings.hpp"

int main(int argc, char* argv[]) try {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::cout << "session.hpp-" << RESTBED_DIGEST << '\n';
    return 0;
  }
  const Settings settings;

  // No wait for the workers: they may be asleep for DELAY_MS.
  std::signal(SIGTERM, [](int) { std::_Exit(0); });

  const auto server = std::make_shared<restbed::Settings>();
  server->set_bind_address(settings.serve_on);
  server->set_port(settings.port);
  server->set_connection_timeout(std::chrono::seconds(3600));
  // Where there are no workers, the thread that starts the service does the work.
  if (settings.threads > 1) server->set_worker_limit(settings.threads);

  restbed::Service service;
  publish_all(service, std::chrono::milliseconds(settings.delay_ms));
  service.start(server);
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
