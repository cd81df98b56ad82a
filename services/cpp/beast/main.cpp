// An asynchronous server as the examples of Beast write it: every connection is a session on a strand of its
// own, and reads and answers one request after the other.
#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/version.hpp>
#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "delays.hpp"
#include "handlers.hpp"
#include "settings.hpp"

namespace net = boost::asio;
using net::ip::tcp;

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, Delays* delays) : stream_(std::move(socket)), delays_(delays) {}

  void run() {
    net::dispatch(stream_.get_executor(), beast::bind_front_handler(&Session::read, shared_from_this()));
  }

 private:
  void read() {
    request_ = {};
    stream_.expires_after(std::chrono::hours(1));
    http::async_read(stream_, buffer_, request_,
                     beast::bind_front_handler(&Session::on_read, shared_from_this()));
  }

  void on_read(beast::error_code error, std::size_t) {
    if (error == http::error::end_of_stream) return close();
    if (error) return;  // gone: so is the last reference to this
    if (delays_ == nullptr || !is_echo(request_)) return write();
    delays_->wait([self = shared_from_this()] {
      net::dispatch(self->stream_.get_executor(), beast::bind_front_handler(&Session::write, self));
    });
  }

  void write() {
    response_ = handle(request_);
    http::async_write(stream_, response_, beast::bind_front_handler(&Session::on_write, shared_from_this()));
  }

  void on_write(beast::error_code error, std::size_t) {
    if (error) return;
    if (response_.need_eof()) return close();  // the client asked for `Connection: close`
    read();
  }

  void close() {
    beast::error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  Request request_;
  Response response_;
  Delays* const delays_;
};

void accept(net::io_context& io, tcp::acceptor& acceptor, Delays* delays) {
  acceptor.async_accept(net::make_strand(io),
                        [&io, &acceptor, delays](beast::error_code error, tcp::socket socket) {
                          if (!error) std::make_shared<Session>(std::move(socket), delays)->run();
                          accept(io, acceptor, delays);
                        });
}

int main(int argc, char* argv[]) try {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::cout << BOOST_VERSION / 100000 << '.' << BOOST_VERSION / 100 % 1000 << '.' << BOOST_VERSION % 100
              << '\n';
    return 0;
  }
  const Settings settings;
  net::io_context io(settings.threads);

  net::signal_set sigterm(io, SIGTERM);
  sigterm.async_wait([&io](beast::error_code, int) { io.stop(); });

  std::optional<Delays> delays;
  if (settings.delay_ms > 0)
    delays.emplace(io, settings.threads, std::chrono::milliseconds(settings.delay_ms));

  tcp::acceptor acceptor(io, {net::ip::address_v4::loopback(), settings.port});
  accept(io, acceptor, delays ? &*delays : nullptr);

  std::vector<std::thread> threads;
  for (int i = 1; i < settings.threads; ++i) threads.emplace_back([&io] { io.run(); });
  io.run();
  for (std::thread& thread : threads) thread.join();
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
