// The simulated handling time: at most `limit` messages are in their delay at once, the others wait here in
// the order in which they came. No thread is blocked meanwhile.
#pragma once

#include <boost/asio.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <queue>
#include <utility>

class Delays {
 public:
  Delays(boost::asio::io_context& io, int limit, std::chrono::milliseconds length)
      : strand_(boost::asio::make_strand(io)), free_(limit), length_(length) {}

  void wait(std::function<void()> then) {
    boost::asio::post(strand_, [this, then = std::move(then)]() mutable {
      waiting_.push(std::move(then));
      start();
    });
  }

 private:
  void start() {
    if (free_ == 0 || waiting_.empty()) return;
    --free_;
    auto timer = std::make_shared<boost::asio::steady_timer>(strand_, length_);
    timer->async_wait([this, timer, then = std::move(waiting_.front())](boost::system::error_code) {
      then();
      ++free_;
      start();
    });
    waiting_.pop();
  }

  boost::asio::strand<boost::asio::io_context::executor_type> strand_;
  std::queue<std::function<void()>> waiting_;
  int free_;
  const std::chrono::milliseconds length_;
};
