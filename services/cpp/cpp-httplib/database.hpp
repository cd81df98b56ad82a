// A pool of connections to PostgreSQL, by libpqxx: whoever needs one waits until one is free.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <pqxx/pqxx>
#include <string>
#include <utility>
#include <vector>

class Pool {
 public:
  Pool(const std::string& url, int connections) {
    for (int i = 0; i < connections; ++i) {
      free_.push_back(std::make_unique<pqxx::connection>(url));
      prepare(*free_.back());
    }
  }

  // Gives the connection back when it goes.
  class Lease {
   public:
    explicit Lease(Pool& pool) : pool_(pool), connection_(pool.take()) {}
    ~Lease() { pool_.give_back(std::move(connection_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    pqxx::connection& operator*() { return *connection_; }

   private:
    Pool& pool_;
    std::unique_ptr<pqxx::connection> connection_;
  };

 private:
  static void prepare(pqxx::connection& connection) {
    connection.prepare("world", "SELECT id, randomnumber FROM world WHERE id = $1");
    connection.prepare("world-update", "UPDATE world SET randomnumber = $2 WHERE id = $1");
    connection.prepare("item", "SELECT id, name, category, price, quantity FROM items WHERE id = $1");
    connection.prepare("items",
                       "SELECT id, name, category, price, quantity FROM items WHERE category = $1 "
                       "ORDER BY id LIMIT $2 OFFSET $3");
    connection.prepare("item-create",
                       "INSERT INTO items (name, category, price, quantity) VALUES ($1, $2, $3, $4) "
                       "RETURNING id, name, category, price, quantity");
    connection.prepare("item-update",
                       "UPDATE items SET name = $2, category = $3, price = $4, quantity = $5 WHERE id = $1 "
                       "RETURNING id, name, category, price, quantity");
  }

  std::unique_ptr<pqxx::connection> take() {
    std::unique_lock lock(mutex_);
    has_free_.wait(lock, [this] { return !free_.empty(); });
    auto connection = std::move(free_.back());
    free_.pop_back();
    return connection;
  }

  void give_back(std::unique_ptr<pqxx::connection> connection) {
    {
      const std::lock_guard lock(mutex_);
      free_.push_back(std::move(connection));
    }
    has_free_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable has_free_;
  std::vector<std::unique_ptr<pqxx::connection>> free_;
};
