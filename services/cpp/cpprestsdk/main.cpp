// The listener of cpprestsdk, with a handler for each method, on its one pool of threads.
#include <cpprest/http_listener.h>
#include <cpprest/version.h>
#include <pplx/threadpool.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

#include "handlers.hpp"
#include "settings.hpp"

int main(int argc, char* argv[]) try {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::cout << CPPREST_VERSION_MAJOR << '.' << CPPREST_VERSION_MINOR << '.' << CPPREST_VERSION_REVISION
              << '\n';
    return 0;
  }
  const Settings settings;

  // Before the pool is made, so that its threads leave the signal to this one.
  sigset_t sigterm;
  sigemptyset(&sigterm);
  sigaddset(&sigterm, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &sigterm, nullptr);

  crossplat::threadpool::initialize_with_threads(settings.threads);

  http::experimental::listener::http_listener listener("http://127.0.0.1:" + std::to_string(settings.port));
  listener.support(http::methods::GET, get);
  listener.support(http::methods::POST, [&settings](const auto& request) { post(request, settings); });
  listener.open().wait();

  int signal = 0;
  sigwait(&sigterm, &signal);
  std::_Exit(0);  // without a wait for open connections, and for the threads of the pool: they may be asleep
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
