// Compression by zlib: what Beast has of it is for WebSockets, without the frame of gzip.
#pragma once

#include <zlib.h>

#include <boost/beast/http.hpp>
#include <new>
#include <string>

// Whether `Accept-Encoding` names gzip, and not with the weight 0.
inline bool takes_gzip(boost::beast::string_view accept_encoding) {
  for (const auto& encoding : boost::beast::http::ext_list(accept_encoding)) {
    if (!boost::beast::iequals(encoding.first, "gzip")) continue;
    for (const auto& parameter : encoding.second)
      if (parameter.first == "q") return parameter.second.find_first_of("123456789") != std::string::npos;
    return true;
  }
  return false;
}

inline std::string gzip(const std::string& text) {
  z_stream stream = {};
  constexpr int largest_window = 15, with_gzip_header = 16, default_memory = 8;
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, largest_window + with_gzip_header,
                   default_memory, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string compressed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(compressed.data());
  stream.avail_out = static_cast<uInt>(compressed.size());
  deflate(&stream, Z_FINISH);  // in one step: there is room for the worst case
  compressed.resize(stream.total_out);
  deflateEnd(&stream);
  return compressed;
}
