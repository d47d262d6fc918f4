// SPDX-License-Identifier: Apache-2.0
#include "net/http_server.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/eventually.hpp"
#include "net/test_client.hpp"

namespace gpufl::net {
namespace {

using namespace std::chrono_literals;

HttpReply echo(const HttpRequest& request) {
  std::string text = request.method + " " + request.path + "\n";
  for (const auto& [name, value] : request.query) text += name + "=" + value + "\n";
  return text_reply(text + request.body);
}

TEST(HttpServer, AnswersWithWhatTheHandlerSays) {
  const auto server = serve(echo);
  const Response response = ask(*server, get("/a%20b?x=1+2&y"));
  EXPECT_EQ(response.status, 200);
  EXPECT_TRUE(response.head.starts_with("HTTP/1.1 200 OK\r\nDate: ")) << response.head;
  EXPECT_TRUE(response.has("Content-Type: text/plain; charset=utf-8"));
  EXPECT_TRUE(response.has("X-Content-Type-Options: nosniff"));
  EXPECT_TRUE(response.has("Cache-Control: no-store"));
  EXPECT_EQ(response.body, "GET /a b\nx=1 2\ny=\n");
}

TEST(HttpServer, HandlersSeeTheClient) {
  const auto server = serve([](const HttpRequest& request) {
    EXPECT_FALSE(request.is_cancelled());
    return text_reply(request.peer + " " + request.header("x-one") + " " +
                      request.header("absent"));
  });
  EXPECT_EQ(ask(*server, get("/", "X-ONE: 1\r\nX-One: 2\r\n")).body, "127.0.0.1 1, 2 ");
}

TEST(HttpServer, SendsNoBodyToHead) {
  const auto server = serve(echo);
  Client client(*server);
  const Response response = client.ask("HEAD /abc HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(response.has("Content-Length: 10")) << response.head;
  EXPECT_EQ(client.ask(get("/")).body, "GET /\n") << "nothing was left over";
}

TEST(HttpServer, ServesManyRequestsOnAConnection) {
  const auto server = serve(echo);
  Client client(*server);
  for (int i = 0; i < 50; ++i) {
    const std::string path = "/" + std::to_string(i);
    ASSERT_EQ(client.ask(get(path)).body, "GET " + path + "\n");
  }
  EXPECT_EQ(server->stats().connections, 1u);
  EXPECT_TRUE(base::eventually([&] { return server->stats().requests == 50; }));
}

TEST(HttpServer, AnswersRequestsThatCameTogetherInOrder) {
  const auto server = serve(echo);
  Client client(*server);
  std::string requests;
  for (int i = 0; i < 20; ++i) requests += get("/" + std::to_string(i));
  requests += "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody" + get("/last");
  ASSERT_TRUE(client.send(requests));
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(client.read_response().body, "GET /" + std::to_string(i) + "\n");
  }
  EXPECT_EQ(client.read_response().body, "POST /p\nbody");
  EXPECT_EQ(client.read_response().body, "GET /last\n");
}

TEST(HttpServer, AnswersAClientThatHasEndedItsInput) {
  const auto server = serve(echo);
  Client client(*server);
  ASSERT_TRUE(client.send(get("/1") + get("/2")));
  client.end_input();
  EXPECT_EQ(client.read_response().body, "GET /1\n");
  EXPECT_EQ(client.read_response().body, "GET /2\n");
  EXPECT_EQ(client.read_all(), "");
}

TEST(HttpServer, ClosesWhenAsked) {
  const auto server = serve(echo);
  Client client(*server);
  EXPECT_TRUE(client.ask(get("/", "Connection: close\r\n")).has("Connection: close"));
  EXPECT_EQ(client.read_all(), "");
  Client old(*server);
  EXPECT_TRUE(old.ask("GET / HTTP/1.0\r\n\r\n").has("Connection: close"));
  EXPECT_EQ(old.read_all(), "");
}

TEST(HttpServer, ReadsBodies) {
  const auto server = serve(echo);
  Client client(*server);
  const std::string large(500'000, 'x');
  const Response whole =
      client.ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\n" + large);
  EXPECT_TRUE(whole.body == "POST /\n" + large) << whole.status;
  const Response chunks = client.ask(
      "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n5;note=1\r\ndefgh\r\n0\r\nTrailer: ignored\r\n\r\n");
  EXPECT_EQ(chunks.body, "PUT /\nabcdefgh");
}

TEST(HttpServer, InvitesABodyThatWaitsForIt) {
  const auto server = serve(echo);
  Client client(*server);
  const std::string head =
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n";
  ASSERT_TRUE(client.send(head));
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(client.ask("body").body, "POST /\nbody");
  EXPECT_EQ(client.ask(head + "body").body, "POST /\nbody") << "it did not wait";
}

TEST(HttpServer, AClientMayLeaveBeforeItsBodyIsInvited) {
  const auto server = serve(echo);
  Client client(*server);
  ASSERT_TRUE(client.send(get("/") + "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n" +
                          "Expect: 100-continue\r\n\r\n"));
  client.end_input();
  EXPECT_EQ(client.read_response().body, "GET /\n");
  EXPECT_EQ(client.read_all(), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_TRUE(base::eventually([&] { return server->stats().connections == 0; }));
}

TEST(HttpServer, AHandlerThatThrowsCostsOneRequestItsAnswer) {
  const auto server = serve([](const HttpRequest& request) -> HttpReply {
    if (request.path == "/bad") throw std::runtime_error("a secret");
    if (request.path == "/worse") throw 1;
    return text_reply("fine");
  });
  Client client(*server);
  for (const char* path : {"/bad", "/worse"}) {
    const Response response = client.ask(get(path));
    EXPECT_EQ(response.status, 500);
    EXPECT_TRUE(response.has("Content-Type: application/problem+json"));
    EXPECT_EQ(response.body, "{\"title\":\"Internal Server Error\",\"status\":500}\n");
  }
  EXPECT_EQ(client.ask(get("/good")).body, "fine");
}

TEST(HttpServer, TwentyClientsAtOnce) {
  HttpLimits limits = patient();
  limits.workers = 4;
  std::atomic<int> logged = 0;
  const auto server = serve(echo, limits, [&](const AccessRecord&) { ++logged; });
  std::vector<std::thread> clients;
  std::atomic<int> right = 0;
  for (int k = 0; k < 20; ++k) {
    clients.emplace_back([&, k] {
      Client client(*server);
      for (int i = 0; i < 20; ++i) {
        const std::string path = "/" + std::to_string(k) + "/" + std::to_string(i);
        if (client.ask(get(path)).body == "GET " + path + "\n") ++right;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(right, 400);
  EXPECT_TRUE(base::eventually([&] { return logged == 400; }));
  EXPECT_EQ(server->stats().requests, 400u);
}

TEST(HttpServer, LogsEachRequestWithoutItsQuery) {
  std::mutex mutex;
  std::vector<AccessRecord> records;
  const auto server = serve(echo, patient(), [&](const AccessRecord& record) {
    const std::lock_guard lock(mutex);
    records.push_back(record);
  });
  const Response response = ask(*server, get("/path?token=secret"));
  ask(*server, "nonsense\r\n\r\n");
  ASSERT_TRUE(base::eventually([&] {
    const std::lock_guard lock(mutex);
    return records.size() == 2;
  }));
  EXPECT_EQ(records[0].method, "GET");
  EXPECT_EQ(records[0].path, "/path");
  EXPECT_EQ(records[0].peer, "127.0.0.1");
  EXPECT_EQ(records[0].status, 200);
  EXPECT_EQ(records[0].bytes, response.head.size() + response.body.size());
  EXPECT_GE(records[0].duration_us, 0);
  EXPECT_TRUE(records[0].is_complete);
  EXPECT_EQ(records[1].method, "");
  EXPECT_EQ(records[1].status, 400);
  EXPECT_EQ(server->stats().refused, 1u);
}

TEST(HttpServer, SendsALargeBodyWhole) {
  const std::string body(8 << 20, 'x');
  const auto server = serve([&](const HttpRequest&) { return text_reply(body); });
  EXPECT_TRUE(ask(*server, get("/")).body == body);
}

TEST(HttpServer, SaysWhichAddressIsTaken) {
  const auto server = serve(echo);
  const auto second = HttpServer::start(server->endpoint(), echo);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.status().message(),
            "cannot listen on " + server->endpoint().text() + ": Address already in use");
}

TEST(HttpServer, StopsWhileClientsWait) {
  auto server = serve(echo);
  Client waiting(*server), begun(*server), idle(*server);
  ASSERT_TRUE(begun.send("GET /"));
  EXPECT_EQ(idle.ask(get("/")).status, 200);
  const Endpoint endpoint = server->endpoint();
  server->stop();
  server->stop();
  EXPECT_EQ(waiting.read_all(), "");
  EXPECT_EQ(begun.read_all(), "");
  EXPECT_EQ(idle.read_all(), "");
  EXPECT_EQ(server->stats().connections, 0u);
  server.reset();
  EXPECT_TRUE(HttpServer::start(endpoint, echo)) << "the port is free again";
}

TEST(HttpServer, FinishesARequestThatIsUnderWayWhenItStops) {
  HttpLimits limits = patient();
  Gate gate;
  const auto server = serve(
      [&](const HttpRequest& request) {
        gate.pass();
        EXPECT_FALSE(request.is_cancelled());
        return text_reply("done");
      },
      limits);
  Client client(*server), idle(*server);
  ASSERT_TRUE(client.send(get("/")));
  ASSERT_TRUE(base::eventually([&] { return gate.waiting() == 1; }));
  std::thread stopping([&] { server->stop(); });
  EXPECT_EQ(idle.read_all(), "") << "so it has begun to stop";
  gate.open();
  EXPECT_EQ(client.read_response().body, "done");
  stopping.join();
}

TEST(HttpServer, CancelsARequestThatDoesNotEndInTimeWhenItStops) {
  HttpLimits limits = patient();
  limits.stop_time = 1ms;
  std::atomic<bool> began = false, was_cancelled = false;
  const auto server = serve(
      [&](const HttpRequest& request) {
        began = true;
        was_cancelled = base::eventually([&] { return request.is_cancelled(); });
        return text_reply("too late");
      },
      limits);
  Client client(*server);
  ASSERT_TRUE(client.send(get("/")));
  ASSERT_TRUE(base::eventually([&] { return began.load(); }));
  server->stop();
  EXPECT_TRUE(was_cancelled);
  EXPECT_EQ(client.read_all(), "");
}

TEST(HttpServer, SaysHowManyHandlersDoNotReturnWhenItStops) {
  HttpLimits limits = patient();
  limits.stop_time = limits.cancel_time = 1ms;
  limits.workers = 2;
  Gate gate;
  std::atomic<int> returned = 0;
  auto server = serve(
      [&](const HttpRequest&) {
        gate.pass();
        ++returned;
        return text_reply("too late");
      },
      limits);
  Client first(*server), second(*server), third(*server);
  ASSERT_TRUE(first.send(get("/")) && second.send(get("/")));
  ASSERT_TRUE(base::eventually([&] { return gate.waiting() == 2; }));
  ASSERT_TRUE(third.send(get("/")));
  ASSERT_TRUE(base::eventually([&] { return server->stats().queued_requests == 1; }));
  EXPECT_EQ(server->stop(), 2u);
  EXPECT_EQ(first.read_all() + second.read_all() + third.read_all(), "");
  gate.open();
  EXPECT_TRUE(base::eventually([&] { return server->stop() == 0; }));
  server.reset();
  EXPECT_EQ(returned, 2) << "the third was never begun";
}

TEST(HttpServer, CancelsLongWorkWhenTheClientGoes) {
  std::atomic<int> began = 0, cancelled = 0;
  HttpLimits limits = patient();
  limits.workers = 2;
  const auto server = serve(
      [&](const HttpRequest& request) {
        ++began;
        if (base::eventually([&] { return request.is_cancelled(); })) ++cancelled;
        return text_reply("for nobody");
      },
      limits);
  auto leaves = std::make_unique<Client>(*server);
  auto breaks = std::make_unique<Client>(*server);
  ASSERT_TRUE(leaves->send(get("/")) && breaks->send(get("/")));
  ASSERT_TRUE(base::eventually([&] { return began == 2; }));
  leaves.reset();
  breaks->reset();
  EXPECT_TRUE(base::eventually([&] { return cancelled == 2; }));
  EXPECT_TRUE(base::eventually([&] { return server->stats().connections == 0; }));
}

}  // namespace
}  // namespace gpufl::net
