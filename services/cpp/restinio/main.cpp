// RESTinio as its documentation sets it up: an express router, on this thread or on a pool of threads.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <restinio/all.hpp>
#include <string_view>
#include <utility>

#include "handlers.hpp"
#include "settings.hpp"

template <typename ServerSettings>
ServerSettings configured(ServerSettings server, const Settings& settings) {
  return std::move(server)
      .address("127.0.0.1")
      .port(settings.port)
      .max_pipelined_requests(16)
      .read_next_http_message_timelimit(std::chrono::hours(1))
      .request_handler(make_router(std::chrono::milliseconds(settings.delay_ms)));
}

template <typename TimerManager>
void serve(const Settings& settings) {
  using OneThread = restinio::single_thread_traits_t<TimerManager, restinio::null_logger_t, Router>;
  using ThreadPool = restinio::traits_t<TimerManager, restinio::null_logger_t, Router>;

  if (settings.threads == 1) {
    restinio::run(configured(restinio::on_this_thread<OneThread>(), settings));
  } else {
    // What run(on_thread_pool()) does, which in RESTinio 0.6.16 may hang where the port is taken.
    restinio::run_async<ThreadPool>(restinio::own_io_context(),
                                    configured(restinio::server_settings_t<ThreadPool>(), settings),
                                    settings.threads)
        ->wait();
  }
}

int main(int argc, char* argv[]) try {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::cout << RESTINIO_VERSION_MAJOR << '.' << RESTINIO_VERSION_MINOR << '.' << RESTINIO_VERSION_PATCH
              << '\n';
    return 0;
  }
  const Settings settings;

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
