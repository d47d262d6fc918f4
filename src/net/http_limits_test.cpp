// SPDX-License-Identifier: Apache-2.0
// What clients may not do to a server: send too much, too slowly, too often, or not read.
#include "net/http_limits.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <memory>
#include <vector>

#include "base/eventually.hpp"
#include "net/test_client.hpp"

namespace gpufl::net {
namespace {

using namespace std::chrono_literals;

HttpReply fine(const HttpRequest&) { return text_reply("fine"); }

TEST(HttpLimits, RefusesWhatIsTooLargeAndSaysSo) {
  HttpLimits limits = patient();
  limits.target_bytes = 1000;
  limits.header_bytes = 4000;
  limits.body_bytes = 2000;
  const auto server = serve(fine, limits);
  EXPECT_EQ(ask(*server, get("/", "X: " + std::string(3000, 'a') + "\r\n")).status, 200);
  const Response header = ask(*server, get("/", "X: " + std::string(5000, 'a') + "\r\n"));
  EXPECT_EQ(header.status, 431);
  EXPECT_TRUE(header.has("Content-Type: application/problem+json"));
  EXPECT_TRUE(header.has("Connection: close"));
  EXPECT_EQ(ask(*server, get("/" + std::string(1500, 'a'))).status, 414);
  // More than the server reads: it still gets its answer.
  EXPECT_EQ(ask(*server, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\n" +
                             std::string(50000, 'b'))
                .status,
            413);
  std::string chunks = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 100; ++i) chunks += "64\r\n" + std::string(100, 'b') + "\r\n";
  EXPECT_EQ(ask(*server, chunks).status, 413);
  EXPECT_EQ(ask(*server, get("/")).body, "fine");
}

TEST(HttpLimits, ClosesAfterARequestThatItCouldNotRead) {
  const auto server = serve(fine);
  Client client(*server);
  const Response refused = client.ask(
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
      "0\r\n\r\n" +
      get("/smuggled"));
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(client.read_all(), "") << "what followed was not taken for a request";
}

TEST(HttpLimits, ASlowClientHoldsNobodyUp) {
  HttpLimits limits = patient();
  const auto server = serve(fine, limits);
  Client slow(*server);
  ASSERT_TRUE(slow.send("GET /metrics HT"));
  EXPECT_EQ(ask(*server, get("/")).body, "fine");
  EXPECT_EQ(slow.ask("TP/1.1\r\nHost: a\r\n\r\n").body, "fine");
}

// A byte now and then buys no time: it would have it for ever.
TEST(HttpLimits, ASlowClientLosesItsConnection) {
  HttpLimits limits = patient();
  limits.read_time = 20ms;
  const auto server = serve(fine, limits);
  Client head(*server), body(*server), silent(*server);
  ASSERT_TRUE(body.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n"));
  EXPECT_TRUE(base::eventually([&] { return !head.send("T") && !body.send("b"); }));
  EXPECT_EQ(silent.read_all(), "");
  EXPECT_TRUE(base::eventually([&] { return server->stats().connections == 0; }));
}

TEST(HttpLimits, SaysThatARequestCameTooLate) {
  HttpLimits limits = patient();
  limits.read_time = 20ms;
  const auto server = serve(fine, limits);
  // More than once, where the time is over before the first byte is there.
  EXPECT_TRUE(base::eventually([&] {
    Client client(*server);
    client.send("GET / HTTP/1.1\r\nHost");
    return client.read_response().status == 408 && client.read_all().empty();
  }));
}

TEST(HttpLimits, ClosesIdleConnections) {
  HttpLimits limits = patient();
  limits.idle_time = 20ms;
  const auto server = serve(fine, limits);
  Client client(*server);
  EXPECT_EQ(client.ask(get("/")).body, "fine");
  EXPECT_EQ(client.read_all(), "");
}

TEST(HttpLimits, DropsAClientThatDoesNotRead) {
  HttpLimits limits = patient();
  limits.write_time = 50ms;
  std::atomic<int> incomplete = 0;
  const std::string large(32 << 20, 'x');
  const auto server = serve([&](const HttpRequest&) { return text_reply(large); }, limits,
                            [&](const AccessRecord& record) {
                              if (!record.is_complete) ++incomplete;
                            });
  Client client(*server, 4096);
  ASSERT_TRUE(client.send(get("/")));
  EXPECT_TRUE(base::eventually([&] { return incomplete == 1; }));
  EXPECT_EQ(server->stats().dropped, 1u);
  EXPECT_TRUE(base::eventually([&] { return server->stats().connections == 0; }));
}

TEST(HttpLimits, ACrowdOfIdleClientsKeepsNobodyOut) {
  HttpLimits limits = patient();
  limits.connections = 4;
  const auto server = serve(fine, limits);
  std::vector<std::unique_ptr<Client>> idle;
  for (int i = 0; i < 40; ++i) idle.push_back(std::make_unique<Client>(*server));
  EXPECT_EQ(ask(*server, get("/")).body, "fine");
  EXPECT_EQ(idle.front()->read_all(), "") << "the longest-waiting one was dropped";
  EXPECT_GE(server->stats().dropped, 36u);
}

TEST(HttpLimits, BusyConnectionsAreNotDroppedForNewOnes) {
  HttpLimits limits = patient();
  limits.connections = 2;
  limits.workers = 2;
  Gate gate;
  const auto server = serve(
      [&](const HttpRequest&) {
        gate.pass();
        return text_reply("fine");
      },
      limits);
  Client first(*server), second(*server);
  ASSERT_TRUE(first.send(get("/")) && second.send(get("/")));
  ASSERT_TRUE(base::eventually([&] { return gate.waiting() == 2; }));
  const Response refused = ask(*server, get("/"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_TRUE(refused.has("Retry-After: 1"));
  gate.open();
  EXPECT_EQ(first.read_response().body, "fine");
  EXPECT_EQ(second.read_response().body, "fine");
  // Once one of them is idle, it has to go.
  EXPECT_TRUE(base::eventually([&] { return ask(*server, get("/")).body == "fine"; }));
}

// "Token: 1" is trusted; below /open everybody may go ahead.
HeadVerdict by_token(const HttpRequest& head) {
  if (head.header("Token") == "1") return {{}, true};
  if (head.path.starts_with("/open")) return {};
  if (head.path == "/throws") throw 1;
  if (head.path == "/login") return {HttpReply{.status = 303}, false};
  return {problem(401), false};
}

std::string put(std::string_view path, std::string_view fields = {}) {
  return "PUT " + std::string(path) + " HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n" +
         std::string(fields) + "\r\n";
}

TEST(HttpLimits, AStrangersBodyIsNotRead) {
  std::atomic<int> handled = 0;
  const auto server = serve(
      [&](const HttpRequest&) {
        ++handled;
        return text_reply("fine");
      },
      patient(), {}, by_token);
  for (const char* fields : {"", "Expect: 100-continue\r\n"}) {
    Client client(*server);
    const Response refused = client.ask(put("/", fields));
    EXPECT_EQ(refused.status, 401) << refused.head;
    EXPECT_TRUE(refused.has("Connection: close"));
    client.send(get("/open"));
    EXPECT_EQ(client.read_all(), "");
  }
  Client client(*server);
  EXPECT_EQ(client.ask(get("/login")).status, 303);
  EXPECT_EQ(client.ask(get("/throws")).status, 500) << "on the same connection";
  EXPECT_EQ(client.read_all(), "");
  EXPECT_EQ(handled, 0);
  EXPECT_EQ(ask(*server, get("/", "Token: 1\r\n")).body, "fine");
  EXPECT_EQ(ask(*server, put("/", "Token: 1\r\n") + std::string(1'000'000, 'b')).body, "fine");
}

TEST(HttpLimits, ACrowdThatSendsBodiesKeepsNobodyOut) {
  HttpLimits limits = patient();
  limits.connections = 4;
  const auto server = serve(fine, limits, {}, by_token);
  std::vector<std::unique_ptr<Client>> crowd;
  for (int i = 0; i < 4; ++i) {
    crowd.push_back(std::make_unique<Client>(*server));
    ASSERT_TRUE(crowd.back()->send(put("/open", "Expect: 100-continue\r\n")));
    ASSERT_NE(crowd.back()->read_until("\r\n\r\n"), "") << "its body is awaited";
    ASSERT_TRUE(crowd.back()->send("b"));
  }
  EXPECT_EQ(ask(*server, get("/", "Token: 1\r\n")).body, "fine");
  EXPECT_EQ(crowd.front()->read_all(), "") << "the oldest was dropped";
}

TEST(HttpLimits, WhoIsKnownIsDroppedLast) {
  HttpLimits limits = patient();
  limits.connections = 3;
  const auto server = serve(fine, limits, {}, by_token);
  Client sender(*server), idle(*server), stranger(*server);
  ASSERT_TRUE(sender.send(put("/", "Token: 1\r\nExpect: 100-continue\r\n")));
  ASSERT_NE(sender.read_until("\r\n\r\n"), "");
  EXPECT_EQ(idle.ask(get("/", "Token: 1\r\n")).body, "fine");
  EXPECT_EQ(stranger.ask(get("/open")).body, "fine");
  Client next(*server);
  EXPECT_EQ(next.ask(get("/", "Token: 1\r\n")).body, "fine");
  EXPECT_EQ(idle.ask(get("/", "Token: 1\r\n")).body, "fine") << "though it was idle for longer";
  EXPECT_EQ(stranger.read_all(), "");
  EXPECT_EQ(ask(*server, get("/", "Token: 1\r\n")).body, "fine");
  EXPECT_EQ(next.read_all(), "") << "it was idle for longer";
  EXPECT_EQ(sender.ask(std::string(1'000'000, 'b')).body, "fine");
}

TEST(HttpLimits, StrangersThatDoNotReadKeepNobodyOut) {
  HttpLimits limits = patient();
  limits.connections = 2;
  const std::string large(32 << 20, 'x');
  const auto server =
      serve([&](const HttpRequest&) { return text_reply(large); }, limits, {}, by_token);
  Client first(*server, 4096), second(*server, 4096);
  for (Client* slow : {&first, &second}) {
    ASSERT_TRUE(slow->send(get("/open")));
    ASSERT_NE(slow->read_until("\r\n\r\n"), "");
  }
  EXPECT_TRUE(ask(*server, get("/", "Token: 1\r\n")).body == large);
}

TEST(HttpLimits, ABodyHasATimeForAllOfIt) {
  HttpLimits limits = patient();
  limits.body_time = 20ms;
  const auto server = serve(fine, limits);
  Client client(*server);
  ASSERT_TRUE(client.send(put("/") + std::string(200'000, 'b')));
  EXPECT_EQ(client.read_response().status, 408);
  EXPECT_EQ(client.read_all(), "");
}

TEST(HttpLimits, AnswersThatNobodyReadsAreBounded) {
  HttpLimits limits = patient();
  const std::string large(32 << 20, 'x');
  limits.unsent_bytes = 40 << 20;
  const auto server = serve(
      [&](const HttpRequest& request) {
        if (request.path == "/huge") return text_reply(large + large);
        return text_reply(request.path == "/large" ? large : "fine");
      },
      limits);
  {
    Client slow(*server, 4096);
    ASSERT_TRUE(slow.send(get("/large")));
    ASSERT_NE(slow.read_until("\r\n\r\n"), "");
    EXPECT_GE(server->stats().unsent_bytes, large.size());
    Client other(*server);
    const Response refused = other.ask(get("/large"));
    EXPECT_EQ(refused.status, 503);
    EXPECT_TRUE(refused.has("Retry-After: 1")) << refused.head;
    EXPECT_EQ(other.ask(get("/")).body, "fine");
    EXPECT_EQ(server->stats().crowded_out, 1u);
    EXPECT_EQ(server->stats().refused, 1u);
  }
  ASSERT_TRUE(base::eventually([&] { return server->stats().unsent_bytes == 0; }));
  EXPECT_TRUE(ask(*server, get("/large")).body == large);
  ASSERT_TRUE(base::eventually([&] { return server->stats().unsent_bytes == 0; }));
  EXPECT_EQ(ask(*server, get("/huge")).body.size(), 2 * large.size()) << "nothing else waits";
}

TEST(HttpLimits, BodiesThatAreOnTheirWayAreBounded) {
  HttpLimits limits = patient();
  limits.held_bytes = 1'500'000;
  const auto server = serve(fine, limits);
  const std::string body(1'000'000, 'b');
  const std::string chunked = "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  const auto is_free = [&] { return server->stats().held_bytes == 0; };
  {
    Client slow(*server);
    ASSERT_TRUE(slow.send(put("/") + "b"));
    ASSERT_TRUE(base::eventually([&] { return server->stats().held_bytes == body.size(); }));
    for (const std::string& head : {put("/"), put("/", "Expect: 100-continue\r\n"), chunked}) {
      const Response refused = ask(*server, head);
      EXPECT_EQ(refused.status, 503);
      EXPECT_TRUE(refused.has("Retry-After: 1")) << refused.head;
    }
    EXPECT_EQ(ask(*server, "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc").body,
              "fine");
    EXPECT_EQ(server->stats().crowded_out, 3u);
    EXPECT_EQ(server->stats().refused, 3u);
    ASSERT_TRUE(slow.send(body.substr(1)));
    EXPECT_EQ(slow.read_response().body, "fine");
    ASSERT_TRUE(base::eventually(is_free));
    ASSERT_TRUE(slow.send(put("/") + "b"));
    ASSERT_TRUE(base::eventually([&] { return server->stats().held_bytes == body.size(); }));
  }
  EXPECT_TRUE(base::eventually(is_free)) << "its client has gone";
  EXPECT_EQ(ask(*server, put("/") + body).body, "fine");
  EXPECT_TRUE(base::eventually(is_free));
}

TEST(HttpLimits, RefusesAtOnceWhenTooManyRequestsWait) {
  HttpLimits limits = patient();
  limits.workers = 1;
  limits.queued_requests = 2;
  Gate gate;
  const auto server = serve(
      [&](const HttpRequest&) {
        gate.pass();
        return text_reply("fine");
      },
      limits);
  Client running(*server), first(*server), second(*server), third(*server);
  ASSERT_TRUE(running.send(get("/")));
  ASSERT_TRUE(base::eventually([&] { return gate.waiting() == 1; }));
  ASSERT_TRUE(first.send(get("/")) && second.send(get("/")));
  ASSERT_TRUE(base::eventually([&] { return server->stats().queued_requests == 2; }));
  const Response refused = third.ask(get("/"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_TRUE(refused.has("Retry-After: 1"));
  gate.open();
  for (Client* client : {&running, &first, &second}) {
    EXPECT_EQ(client->read_response().body, "fine");
  }
  EXPECT_EQ(third.ask(get("/")).body, "fine") << "its connection was kept";
}

TEST(HttpLimits, AHandlerThatTakesTooLongIsToldAndTheClientIsAnswered) {
  HttpLimits limits = patient();
  limits.handler_time = 20ms;
  limits.workers = 1;
  Gate gate;
  std::atomic<int> begun = 0, cancelled = 0;
  const auto server = serve(
      [&](const HttpRequest& request) {
        ++begun;
        if (request.path == "/slow") {
          EXPECT_TRUE(base::eventually([&] { return request.is_cancelled(); }));
          ++cancelled;
          gate.pass();
        }
        return text_reply("fine");
      },
      limits);
  Client first(*server), second(*server);
  Response late;
  // Again, where a busy machine does not even begin it in time.
  ASSERT_TRUE(base::eventually([&] {
    late = first.ask(get("/slow"));
    return begun == 1;
  }));
  EXPECT_EQ(late.status, 503);
  EXPECT_TRUE(late.has("Content-Type: application/problem+json")) << late.head;
  EXPECT_TRUE(late.has("Retry-After: 1"));
  EXPECT_NE(late.body.find("takes too long"), std::string::npos) << late.body;
  ASSERT_TRUE(base::eventually([&] { return cancelled == 1; }));
  EXPECT_EQ(server->stats().late_handlers, 1u) << "its thread is busy";
  // One that waited in vain for that thread is not begun any more.
  const uint64_t given_up = server->stats().late_requests;
  EXPECT_EQ(second.ask(get("/")).status, 503);
  EXPECT_EQ(server->stats().late_handlers, 1u);
  EXPECT_EQ(server->stats().late_requests, given_up + 1);
  gate.open();
  ASSERT_TRUE(base::eventually([&] { return server->stats().late_handlers == 0; }));
  EXPECT_EQ(begun, 1);
  // Both connections are as before, and no late answer comes.
  for (Client* client : {&first, &second}) {
    EXPECT_TRUE(base::eventually([&] { return client->ask(get("/")).body == "fine"; }));
  }
}

TEST(HttpLimits, AHandlerMayKeepItsOwnTime) {
  HttpLimits limits = patient();
  limits.handler_time = 50ms;
  limits.workers = 16;
  Gate gate;
  const auto server = serve(
      [&](const HttpRequest& request) {
        if (request.path == "/late") {
          EXPECT_TRUE(base::eventually([&] { return request.is_cancelled(); }));
          return text_reply("late");
        }
        request.keeps_own_time();
        gate.pass();
        return text_reply(request.is_cancelled() ? "cancelled" : "fine");
      },
      limits);
  Client client(*server);
  // Again, where a busy machine does not begin it in time.
  ASSERT_TRUE(base::eventually([&] {
    const int held = gate.waiting();
    const uint64_t late = server->stats().late_requests;
    EXPECT_TRUE(client.send(get("/own")));
    const auto is_late = [&] { return server->stats().late_requests > late; };
    EXPECT_TRUE(base::eventually([&] { return gate.waiting() > held || is_late(); }));
    if (!is_late()) return true;
    EXPECT_EQ(client.read_response().status, 503);
    return false;
  }));
  EXPECT_EQ(ask(*server, get("/late")).status, 503) << "more than that time has passed";
  gate.open();
  EXPECT_EQ(client.read_response().body, "fine");
}

TEST(HttpLimits, CutConnectionsLeaveNothingBehind) {
  const std::string large(8 << 20, 'x');
  const auto server = serve([&](const HttpRequest&) { return text_reply(large); });
  const std::string request = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc";
  for (size_t cut = 0; cut <= request.size(); cut += 5) {
    Client client(*server);
    client.send(request.substr(0, cut));
    if (cut % 2 == 0) client.reset();
  }
  {
    Client reader(*server);
    ASSERT_TRUE(reader.send(request));
    EXPECT_EQ(reader.read_until("xxxx").size() > 4, true);
    reader.reset();
  }
  EXPECT_TRUE(base::eventually([&] { return server->stats().connections == 0; }));
  EXPECT_TRUE(ask(*server, get("/")).body == large);
}

// Of a thousand clients that have sent something large, each would hold on to tens of kilobytes.
TEST(HttpLimits, AConnectionThatWaitsHoldsNothingOfWhatWasSaidBefore) {
  constexpr size_t kClients = 50, kBody = size_t{1} << 20, kOfConnection = 28'000;
  const auto held = [] {
    const struct mallinfo2 now = ::mallinfo2();
    return now.uordblks + now.hblkhd;
  };
  if (held() == 0) GTEST_SKIP() << "another allocator is in use";
  const auto server = serve([](const HttpRequest& asked) { return text_reply(asked.body); });
  const std::string request =
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(kBody) + "\r\n\r\n" +
      std::string(kBody, 'b');
  std::vector<std::unique_ptr<Client>> clients;
  const size_t before = held();
  for (size_t i = 0; i < kClients; ++i) {
    clients.push_back(std::make_unique<Client>(*server));
    EXPECT_EQ(clients.back()->ask(request).body.size(), kBody);
  }
  EXPECT_TRUE(base::eventually([&] { return held() < before + kClients * kOfConnection; }))
      << (held() - before) / kClients << " bytes of each connection";
}

}  // namespace
}  // namespace gpufl::net
