// A pool of connections to PostgreSQL: libpq in its non-blocking mode, and Asio that waits for its sockets.
// The statements of one task go out together (pipeline mode) and are one transaction.
#pragma once

#include <libpq-fe.h>

#include <boost/asio.hpp>
#include <chrono>
#include <deque>
#include <functional>
#include <iostream>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The rows that one statement gave.
class Rows {
 public:
  explicit Rows(PGresult* result) : result_(result, &PQclear) {}

  int size() const { return PQntuples(result_.get()); }
  int integer(int row, int column) const { return std::atoi(PQgetvalue(result_.get(), row, column)); }
  std::string text(int row, int column) const {
    return {PQgetvalue(result_.get(), row, column),
            static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
  }

 private:
  std::unique_ptr<PGresult, decltype(&PQclear)> result_;
};

// A statement that was prepared, by its name, and its parameters as text.
struct Statement {
  const char* name;
  std::vector<std::string> parameters;
};

// Is called with the rows of each statement, or with none at all if the database failed.
using OnRows = std::function<void(std::vector<Rows>)>;

struct Task {
  std::vector<Statement> statements;
  OnRows on_rows;
};

class Link {
 public:
  using OnFree = std::function<void(Link&)>;

  Link(boost::asio::io_context& io, const std::string& url, OnFree on_free)
      : io_(io), socket_(io), url_(url), on_free_(std::move(on_free)) {
    if (!connect()) throw std::runtime_error("DATABASE_URL: " + last_error());
  }

  ~Link() { disconnect(); }

  void start(Task task) {
    task_ = std::move(task);
    results_.clear();
    failed_ = false;
    if (PQstatus(connection_) != CONNECTION_OK && !connect_again()) return fail();
    for (const Statement& statement : task_.statements) {
      std::vector<const char*> values;
      for (const std::string& parameter : statement.parameters) values.push_back(parameter.c_str());
      if (PQsendQueryPrepared(connection_, statement.name, static_cast<int>(values.size()), values.data(),
                              nullptr, nullptr, /*resultFormat=*/0) != 1)
        return lose();
    }
    if (PQpipelineSync(connection_) != 1) return lose();
    flush();
  }

 private:
  static constexpr std::pair<const char*, const char*> prepared[] = {
      {"world", "SELECT id, randomnumber FROM world WHERE id = $1"},
      {"world-update", "UPDATE world SET randomnumber = $2 WHERE id = $1"},
      {"fortunes", "SELECT id, message FROM fortune"},
      {"item", "SELECT id, name, category, price, quantity FROM items WHERE id = $1"},
      {"items",
       "SELECT id, name, category, price, quantity FROM items WHERE category = $1 ORDER BY id LIMIT $2 "
       "OFFSET $3"},
      {"item-create",
       "INSERT INTO items (name, category, price, quantity) VALUES ($1, $2, $3, $4) "
       "RETURNING id, name, category, price, quantity"},
      {"item-update",
       "UPDATE items SET name = $2, category = $3, price = $4, quantity = $5 WHERE id = $1 "
       "RETURNING id, name, category, price, quantity"},
  };

  bool connect() {
    connection_ = PQconnectdb(url_.c_str());
    if (PQstatus(connection_) != CONNECTION_OK) return false;
    for (const auto& [name, sql] : prepared) {
      const std::unique_ptr<PGresult, decltype(&PQclear)> result(
          PQprepare(connection_, name, sql, 0, nullptr), &PQclear);
      const char* const state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
      const bool no_table =
          state && std::string_view(state) == "42P01";  // another contract has it: nothing asks
      if (!no_table && PQresultStatus(result.get()) != PGRES_COMMAND_OK) return false;
    }
    if (PQsetnonblocking(connection_, 1) != 0 || PQenterPipelineMode(connection_) != 1) return false;
    socket_.assign(PQsocket(connection_));
    return true;
  }

  void disconnect() {
    if (socket_.is_open()) socket_.release();  // it is libpq that closes it
    PQfinish(std::exchange(connection_, nullptr));
  }

  // Blocks its thread, but only after a failure, and once a second at most.
  bool connect_again() {
    const auto now = std::chrono::steady_clock::now();
    if (now - tried_ < std::chrono::seconds(1)) return false;
    tried_ = now;
    disconnect();
    return connect();
  }

  std::string last_error() const {
    std::string message = PQerrorMessage(connection_);
    while (!message.empty() && message.back() == '\n') message.pop_back();
    return message;
  }

  void flush() {
    const int left = PQflush(connection_);
    if (left < 0) return lose();
    const auto what = left > 0 ? boost::asio::posix::descriptor_base::wait_write
                               : boost::asio::posix::descriptor_base::wait_read;
    socket_.async_wait(what, [this, left](boost::system::error_code error) {
      if (error) return lose();
      left > 0 ? flush() : read();
    });
  }

  void read() {
    if (PQconsumeInput(connection_) != 1) return lose();
    while (PQisBusy(connection_) == 0) {
      PGresult* const result = PQgetResult(connection_);
      if (result == nullptr) continue;  // the end of the rows of one statement
      Rows rows(result);
      switch (PQresultStatus(result)) {
        case PGRES_PIPELINE_SYNC:
          return finish();
        case PGRES_TUPLES_OK:
        case PGRES_COMMAND_OK:
          results_.push_back(std::move(rows));
          break;
        default:
          failed_ = true;
      }
    }
    socket_.async_wait(boost::asio::posix::descriptor_base::wait_read,
                       [this](boost::system::error_code error) { error ? lose() : read(); });
  }

  void finish() {
    if (failed_) results_.clear();
    auto on_rows = std::move(task_.on_rows);
    auto results = std::move(results_);
    on_free_(*this);  // first, so that the database has something to do meanwhile
    on_rows(std::move(results));
  }

  // The connection is gone.
  void lose() {
    std::cerr << "database: " << last_error() << '\n';
    disconnect();
    fail();
  }

  void fail() {
    failed_ = true;
    boost::asio::post(io_, [this] { finish(); });
  }

  boost::asio::io_context& io_;
  boost::asio::posix::stream_descriptor socket_;
  PGconn* connection_ = nullptr;
  const std::string url_;
  const OnFree on_free_;
  std::chrono::steady_clock::time_point tried_;
  Task task_;
  std::vector<Rows> results_;
  bool failed_ = false;
};

class Database {
 public:
  Database(boost::asio::io_context& io, const std::string& url, int connections) {
    for (int i = 0; i < connections; ++i) {
      links_.push_back(std::make_unique<Link>(io, url, [this](Link& link) { on_free(link); }));
      free_.push_back(links_.back().get());
    }
  }

  void run(std::vector<Statement> statements, OnRows on_rows) {
    Task task{std::move(statements), std::move(on_rows)};
    std::unique_lock lock(mutex_);
    if (free_.empty()) return waiting_.push_back(std::move(task));
    Link* const link = free_.back();
    free_.pop_back();
    lock.unlock();
    link->start(std::move(task));
  }

 private:
  void on_free(Link& link) {
    std::unique_lock lock(mutex_);
    if (waiting_.empty()) return free_.push_back(&link);
    Task task = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    link.start(std::move(task));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Link>> links_;
  std::vector<Link*> free_;
  std::deque<Task> waiting_;
};
