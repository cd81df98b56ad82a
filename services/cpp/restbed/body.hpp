// The body of a request, with a length or in chunks: Restbed has the bytes, and leaves both forms to its user.
#pragma once

#include <charconv>
#include <cstddef>
#include <functional>
#include <memory>
#include <restbed>
#include <string>

using Session = std::shared_ptr<restbed::Session>;
using WithBody = std::function<void(const Session&, const std::string&)>;

// Adds chunks to `body` until one has no bytes. Where one has no size, nothing says what follows: the connection ends.
inline void fetch_chunks(const Session& session, const std::shared_ptr<std::string>& body, const WithBody& handle) {
  constexpr std::size_t body_bytes_max = 16 << 20;
  session->fetch("\r\n", [body, handle](const Session session, const restbed::Bytes& line) {
    const std::string text(line.begin(), line.end());
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size, 16);
    const bool is_size = error == std::errc() && (*end == '\r' || *end == ';');
    if (!is_size || size > body_bytes_max - body->size()) return session->close(restbed::BAD_REQUEST);
    session->fetch(size + 2, [body, handle, size](const Session session, const restbed::Bytes& chunk) {
      if (size == 0) return handle(session, *body);
      body->append(chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(size));
      fetch_chunks(session, body, handle);
    });
  });
}

inline void fetch_body(const Session& session, const WithBody& handle) {
  const auto request = session->get_request();
  if (restbed::String::lowercase(request->get_header("Transfer-Encoding", std::string())) == "chunked")
    return fetch_chunks(session, std::make_shared<std::string>(), handle);
  session->fetch(request->get_header("Content-Length", 0),
                 [handle](const Session session, const restbed::Bytes& bytes) {
                   handle(session, std::string(bytes.begin(), bytes.end()));
                 });
}
