// A connection as the examples of Beast write it for a server with TLS and without: a session on a strand of
// its own, which reads and answers one request after the other.
#pragma once

#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "backends.hpp"
#include "delays.hpp"
#include "handlers.hpp"

namespace net = boost::asio;
namespace ssl = boost::asio::ssl;
using net::ip::tcp;

constexpr std::chrono::hours idle_limit(1);
// A read takes as much as the buffer has room for, and 512 bytes where it has none yet.
constexpr std::size_t read_bytes = 64 * 1024;

// What all sessions share; null is what the service was started without.
struct Shared {
  Site site;
  Delays* delays = nullptr;
  Backends* backends = nullptr;
};

// What is the same with TLS and without. Derived has the stream, and closes it in its own way.
template <typename Derived>
class Session {
 public:
  explicit Session(const Shared& shared) : shared_(shared) { buffer_.reserve(read_bytes); }

 protected:
  void read() {
    parser_.emplace();
    parser_->body_limit(MessageBody::upload_limit);  // of a body that is kept, MessageBody has a lower one
    beast::get_lowest_layer(derived().stream_).expires_after(idle_limit);
    http::async_read(derived().stream_, buffer_, *parser_,
                     beast::bind_front_handler(&Session::on_read, derived().shared_from_this()));
  }

 private:
  void on_read(beast::error_code error, std::size_t) {
    if (error == http::error::end_of_stream) return derived().close();
    if (error) return;  // gone: so is the last reference to this
    if (shared_.delays != nullptr && is_echo(parser_->get())) return delay();
    if (shared_.backends != nullptr && ask_backends(*shared_.backends)) return;
    answer();
  }

  void delay() {
    shared_.delays->wait([self = derived().shared_from_this()] {
      net::dispatch(self->stream_.get_executor(), beast::bind_front_handler(&Session::answer, self));
    });
  }

  // Whether it is they that answer; then they may do so on any thread.
  bool ask_backends(Backends& backends) {
    return backends.handle(parser_->get(), [self = derived().shared_from_this()](Response response) {
      net::dispatch(self->stream_.get_executor(),
                    [self, response = std::move(response)]() mutable { self->write(std::move(response)); });
    });
  }

  void answer() { write(handle(parser_->get(), shared_.site)); }

  void write(AnyResponse response) {
    response_ = std::move(response);
    std::visit(
        [this](auto& message) {
          http::async_write(derived().stream_, message,
                            beast::bind_front_handler(&Session::on_write, derived().shared_from_this()));
        },
        response_);
  }

  void on_write(beast::error_code error, std::size_t) {
    if (error) return;
    const bool closes = std::visit([](const auto& message) { return message.need_eof(); }, response_);
    if (closes) return derived().close();  // the client asked for `Connection: close`
    read();
  }

  Derived& derived() { return static_cast<Derived&>(*this); }

  beast::flat_buffer buffer_;
  std::optional<http::request_parser<MessageBody>> parser_;
  AnyResponse response_;
  const Shared& shared_;
};

class PlainSession : public Session<PlainSession>, public std::enable_shared_from_this<PlainSession> {
 public:
  PlainSession(tcp::socket socket, const Shared& shared) : Session(shared), stream_(std::move(socket)) {}

  void run() {
    net::dispatch(stream_.get_executor(), beast::bind_front_handler(&PlainSession::read, shared_from_this()));
  }

 private:
  friend class Session<PlainSession>;

  void close() {
    beast::error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
  }

  beast::tcp_stream stream_;
};

class TlsSession : public Session<TlsSession>, public std::enable_shared_from_this<TlsSession> {
 public:
  TlsSession(tcp::socket socket, ssl::context& tls, const Shared& shared)
      : Session(shared), stream_(std::move(socket), tls) {}

  void run() {
    net::dispatch(stream_.get_executor(),
                  beast::bind_front_handler(&TlsSession::handshake, shared_from_this()));
  }

 private:
  friend class Session<TlsSession>;

  void handshake() {
    beast::get_lowest_layer(stream_).expires_after(idle_limit);
    stream_.async_handshake(ssl::stream_base::server,
                            beast::bind_front_handler(&TlsSession::on_handshake, shared_from_this()));
  }

  void on_handshake(beast::error_code error) {
    if (!error) read();
  }

  void close() {
    beast::get_lowest_layer(stream_).expires_after(idle_limit);
    stream_.async_shutdown([self = shared_from_this()](beast::error_code) {});
  }

  beast::ssl_stream<beast::tcp_stream> stream_;
};
