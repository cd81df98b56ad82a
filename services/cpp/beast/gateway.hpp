// The client's side of Beast, as its asynchronous example has it, on connections that are kept.
#pragma once

#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "answers.hpp"
#include "settings.hpp"

class Gateway {
  using tcp = boost::asio::ip::tcp;

 public:
  Gateway(boost::asio::io_context& io, beast::string_view url) : io_(io) {
    constexpr beast::string_view scheme = "http://";
    if (!url.starts_with(scheme)) refuse("UPSTREAM_URL must begin with http://");
    url.remove_prefix(scheme.size());
    if (url.ends_with('/')) url.remove_suffix(1);
    host_ = std::string(url);
    const auto colon = std::min(host_.find(':'), host_.size());
    const auto port = colon < host_.size() ? host_.substr(colon + 1) : "80";
    beast::error_code error;
    if (colon > 0 && integer(port, 1, 65535))
      address_ = tcp::resolver(io).resolve(host_.substr(0, colon), port, error);
    if (address_.empty()) refuse("UPSTREAM_URL names no host and port");
  }

  void ask(const Request& request, beast::string_view id, Reply reply) {
    std::make_shared<Call>(*this, request, id, std::move(reply))->start();
  }

 private:
  static constexpr std::chrono::seconds limit{30};

  // One request to the other server.
  class Call : public std::enable_shared_from_this<Call> {
   public:
    Call(Gateway& gateway, const Request& request, beast::string_view id, Reply reply)
        : gateway_(gateway), request_(request), reply_(std::move(reply)) {
      question_.version(11);
      question_.method(http::verb::get);
      question_.target("/items/" + std::string(id));
      question_.set(http::field::host, gateway.host_);
      question_.set(http::field::user_agent, BOOST_BEAST_VERSION_STRING);
    }

    void start() {
      stream_ = gateway_.take();
      is_kept_ = stream_ != nullptr;
      is_kept_ ? write() : connect();
    }

   private:
    void connect() {
      is_kept_ = false;
      stream_ = std::make_unique<beast::tcp_stream>(boost::asio::make_strand(gateway_.io_));
      stream_->expires_after(limit);
      stream_->async_connect(gateway_.address_,
                             [self = shared_from_this()](beast::error_code error, const tcp::endpoint&) {
                               if (error) return self->fail();
                               beast::error_code gone;  // the next step says so
                               self->stream_->socket().set_option(tcp::no_delay(true), gone);
                               self->write();
                             });
    }

    void write() {
      stream_->expires_after(limit);
      http::async_write(*stream_, question_, beast::bind_front_handler(&Call::on_write, shared_from_this()));
    }

    void on_write(beast::error_code error, std::size_t) {
      if (error) return is_kept_ ? connect() : fail();
      http::async_read(*stream_, buffer_, answer_,
                       beast::bind_front_handler(&Call::on_read, shared_from_this()));
    }

    void on_read(beast::error_code error, std::size_t length) {
      // A connection that was kept may have been closed meanwhile.
      if (error) return is_kept_ && length == 0 ? connect() : fail();
      stream_->expires_never();
      if (answer_.keep_alive()) gateway_.keep(std::move(stream_));
      if (answer_.result() == http::status::not_found) return reply_(not_found(request_));
      auto object = nlohmann::json::parse(answer_.body(), nullptr, /*allow_exceptions=*/false);
      if (answer_.result() != http::status::ok || !object.is_object()) return fail();
      object["via"] = "gateway";
      reply_(json(request_, object));
    }

    void fail() { reply_(text(request_, "the other server failed", http::status::bad_gateway)); }

    Gateway& gateway_;
    const Request& request_;
    const Reply reply_;
    bool is_kept_ = false;
    std::unique_ptr<beast::tcp_stream> stream_;
    beast::flat_buffer buffer_;
    http::request<http::empty_body> question_;
    http::response<http::string_body> answer_;
  };

  std::unique_ptr<beast::tcp_stream> take() {
    const std::lock_guard lock(mutex_);
    if (kept_.empty()) return nullptr;
    auto stream = std::move(kept_.back());
    kept_.pop_back();
    return stream;
  }

  void keep(std::unique_ptr<beast::tcp_stream> stream) {
    const std::lock_guard lock(mutex_);
    kept_.push_back(std::move(stream));
  }

  boost::asio::io_context& io_;
  std::string host_;
  tcp::resolver::results_type address_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<beast::tcp_stream>> kept_;
};
