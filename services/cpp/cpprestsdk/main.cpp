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

namespace listener = http::experimental::listener;
namespace ssl = boost::asio::ssl;

void load(ssl::context& tls, const Settings& settings) {
  boost::system::error_code error;
  tls.use_certificate_chain_file(settings.tls_cert, error);
  if (error) refuse("TLS_CERT cannot be used: " + error.message());
  tls.use_private_key_file(settings.tls_key, ssl::context::pem, error);
  if (error) refuse("TLS_KEY cannot be used: " + error.message());
}

listener::http_listener_config listener_config(const Settings& settings) {
  listener::http_listener_config config;
  if (settings.tls_cert) {
    ssl::context tried(ssl::context::tls_server);  // cpprestsdk loads the files with each connection
    load(tried, settings);
    config.set_ssl_context_callback([&settings](ssl::context& tls) { load(tls, settings); });
  }
  return config;
}

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

  const std::string scheme = settings.tls_cert ? "https" : "http";
  listener::http_listener server(scheme + "://" + settings.serve_on + ":" + std::to_string(settings.port),
                                 listener_config(settings));
  server.support(http::methods::GET, get);
  server.support(http::methods::POST, [&settings](const auto& request) { post(request, settings); });
  server.open().wait();

  int signal = 0;
  sigwait(&sigterm, &signal);
  std::_Exit(0);  // without a wait for open connections, and for the threads of the pool: they may be asleep
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
