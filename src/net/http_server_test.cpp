// SPDX-License-Identifier: Apache-2.0
#include "net/http_server.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/eventually.hpp"
#include "net/router.hpp"

namespace gpufl::net {
namespace {

using namespace std::chrono_literals;

class Client {
 public:
  explicit Client(uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{20, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0;
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool connected() const { return connected_; }
  bool send(std::string_view text) {
    return ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(text.size());
  }
  std::string read_all() {
    std::string all;
    char chunk[4096];
    for (ssize_t n; (n = ::recv(socket_, chunk, sizeof(chunk), 0)) > 0;) {
      all.append(chunk, static_cast<size_t>(n));
    }
    return all;
  }

 private:
  int socket_;
  bool connected_ = false;
};

std::unique_ptr<HttpServer> serve(HttpLimits limits = {}, const std::string& body = "value 1\n") {
  Router router;
  router.get("/metrics",
             [body](const auto&, const auto&) { return reply_with("text/plain", body); });
  auto server = HttpServer::start(
      {"127.0.0.1", 0}, [router](const HttpRequest& request) { return router.answer(request); },
      limits);
  EXPECT_TRUE(server) << server.status().text();
  return std::move(*server);
}

std::string ask(const HttpServer& server, std::string_view request) {
  Client client(server.endpoint().port);
  EXPECT_TRUE(client.send(request));
  return client.read_all();
}

std::string status_line(const std::string& response) {
  return response.substr(0, response.find("\r\n"));
}

TEST(HttpServer, AnswersGetWithTheBody) {
  const auto server = serve();
  const std::string response = ask(*server, "GET /metrics?x=1 HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(status_line(response), "HTTP/1.1 200 OK");
  EXPECT_NE(response.find("Content-Length: 8\r\n"), std::string::npos);
  EXPECT_NE(response.find("Connection: close\r\n"), std::string::npos);
  EXPECT_EQ(response.substr(response.find("\r\n\r\n") + 4), "value 1\n");
}

TEST(HttpServer, AnswersHeadWithoutTheBody) {
  const auto server = serve();
  const std::string response = ask(*server, "HEAD /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(status_line(response), "HTTP/1.1 200 OK");
  EXPECT_NE(response.find("Content-Length: 8\r\n"), std::string::npos);
  EXPECT_EQ(response.substr(response.find("\r\n\r\n") + 4), "");
}

TEST(HttpServer, RefusesWhatItDoesNotServe) {
  const auto server = serve();
  EXPECT_EQ(status_line(ask(*server, "GET /secret HTTP/1.1\r\nHost: a\r\n\r\n")),
            "HTTP/1.1 404 Not Found");
  const std::string deleted = ask(*server, "DELETE /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(status_line(deleted), "HTTP/1.1 405 Method Not Allowed");
  EXPECT_NE(deleted.find("Allow: OPTIONS, GET, HEAD\r\n"), std::string::npos);
  EXPECT_EQ(status_line(ask(*server, "nonsense\r\n\r\n")), "HTTP/1.1 400 Bad Request");
  EXPECT_EQ(status_line(ask(*server, "POST /metrics HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello")),
            "HTTP/1.1 413 Payload Too Large");
}

TEST(HttpServer, AHandlerThatThrowsCostsOneRequestItsAnswer) {
  auto server = HttpServer::start({"127.0.0.1", 0}, [](const HttpRequest& request) {
    if (request.path == "/bad") throw std::runtime_error("no");
    return reply_with("text/plain", "yes\n");
  });
  ASSERT_TRUE(server);
  EXPECT_EQ(status_line(ask(**server, "GET /bad HTTP/1.1\r\n\r\n")),
            "HTTP/1.1 500 Internal Server Error");
  EXPECT_EQ(status_line(ask(**server, "GET /good HTTP/1.1\r\n\r\n")), "HTTP/1.1 200 OK");
}

TEST(HttpServer, RefusesAnOversizedHeader) {
  const auto server = serve();
  const std::string fits = "GET /metrics HTTP/1.1\r\nX: " + std::string(16000, 'a') + "\r\n\r\n";
  EXPECT_EQ(status_line(ask(*server, fits)), "HTTP/1.1 200 OK");
  const std::string over = "GET /metrics HTTP/1.1\r\nX: " + std::string(17000, 'a') + "\r\n\r\n";
  EXPECT_EQ(status_line(ask(*server, over)), "HTTP/1.1 431 Request Header Fields Too Large");
  const std::string endless = "GET /" + std::string(20000, 'a');
  EXPECT_EQ(status_line(ask(*server, endless)), "HTTP/1.1 431 Request Header Fields Too Large");
}

TEST(HttpServer, SlowClientBlocksNobody) {
  const auto server = serve();
  Client slow(server->endpoint().port);
  ASSERT_TRUE(slow.send("GET /metrics HT"));
  EXPECT_EQ(status_line(ask(*server, "GET /metrics HTTP/1.1\r\n\r\n")), "HTTP/1.1 200 OK");
}

// A byte now and then buys no time: it would have it for ever.
TEST(HttpServer, SlowClientLosesItsConnection) {
  HttpLimits limits;
  limits.read_time = 50ms;
  const auto server = serve(limits);
  Client slow(server->endpoint().port);
  EXPECT_TRUE(base::eventually([&] { return !slow.send("T"); }));
  EXPECT_EQ(slow.read_all(), "");
}

TEST(HttpServer, CrowdOfIdleClientsKeepsNobodyOut) {
  HttpLimits limits;
  limits.connections = 4;
  limits.read_time = 60s;
  const auto server = serve(limits);
  std::vector<std::unique_ptr<Client>> idle;
  for (int i = 0; i < 40; ++i) {
    idle.push_back(std::make_unique<Client>(server->endpoint().port));
    ASSERT_TRUE(idle.back()->connected());
  }
  EXPECT_EQ(status_line(ask(*server, "GET /metrics HTTP/1.1\r\n\r\n")), "HTTP/1.1 200 OK");
  EXPECT_EQ(idle.front()->read_all(), "") << "the longest-waiting one was dropped";
}

TEST(HttpServer, SendsALargeBodyWhole) {
  const std::string body(8 << 20, 'x');
  const auto server = serve({}, body);
  const std::string response = ask(*server, "GET /metrics HTTP/1.1\r\n\r\n");
  EXPECT_EQ(response.size() - response.find("\r\n\r\n") - 4, body.size());
}

TEST(HttpServer, SaysWhichAddressIsTaken) {
  const auto server = serve();
  const auto second = HttpServer::start(server->endpoint(), {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.status().message(),
            "cannot listen on " + server->endpoint().text() + ": Address already in use");
}

TEST(HttpServer, StopsWhileClientsWait) {
  auto server = serve();
  Client waiting(server->endpoint().port);
  ASSERT_TRUE(waiting.send("GET /"));
  const Endpoint endpoint = server->endpoint();
  server.reset();
  EXPECT_EQ(waiting.read_all(), "");
  EXPECT_TRUE(HttpServer::start(endpoint, {})) << "the port is free again";
}

}  // namespace
}  // namespace gpufl::net
