// A raw server: all it knows of HTTP is that the head of a request ends with an empty line, and it answers every
// head with the same bytes.
#include <asio.hpp>
#include <csignal>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "settings.hpp"

using asio::ip::tcp;

constexpr std::string_view kResponse =
    "HTTP/1.1 200 OK\r\n"
    "Connection: keep-alive\r\n"
    "Content-Length: 12\r\n"
    "Server: asio\r\n"
    "Content-Type: text/plain; charset=utf-8\r\n"
    "\r\n"
    "Hello world!";

constexpr std::size_t kLongestHead = 64 * 1024;

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  explicit Connection(tcp::socket socket) : socket_(std::move(socket)) {}

  void read() {
    asio::async_read_until(socket_, asio::dynamic_buffer(received_, kLongestHead), "\r\n\r\n",
                           [this, self = shared_from_this()](std::error_code error, std::size_t length) {
                             if (error) return;  // gone: so is the last reference to this
                             received_.erase(0, length);
                             write();
                           });
  }

 private:
  void write() {
    asio::async_write(socket_, asio::buffer(kResponse),
                      [this, self = shared_from_this()](std::error_code error, std::size_t) {
                        if (!error) read();
                      });
  }

  tcp::socket socket_;
  std::string received_;
};

void accept(tcp::acceptor& acceptor) {
  acceptor.async_accept([&acceptor](std::error_code error, tcp::socket socket) {
    if (!error) std::make_shared<Connection>(std::move(socket))->read();
    accept(acceptor);
  });
}

int main(int argc, char* argv[]) try {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::cout << ASIO_VERSION / 100000 << '.' << ASIO_VERSION / 100 % 1000 << '.' << ASIO_VERSION % 100
              << '\n';
    return 0;
  }
  const Settings settings;
  asio::io_context io(settings.threads);

  asio::signal_set sigterm(io, SIGTERM);
  sigterm.async_wait([&io](std::error_code, int) { io.stop(); });

  tcp::acceptor acceptor(io, {asio::ip::make_address_v4(settings.serve_on), settings.port});
  accept(acceptor);

  std::vector<std::thread> threads;
  for (int i = 1; i < settings.threads; ++i) threads.emplace_back([&io] { io.run(); });
  io.run();
  for (std::thread& thread : threads) thread.join();
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
