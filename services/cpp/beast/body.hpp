// The body of a request: kept as a string, but that of an upload is counted as it comes. Beast lets a body
// decide, and this one knows by the head what it is.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/optional.hpp>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

namespace beast = boost::beast;
namespace http = beast::http;

// The whole of a text as an integer of this range.
template <typename Integer>
std::optional<Integer> integer(beast::string_view text, Integer lowest, Integer highest) {
  Integer value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < lowest || value > highest)
    return {};
  return value;
}

struct MessageBody {
  static constexpr std::uint64_t kept_limit = 1 << 20;  // as Beast has it for all requests
  static constexpr std::uint64_t upload_limit = 32 << 20;

  struct value_type {
    std::string text;
    bool is_upload = false;
    std::uint64_t bytes = 0;
    std::optional<std::uint64_t> offset;
    std::optional<unsigned char> byte;  // the one at the offset
  };

  class reader {
   public:
    // Beast asks for a constructor that takes the head of any message, and calls it with that of a request.
    template <bool is_request, typename Fields>
    reader(http::header<is_request, Fields>& header, value_type& body) : body_(body) {
      if constexpr (std::is_same_v<http::header<is_request, Fields>, http::request_header<>>)
        header_ = &header;
    }

    void init(const boost::optional<std::uint64_t>& length, beast::error_code& error) {
      body_.is_upload = header_->method() == http::verb::post && header_->target() == "/upload";
      if (body_.is_upload)
        body_.offset =
            integer<std::uint64_t>((*header_)["X-Offset"], 0, std::numeric_limits<std::uint64_t>::max());
      error = {};
      if (length && *length > limit()) error = http::error::body_limit;
      if (length && !error && !body_.is_upload) body_.text.reserve(*length);
    }

    template <typename Buffers>
    std::size_t put(const Buffers& buffers, beast::error_code& error) {
      error = {};
      std::size_t taken = 0;
      for (const auto buffer : beast::buffers_range_ref(buffers)) {
        take({static_cast<const char*>(buffer.data()), buffer.size()});
        taken += buffer.size();
      }
      if (body_.bytes > limit()) error = http::error::body_limit;
      return taken;
    }

    void finish(beast::error_code& error) { error = {}; }

   private:
    std::uint64_t limit() const { return body_.is_upload ? upload_limit : kept_limit; }

    void take(beast::string_view piece) {
      if (!body_.is_upload)
        body_.text.append(piece.data(), piece.size());
      else if (body_.offset && *body_.offset >= body_.bytes && *body_.offset - body_.bytes < piece.size())
        body_.byte = static_cast<unsigned char>(piece[*body_.offset - body_.bytes]);
      body_.bytes += piece.size();
    }

    const http::request_header<>* header_ = nullptr;
    value_type& body_;
  };
};
