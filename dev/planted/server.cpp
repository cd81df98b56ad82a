// A server that costs some percent more with PLANT=loop, allocate, regex, call or log, TIMES times in each request.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <regex>
#include <string>
#include <vector>

namespace {

const std::string plant = std::getenv("PLANT") ? std::getenv("PLANT") : "";
const int times = std::getenv("TIMES") ? std::atoi(std::getenv("TIMES")) : 0;
volatile unsigned sink;

[[gnu::noinline]] void planted_loop(const std::string& request) {
  unsigned sum = 2166136261u;
  for (int i = 0; i < times; i++) sum = (sum ^ static_cast<unsigned char>(request[i % 16])) * 16777619u;
  sink = sum;
}

[[gnu::noinline]] void planted_allocate(const std::string& request) {
  std::vector<std::string> copies;
  for (int i = 0; i < times; i++) copies.push_back(request);
  sink = copies.size();
}

[[gnu::noinline]] void planted_regex(const std::string& request) {
  static const std::regex route("^GET /items/([0-9]+)");
  for (int i = 0; i < times; i++) sink = std::regex_search(request, route);
}

[[gnu::noinline]] void planted_call() {
  struct stat found;
  for (int i = 0; i < times; i++) sink = stat("/etc/hostname", &found);
}

[[gnu::noinline]] void planted_log(const std::string& request) {
  static FILE* log = std::fopen("/dev/null", "w");
  for (int i = 0; i < times; i++) {
    std::fprintf(log, "%d %s %zu\n", i, request.substr(0, 8).c_str(), request.size());
    std::fflush(log);
  }
}

std::string body() {
  std::string text = "{\"id\":1,\"tags\":[";
  for (int i = 0; i < 20; i++) text += (i ? ",\"tag " : "\"tag ") + std::to_string(i) + "\"";
  return text + "]}";
}

void answer(int client, const std::string& request) {
  if (plant == "loop") planted_loop(request);
  if (plant == "allocate") planted_allocate(request);
  if (plant == "regex") planted_regex(request);
  if (plant == "call") planted_call();
  if (plant == "log") planted_log(request);
  const std::string text = body();
  const std::string out = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
                          std::to_string(text.size()) + "\r\n\r\n" + text;
  if (write(client, out.data(), out.size()) < 0) std::exit(1);
}

}  // namespace

int main() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(std::atoi(std::getenv("PORT")));
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listener, reinterpret_cast<sockaddr*>(&at), sizeof at) || listen(listener, 512)) return 1;
  const int epoll = epoll_create1(0);
  epoll_event event{EPOLLIN, {.fd = listener}}, events[64];
  epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
  for (;;) {
    const int count = epoll_wait(epoll, events, 64, -1);
    for (int i = 0; i < count; i++) {
      const int fd = events[i].data.fd;
      if (fd == listener) {
        event.data.fd = accept(listener, nullptr, nullptr);
        setsockopt(event.data.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        epoll_ctl(epoll, EPOLL_CTL_ADD, event.data.fd, &event);
        continue;
      }
      char buffer[4096];
      const long length = read(fd, buffer, sizeof buffer);
      if (length <= 0) {
        close(fd);
        continue;
      }
      const std::string request(buffer, length);
      for (size_t end = request.find("\r\n\r\n"); end != std::string::npos; end = request.find("\r\n\r\n", end + 4))
        answer(fd, request);
    }
  }
}
