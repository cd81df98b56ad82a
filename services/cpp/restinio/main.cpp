// RESTinio as its documentation sets it up: an express router, on this thread or on a pool of threads.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <restinio/all.hpp>
#include <restinio/tls.hpp>
#include <string_view>
#include <utility>

#include "handlers.hpp"
#include "settings.hpp"

asio::ssl::context tls_context(const Settings& settings) {
  asio::ssl::context tls(asio::ssl::context::tls_server);
  asio::error_code error;
  tls.use_certificate_chain_file(settings.tls_cert, error);
  if (error) refuse("TLS_CERT cannot be used: " + error.message());
  tls.use_private_key_file(settings.tls_key, asio::ssl::context::pem, error);
  if (error) refuse("TLS_KEY cannot be used: " + error.message());
  return tls;
}

template <typename ServerSettings>
ServerSettings configured(ServerSettings server, const Settings& settings) {
  return std::move(server)
      .address(settings.serve_on)
      .port(settings.port)
      .max_pipelined_requests(16)
      .read_next_http_message_timelimit(std::chrono::hours(1))
      .request_handler(make_router(settings));
}

template <typename OneThread, typename ThreadPool, typename Configure>
void serve_with(const Settings& settings, Configure configure) {
  if (settings.threads == 1) {
    restinio::run(configure(restinio::on_this_thread<OneThread>()));
  } else {
    // What run(on_thread_pool()) does, which in RESTinio 0.6.16 may hang where the port is taken.
    restinio::run_async<ThreadPool>(restinio::own_io_context(),
                                    configure(restinio::server_settings_t<ThreadPool>()), settings.threads)
        ->wait();
  }
}

template <typename TimerManager>
void serve(const Settings& settings) {
  using Logger = restinio::null_logger_t;
  if (settings.tls_cert) {
    serve_with<restinio::single_thread_tls_traits_t<TimerManager, Logger, Router>,
               restinio::tls_traits_t<TimerManager, Logger, Router>>(settings, [&settings](auto server) {
      return configured(std::move(server), settings).tls_context(tls_context(settings));
    });
  } else {
    serve_with<restinio::single_thread_traits_t<TimerManager, Logger, Router>,
               restinio::traits_t<TimerManager, Logger, Router>>(
        settings, [&settings](auto server) { return configured(std::move(server), settings); });
  }
}

int main(int argc, char* argv[]) try {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::cout << RESTINIO_VERSION_MAJOR << '.' << RESTINIO_VERSION_MINOR << '.' << RESTINIO_VERSION_PATCH
              << '\n';
    return 0;
  }
  const Settings settings;

  // RESTinio sends files by sendfile, which has no MSG_NOSIGNAL, and a client may be gone.
  std::signal(SIGPIPE, SIG_IGN);
  // No wait for the threads of the pool: they may be asleep for DELAY_MS.
  std::signal(SIGTERM, [](int) { std::_Exit(0); });

  if (settings.timers)
    serve<restinio::asio_timer_manager_t>(settings);
  else
    serve<restinio::null_timer_manager_t>(settings);
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
