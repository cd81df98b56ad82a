// An endpoint of Pistache with a router, on a thread that accepts and THREADS that work.
#include <pistache/endpoint.h>
#include <pistache/version.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

#include "handlers.hpp"
#include "settings.hpp"

void use_tls(Http::Endpoint& server, const Settings& settings) try {
  server.useSSL(settings.tls_cert, settings.tls_key);
} catch (const std::exception& error) {
  const std::string_view what = error.what();  // what OpenSSL says are several lines
  refuse("TLS_CERT or TLS_KEY cannot be used: " + std::string(what.substr(0, what.find('\n'))));
}

int main(int argc, char* argv[]) try {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    using namespace Pistache::Version;
    std::cout << Major << '.' << Minor << '.' << Patch << '\n';
    return 0;
  }
  // serveFile and OpenSSL write to a socket without MSG_NOSIGNAL, and a client may be gone.
  std::signal(SIGPIPE, SIG_IGN);
  const Settings settings;
  const auto router = make_router(settings);

  // Before there are other threads, so that they leave the signal to this one.
  sigset_t sigterm;
  sigemptyset(&sigterm);
  sigaddset(&sigterm, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &sigterm, nullptr);

  Http::Endpoint server(Pistache::Address(settings.serve_on, Pistache::Port(settings.port)));
  server.init(Http::Endpoint::options().threads(settings.threads).flags(Pistache::Tcp::Options::ReuseAddr));
  server.setHandler(router.handler());
  if (settings.tls_cert) use_tls(server, settings);
  server.serveThreaded();

  int signal = 0;
  sigwait(&sigterm, &signal);
  std::_Exit(0);  // without a wait for the workers: they may be asleep for DELAY_MS
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
