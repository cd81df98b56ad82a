// Files as the examples of Beast serve them: by `file_body`, with the type by the ending of the name.
#pragma once

#include <string>
#include <utility>

#include "answers.hpp"

inline beast::string_view mime_type(beast::string_view name) {
  const auto dot = name.rfind('.');
  const auto ending = dot == name.npos ? beast::string_view() : name.substr(dot);
  if (beast::iequals(ending, ".css")) return "text/css";
  if (beast::iequals(ending, ".html")) return "text/html";
  if (beast::iequals(ending, ".js")) return "text/javascript";
  if (beast::iequals(ending, ".json")) return "application/json";
  if (beast::iequals(ending, ".svg")) return "image/svg+xml";
  if (beast::iequals(ending, ".txt")) return "text/plain";
  if (beast::iequals(ending, ".webp")) return "image/webp";
  if (beast::iequals(ending, ".woff2")) return "font/woff2";
  return "application/octet-stream";
}

// `name` is no path: it has no slash, and nothing in it is decoded.
inline AnyResponse file(const Request& request, const std::string& folder, beast::string_view name) {
  if (name.find("..") != name.npos) return bad_request(request, "an illegal name");
  const std::string path = folder + '/' + std::string(name);
  FileResponse response(http::status::ok, request.version());
  beast::error_code error;
  response.body().open(path.c_str(), beast::file_mode::scan, error);
  if (error == beast::errc::no_such_file_or_directory) return not_found(request);
  if (error) return text(request, error.message(), http::status::internal_server_error);
  response.set(http::field::server, BOOST_BEAST_VERSION_STRING);
  response.set(http::field::content_type, mime_type(name));
  response.keep_alive(request.keep_alive());
  response.prepare_payload();
  if (request.method() != http::verb::head) return response;

  auto head = respond(request, http::status::ok, mime_type(name), "");
  head.content_length(response.body().size());
  return head;
}
