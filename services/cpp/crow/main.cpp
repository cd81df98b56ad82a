// An application of Crow: a thread that accepts, and THREADS that work.
#include <crow.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string_view>

#include "handlers.hpp"
#include "settings.hpp"

int main(int argc, char* argv[]) try {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::cout << crow::VERSION << "-app.h-" << CROW_DIGEST << '\n';
    return 0;
  }
  const Settings settings;

  // No wait for the workers: they may be asleep for DELAY_MS.
  std::signal(SIGTERM, [](int) { std::_Exit(0); });

  crow::SimpleApp app;
  add_routes(app, std::chrono::milliseconds(settings.delay_ms));
  app.loglevel(crow::LogLevel::Warning)
      .signal_clear()
      .timeout(255)
      .bindaddr(settings.serve_on)
      .port(settings.port)
      .concurrency(settings.threads + 1)
      .run();
  return 1;  // it runs until the signal: the port could not be bound, and Crow has said so
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
