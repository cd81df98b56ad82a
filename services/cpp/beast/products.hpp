// The products of `json` and `compress`, in types of this program; nlohmann-json knows how to read and write
// them.
#pragma once

#include <cstdint>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "settings.hpp"

struct Rating {
  std::int64_t score, count;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Rating, score, count)

struct Product {
  std::int64_t id;
  std::string name, category;
  std::int64_t price, quantity;
  bool active;
  std::vector<std::string> tags;
  Rating rating;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Product, id, name, category, price, quantity, active, tags, rating)

constexpr int product_count = 50;

inline std::vector<Product> read_products(const char* path) try {
  std::ifstream file(path);
  if (!file) refuse("DATA_PRODUCTS: " + std::string(path) + " cannot be read");
  auto products = nlohmann::json::parse(file).get<std::vector<Product>>();
  if (products.size() != product_count) refuse("DATA_PRODUCTS has no 50 products");
  return products;
} catch (const std::exception& error) {
  refuse("DATA_PRODUCTS: " + std::string(error.what()));
}

inline nlohmann::json list_products(const std::vector<Product>& products, int count, std::int64_t factor) {
  auto items = nlohmann::json::array();
  for (int i = 0; i < count; ++i) {
    nlohmann::json item = products[i];
    item["total"] = products[i].price * products[i].quantity * factor;
    items.push_back(std::move(item));
  }
  return {{"items", std::move(items)}, {"count", count}};
}
