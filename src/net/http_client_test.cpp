// SPDX-License-Identifier: Apache-2.0
#include "net/http_client.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "net/test_client.hpp"
#include "net/test_peer.hpp"

namespace gpufl::net {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

// Patient but where a test says otherwise, and without the proxies of whoever runs it.
HttpClientOptions patient_options() {
  HttpClientOptions options;
  options.connect_time = options.quiet_time = options.total_time = 2min;
  options.variables = [](const std::string&) { return std::string(); };
  return options;
}

std::unique_ptr<HttpClient> client_of(const std::string& url,
                                      HttpClientOptions options = patient_options()) {
  auto client = HttpClient::make(*parse_url(url), std::move(options));
  EXPECT_TRUE(client) << client.status().text();
  return std::move(*client);
}

std::string url_of(const HttpServer& server) { return "http://" + server.endpoint().text(); }

ClientRequest post(std::string_view body) {
  return {"POST", "/x", {{"Authorization", "Bearer k"}}, RequestBody::of(body)};
}

TEST(HttpClient, AsksAndIsAnswered) {
  const auto server = serve([](const HttpRequest& request) {
    HttpReply reply = text_reply(request.method + " " + request.path + " " +
                                 request.query_value("q").value_or("") + " " +
                                 request.header("Authorization") + " " + request.body);
    reply.status = 201;
    return reply;
  });
  const auto client = client_of(url_of(*server) + "/gpufl/");
  const auto reply = client->ask(
      {"POST", "/a%20b?q=1%2B2", {{"Authorization", "Bearer k"}}, RequestBody::of("text")});
  ASSERT_TRUE(reply) << reply.status().text();
  EXPECT_EQ(reply->status, 201);
  EXPECT_EQ(reply->header("content-type"), "text/plain; charset=utf-8");
  EXPECT_EQ(reply->body, "POST /gpufl/a b 1+2 Bearer k text");
}

TEST(HttpClient, KeepsItsConnection) {
  const auto server = serve([](const HttpRequest& request) { return text_reply(request.body); });
  const auto client = client_of(url_of(*server));
  for (const std::string text : {"a", "", "b"}) {
    const auto reply = client->ask(post(text));
    ASSERT_TRUE(reply) << reply.status().text();
    EXPECT_EQ(reply->body, text);
    EXPECT_EQ(server->stats().connections, 1u);
  }
}

TEST(HttpClient, SendsLargeBodiesInPieces) {
  HttpLimits limits = patient();
  limits.body_bytes = size_t{8} << 20;
  const auto server = serve(
      [](const HttpRequest& request) {
        return text_reply(std::to_string(request.body.size()) + request.body.substr(5'000'000));
      },
      limits);
  std::string text(5'000'000, 'x');
  text += "end";
  const auto reply = client_of(url_of(*server))->ask(post(text));
  ASSERT_TRUE(reply) << reply.status().text();
  EXPECT_EQ(reply->body, "5000003end");
}

TEST(HttpClient, ARefusalSavesTheBody) {
  HttpLimits limits = patient();
  limits.body_bytes = size_t{64} << 20;
  const auto server = serve([](const HttpRequest&) { return text_reply("unexpected"); }, limits, {},
                            [](const HttpRequest&) {
                              HeadVerdict verdict;
                              verdict.reply = problem(429);
                              verdict.reply->headers.emplace_back("Retry-After", "3");
                              return verdict;
                            });
  uint64_t read = 0;
  ClientRequest request = post("");
  request.body = RequestBody{uint64_t{32} << 20, [&](uint64_t, std::span<char> into) {
                               read += into.size();
                               return base::Status();
                             }};
  const auto reply = client_of(url_of(*server))->ask(request);
  ASSERT_TRUE(reply) << reply.status().text();
  EXPECT_EQ(reply->status, 429);
  EXPECT_EQ(retry_after(*reply, 0), 3s);
  EXPECT_LT(read, uint64_t{32} << 20);
}

// One that says no in the middle of the body and closes at once.
TEST(HttpClient, HearsAnAnswerThatComesEarly) {
  Peer peer([](Peer&, int socket, int) {
    Peer::hear(socket);
    Peer::say(socket, "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    ::shutdown(socket, SHUT_WR);
    Peer::hear(socket, "never");
  });
  const std::string text(size_t{16} << 20, 'x');
  const auto reply = client_of(peer.url())->ask(post(text));
  ASSERT_TRUE(reply) << reply.status().text();
  EXPECT_EQ(reply->status, 413);
}

TEST(HttpClient, WaitsForNoContinueThatNeverComes) {
  Peer peer([](Peer&, int socket, int) {
    Peer::hear(socket, "end");
    Peer::say(socket, "HTTP/1.1 100 Continue\r\n\r\n");  // late, as through some proxies
    Peer::say(socket, kOk);
  });
  const auto reply = client_of(peer.url())->ask(post(std::string(400'000, 'x') + "end"));
  ASSERT_TRUE(reply) << reply.status().text();
  EXPECT_EQ(reply->body, "ok");
}

TEST(HttpClient, AsksAgainWhereAKeptConnectionWasClosed) {
  Peer peer([](Peer&, int socket, int) {
    Peer::hear(socket);
    Peer::say(socket, kOk);  // and closes, though it promised to stay
  });
  const auto client = client_of(peer.url());
  for (int i = 0; i < 3; ++i) {
    const auto reply = client->ask({});
    ASSERT_TRUE(reply) << reply.status().text();
    EXPECT_EQ(reply->body, "ok");
  }
  EXPECT_EQ(peer.accepted(), 3);
}

TEST(HttpClient, AnAnswerThatIsCutIsNotAskedForAgain) {
  Peer peer([](Peer&, int socket, int number) {
    Peer::hear(socket);
    Peer::say(socket, number == 0 ? kOk : kOk.substr(0, kOk.size() - 1));
    if (number > 0) return;
    Peer::hear(socket);
    Peer::say(socket, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no");
  });
  const auto client = client_of(peer.url());
  ASSERT_TRUE(client->ask({}));
  const auto cut = client->ask({});
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.status().message(), "the connection was closed in the middle of the answer");
  EXPECT_EQ(peer.accepted(), 1);
}

TEST(HttpClient, SaysWhyThereIsNoAnswer) {
  uint16_t port = 0;
  {
    Peer gone([](Peer&, int, int) {});
    port = gone.port();
  }
  const auto refused = client_of("http://127.0.0.1:" + std::to_string(port))->ask({});
  EXPECT_EQ(refused.status().message(),
            "cannot connect to 127.0.0.1, port " + std::to_string(port) + ": Connection refused");
  Peer closes([](Peer&, int socket, int) { Peer::hear(socket); });
  EXPECT_EQ(client_of(closes.url())->ask({}).status().message(),
            "the connection was closed without an answer");
  Peer babbles([](Peer&, int socket, int) { Peer::say(socket, "220 mail.example.com\r\n"); });
  const auto other = client_of(babbles.url())->ask({});
  EXPECT_EQ(other.status().code(), base::Code::Corrupt);
  EXPECT_EQ(other.status().message(), "what answers does not speak HTTP/1");
  const auto unknown = client_of("http://no-such-host.invalid")->ask({});
  EXPECT_TRUE(unknown.status().message().starts_with("cannot look up no-such-host.invalid: "));
}

TEST(HttpClient, GivesUpOnAPeerThatSaysNothing) {
  Peer peer([](Peer& self, int socket, int) { self.be_silent(socket); });
  HttpClientOptions options = patient_options();
  options.quiet_time = 50ms;
  const auto reply = client_of(peer.url(), options)->ask({});
  EXPECT_EQ(reply.status().code(), base::Code::Unavailable);
  EXPECT_EQ(reply.status().message(),
            "waiting for 127.0.0.1, port " + std::to_string(peer.port()) + ": it took too long");
}

// A byte now and then gains no time.
TEST(HttpClient, GivesUpOnAPeerThatIsTooSlow) {
  Peer peer([](Peer& self, int socket, int) {
    Peer::hear(socket);
    Peer::say(socket, "HTTP/1.1 200 OK\r\n\r\n");
    while (!self.is_over() && ::send(socket, "x", 1, MSG_NOSIGNAL) == 1) {
      std::this_thread::sleep_for(5ms);
    }
  });
  HttpClientOptions options = patient_options();
  options.total_time = 200ms;
  EXPECT_EQ(client_of(peer.url(), options)->ask({}).status().code(), base::Code::Unavailable);
}

// A body that nobody reads.
TEST(HttpClient, GivesUpOnAPeerThatDoesNotRead) {
  Peer peer([](Peer& self, int socket, int) {
    const int small = 4096;
    ::setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    while (!self.is_over()) std::this_thread::sleep_for(1ms);
  });
  HttpClientOptions options = patient_options();
  options.quiet_time = 100ms;
  const std::string text(size_t{64} << 20, 'x');
  const auto reply = client_of(peer.url(), options)->ask(post(text));
  EXPECT_EQ(reply.status().code(), base::Code::Unavailable) << reply.status().text();
}

TEST(HttpClient, TakesNoAnswerThatIsTooLong) {
  const auto server = serve([](const HttpRequest&) { return text_reply(std::string(2000, 'x')); });
  HttpClientOptions options = patient_options();
  options.reply_bytes = 1999;
  const auto reply = client_of(url_of(*server), options)->ask({});
  EXPECT_EQ(reply.status().message(), "the answer is too long");
}

TEST(HttpClient, CanBeStopped) {
  Peer peer([](Peer& self, int socket, int) { self.be_silent(socket); });
  HttpClientOptions options = patient_options();
  std::atomic<int> asked{0};
  options.is_cancelled = [&] { return ++asked > 3; };
  EXPECT_EQ(client_of(peer.url(), options)->ask({}).status().code(), base::Code::Cancelled);
}

TEST(HttpClient, ABodyThatCannotBeReadFailsTheRequest) {
  const auto server = serve([](const HttpRequest&) { return text_reply("unexpected"); });
  const auto client = client_of(url_of(*server));
  ClientRequest request = post("");
  request.body = RequestBody{10, [](uint64_t, std::span<char>) {
                               return base::Status(base::Code::IoError, "the file got shorter");
                             }};
  EXPECT_EQ(client->ask(request).status().message(), "the file got shorter");
  EXPECT_EQ(client->ask({})->status, 200) << "on another connection";
}

TEST(HttpClient, FieldsHaveNoLineEnds) {
  const auto client = client_of("http://127.0.0.1:1");
  EXPECT_EQ(client->ask({"GET", "/", {{"Authorization", "Bearer a\r\nX: y"}}}).status().code(),
            base::Code::InvalidArgument);
}

TEST(HttpClient, DoesNotFollowRedirects) {
  const auto server = serve([](const HttpRequest& request) {
    HttpReply reply = text_reply(request.path);
    if (request.path == "/") {
      reply.status = 307;
      reply.headers.emplace_back("Location", "/elsewhere");
    }
    return reply;
  });
  EXPECT_EQ(client_of(url_of(*server))->ask({})->status, 307);
}

TEST(HttpClient, GoesThroughAProxy) {
  std::string heard;
  Peer proxy([&](Peer&, int socket, int) {
    heard = Peer::hear(socket);
    Peer::say(socket, kOk);
  });
  HttpClientOptions options = patient_options();
  options.variables = [&](const std::string& name) {
    return name == "http_proxy" ? "http://me:word@127.0.0.1:" + std::to_string(proxy.port()) : "";
  };
  const auto reply = client_of("http://gpu.invalid:8080/base", options)->ask({"GET", "/x?y=z"});
  ASSERT_TRUE(reply) << reply.status().text();
  EXPECT_EQ(heard,
            "GET http://gpu.invalid:8080/base/x?y=z HTTP/1.1\r\nHost: gpu.invalid:8080\r\n"
            "Proxy-Authorization: Basic bWU6d29yZA==\r\n\r\n");
}

TEST(HttpClient, SaysWhenAProxyRefuses) {
  std::string heard;
  Peer proxy([&](Peer&, int socket, int) {
    heard = Peer::hear(socket);
    Peer::say(socket, "HTTP/1.1 407 Who are you\r\nContent-Length: 3\r\n\r\nno!");
  });
  HttpClientOptions options = patient_options();
  options.variables = [&](const std::string& name) {
    return name == "HTTPS_PROXY" ? "127.0.0.1:" + std::to_string(proxy.port()) : "";
  };
  const auto reply = client_of("https://gpu.invalid", options)->ask({});
  EXPECT_EQ(
      reply.status().message(),
      "the proxy 127.0.0.1:" + std::to_string(proxy.port()) +
          " did not connect to gpu.invalid:443: it answered 407 Proxy Authentication Required");
  EXPECT_EQ(heard, "CONNECT gpu.invalid:443 HTTP/1.1\r\nHost: gpu.invalid:443\r\n\r\n");
}

TEST(RetryAfter, IsSecondsOrADate) {
  const auto of = [](const char* value) {
    return retry_after({429, {{"Retry-After", value}}, ""}, 784111767);
  };
  EXPECT_EQ(of("120"), 120s);
  EXPECT_EQ(of("Sun, 06 Nov 1994 08:49:37 GMT"), 10s);
  EXPECT_EQ(of("Sun, 06 Nov 1994 08:00:00 GMT"), 0s) << "it has passed";
  EXPECT_EQ(of("999999999"), 3600s);
  EXPECT_EQ(of("-5"), 0s);
  EXPECT_EQ(of("soon"), std::nullopt);
  EXPECT_EQ(of(""), std::nullopt);
  EXPECT_EQ(retry_after({}, 0), std::nullopt);
}

}  // namespace
}  // namespace gpufl::net
