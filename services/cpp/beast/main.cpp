// An asynchronous server as the examples of Beast write it, over TLS where there is a certificate.
#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/version.hpp>
#include <chrono>
#include <csignal>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "backends.hpp"
#include "delays.hpp"
#include "sessions.hpp"
#include "settings.hpp"

// Starts a session for each connection.
template <typename Start>
void accept(net::io_context& io, tcp::acceptor& acceptor, Start start) {
  acceptor.async_accept(net::make_strand(io),
                        [&io, &acceptor, start](beast::error_code error, tcp::socket socket) {
                          if (!error) start(std::move(socket));
                          accept(io, acceptor, start);
                        });
}

void load(ssl::context& tls, const Settings& settings) {
  beast::error_code error;
  tls.use_certificate_chain_file(settings.tls_cert, error);
  if (error) refuse("TLS_CERT cannot be used: " + error.message());
  tls.use_private_key_file(settings.tls_key, ssl::context::pem, error);
  if (error) refuse("TLS_KEY cannot be used: " + error.message());
}

Site site_of(const Settings& settings) {
  Site site;
  if (settings.products) site.products = read_products(settings.products);
  if (settings.folder) {
    site.folder = settings.folder;
    if (!std::filesystem::is_directory(site.folder))
      refuse("FOLDER_STATIC: " + site.folder + " is no folder");
  }
  return site;
}

int main(int argc, char* argv[]) try {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::cout << BOOST_VERSION / 100000 << '.' << BOOST_VERSION / 100 % 1000 << '.' << BOOST_VERSION % 100
              << '\n';
    return 0;
  }
  const Settings settings;
  net::io_context io(settings.threads);

  net::signal_set sigterm(io, SIGTERM);
  sigterm.async_wait([&io](beast::error_code, int) { io.stop(); });

  std::optional<Delays> delays;
  if (settings.delay_ms > 0)
    delays.emplace(io, settings.threads, std::chrono::milliseconds(settings.delay_ms));
  std::optional<Backends> backends;
  if (settings.database || settings.upstream) backends.emplace(io, settings);
  const Shared shared{site_of(settings), delays ? &*delays : nullptr, backends ? &*backends : nullptr};

  tcp::acceptor acceptor(io, {net::ip::make_address_v4(settings.serve_on), settings.port});
  std::optional<ssl::context> tls;
  if (settings.tls_cert) {
    tls.emplace(ssl::context::tls_server);
    load(*tls, settings);
    accept(io, acceptor, [&tls, &shared](tcp::socket socket) {
      beast::error_code gone;  // the client may be: the handshake says so
      socket.set_option(tcp::no_delay(true), gone);
      std::make_shared<TlsSession>(std::move(socket), *tls, shared)->run();
    });
  } else {
    accept(io, acceptor, [&shared](tcp::socket socket) {
      std::make_shared<PlainSession>(std::move(socket), shared)->run();
    });
  }

  std::vector<std::thread> threads;
  for (int i = 1; i < settings.threads; ++i) threads.emplace_back([&io] { io.run(); });
  io.run();
  for (std::thread& thread : threads) thread.join();
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
