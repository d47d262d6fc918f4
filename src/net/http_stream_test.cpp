// SPDX-License-Identifier: Apache-2.0
// Answers that are not one text: made piece by piece, compressed, or events.
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <atomic>
#include <memory>
#include <stdexcept>

#include "base/eventually.hpp"
#include "net/compression.hpp"
#include "net/event_channel.hpp"
#include "net/test_client.hpp"

namespace gpufl::net {
namespace {

using namespace std::chrono_literals;

std::string unpack_gzip(const std::string& packed) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string text(64 << 20, '\0');
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

std::string unpack_zstd(const std::string& packed) {
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(),
                                                                     ZSTD_freeDCtx);
  std::string text(64 << 20, '\0');
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  ZSTD_outBuffer out{text.data(), text.size(), 0};
  EXPECT_EQ(ZSTD_decompressStream(context.get(), &out, &in), 0u) << "a whole frame";
  text.resize(out.pos);
  return text;
}

// Lines that do not repeat exactly, and the same each time.
std::string long_text(size_t lines) {
  std::string text;
  for (size_t i = 0; i < lines; ++i) text += "line " + std::to_string(i * 7919 % 104729) + "\n";
  return text;
}

class Lines : public BodySource {
 public:
  explicit Lines(size_t count, std::atomic<int>* gone = nullptr) : left_(count), gone_(gone) {}
  ~Lines() override {
    if (gone_) ++*gone_;
  }
  bool next(std::string& out) override {
    if (left_ == 0) return false;
    out += "line\n";
    return --left_ > 0;
  }

 private:
  size_t left_;
  std::atomic<int>* gone_;
};

HttpReply streamed(std::unique_ptr<BodySource> source) {
  HttpReply reply;
  reply.content_type = "text/plain";
  reply.source = std::move(source);
  return reply;
}

TEST(Compression, UnpacksToTheSame) {
  for (const size_t lines : {size_t{0}, size_t{1}, size_t{100'000}}) {
    const std::string text = long_text(lines);
    for (const Encoding encoding : {Encoding::Gzip, Encoding::Zstd}) {
      std::string whole, pieces;
      ASSERT_TRUE(make_compressor(encoding)->add(text, true, whole));
      const auto compressor = make_compressor(encoding);
      for (size_t at = 0; at < text.size(); at += 10'000) {
        ASSERT_TRUE(compressor->add(std::string_view(text).substr(at, 10'000), false, pieces));
      }
      ASSERT_TRUE(compressor->add("", true, pieces));
      const auto unpack = encoding == Encoding::Gzip ? unpack_gzip : unpack_zstd;
      EXPECT_TRUE(unpack(whole) == text);
      EXPECT_TRUE(unpack(pieces) == text);
    }
  }
  EXPECT_EQ(make_compressor(Encoding::Identity), nullptr);
}

TEST(Compression, KnowsWhatGetsSmaller) {
  for (const char* type : {"text/html; charset=utf-8", "text/plain", "application/json",
                           "application/problem+json", "image/svg+xml", "text/javascript"}) {
    EXPECT_TRUE(is_compressible(type)) << type;
  }
  for (const char* type : {"image/png", "application/octet-stream", "text/event-stream", ""}) {
    EXPECT_FALSE(is_compressible(type)) << type;
  }
}

TEST(Compression, IsUsedWhereTheClientAcceptsIt) {
  const std::string text = long_text(1000);
  const auto server = serve([&](const HttpRequest& request) {
    HttpReply reply = text_reply(request.path == "/small" ? "small" : text);
    if (request.path == "/image") reply.content_type = "image/png";
    if (request.path == "/packed") reply.headers.emplace_back("Content-Encoding", "br");
    return reply;
  });
  Client client(*server);
  const Response zstd = client.ask(get("/", "Accept-Encoding: gzip, zstd\r\n"));
  EXPECT_TRUE(zstd.has("Content-Encoding: zstd") && zstd.has("Vary: Accept-Encoding"));
  EXPECT_LT(zstd.body.size(), text.size() / 2);
  EXPECT_TRUE(unpack_zstd(zstd.body) == text);
  const Response gzip = client.ask(get("/", "Accept-Encoding: gzip\r\nAccept-Encoding: br\r\n"));
  EXPECT_TRUE(gzip.has("Content-Encoding: gzip"));
  EXPECT_TRUE(unpack_gzip(gzip.body) == text);
  const Response plain = client.ask(get("/", "Accept-Encoding: gzip;q=0\r\n"));
  EXPECT_TRUE(plain.has("Vary: Accept-Encoding")) << "caches have to know";
  EXPECT_TRUE(plain.body == text);
  for (const char* path : {"/small", "/image"}) {
    const Response other = client.ask(get(path, "Accept-Encoding: gzip\r\n"));
    EXPECT_EQ(other.head.find("Content-Encoding"), std::string::npos) << path;
  }
  EXPECT_EQ(client.ask(get("/packed", "Accept-Encoding: gzip\r\n")).body, text);
  const Response head = client.ask("HEAD / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n");
  EXPECT_TRUE(head.has("Content-Length: " + std::to_string(gzip.body.size())));
}

TEST(HttpStream, SendsPieces) {
  std::atomic<int> gone = 0;
  const auto server =
      serve([&](const HttpRequest&) { return streamed(std::make_unique<Lines>(100'000, &gone)); });
  std::string expected;
  for (int i = 0; i < 100'000; ++i) expected += "line\n";
  Client client(*server);
  const Response plain = client.ask(get("/"));
  EXPECT_TRUE(plain.has("Transfer-Encoding: chunked"));
  EXPECT_EQ(plain.head.find("Content-Length"), std::string::npos);
  EXPECT_TRUE(plain.is_whole);
  EXPECT_TRUE(plain.body == expected);
  EXPECT_TRUE(unpack_gzip(client.ask(get("/", "Accept-Encoding: gzip\r\n")).body) == expected);
  EXPECT_TRUE(unpack_zstd(client.ask(get("/", "Accept-Encoding: zstd\r\n")).body) == expected);
  EXPECT_TRUE(client.ask("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n").has("Transfer-Encoding: chunked"));

  Client old(*server);
  ASSERT_TRUE(old.send("GET / HTTP/1.0\r\n\r\n"));
  const std::string answer = old.read_all();
  EXPECT_EQ(answer.find("chunked"), std::string::npos);
  EXPECT_TRUE(answer.substr(answer.find("\r\n\r\n") + 4) == expected);
  EXPECT_TRUE(base::eventually([&] { return gone == 5; }));
}

TEST(HttpStream, AnEmptySourceIsAnEmptyBody) {
  const auto server =
      serve([](const HttpRequest&) { return streamed(std::make_unique<Lines>(0)); });
  Client client(*server);
  const Response response = client.ask(get("/"));
  EXPECT_TRUE(response.is_whole);
  EXPECT_EQ(response.body, "");
  EXPECT_EQ(unpack_gzip(client.ask(get("/", "Accept-Encoding: gzip\r\n")).body), "");
}

TEST(HttpStream, ASourceThatThrowsCutsTheAnswer) {
  struct Throws : BodySource {
    bool next(std::string& out) override {
      if (is_begun) throw std::runtime_error("the disk is gone");
      out.assign(100'000, 'x');
      return is_begun = true;
    }
    bool is_begun = false;
  };
  const auto server = serve([](const HttpRequest& request) {
    return request.path == "/" ? text_reply("fine") : streamed(std::make_unique<Throws>());
  });
  const Response response = ask(*server, get("/throws"));
  EXPECT_EQ(response.status, 200);
  EXPECT_FALSE(response.is_whole) << "the client knows that something is missing";
  EXPECT_EQ(ask(*server, get("/")).body, "fine");
}

TEST(HttpStream, EndsWhenTheClientGoes) {
  std::atomic<int> gone = 0;
  const auto server =
      serve([&](const HttpRequest&) { return streamed(std::make_unique<Lines>(SIZE_MAX, &gone)); });
  Client client(*server);
  ASSERT_TRUE(client.send(get("/")));
  EXPECT_NE(client.read_until("line\nline\n"), "");
  client.reset();
  EXPECT_TRUE(base::eventually([&] { return gone == 1; }));
  EXPECT_TRUE(base::eventually([&] { return server->stats().connections == 0; }));
}

TEST(HttpStream, AClientThatDoesNotReadHoldsNoWorker) {
  HttpLimits limits = patient();
  limits.workers = 1;
  limits.stop_time = 1ms;
  std::atomic<int> gone = 0;
  const auto server = serve(
      [&](const HttpRequest& request) {
        if (request.path == "/") return text_reply("fine");
        return streamed(std::make_unique<Lines>(SIZE_MAX, &gone));
      },
      limits);
  Client lazy(*server, 4096);
  ASSERT_TRUE(lazy.send(get("/endless")));
  EXPECT_NE(lazy.read_until("line\n"), "");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(ask(*server, get("/")).body, "fine");
  server->stop();
  EXPECT_EQ(gone, 1);
}

TEST(HttpEvents, ReachTheClient) {
  const auto channel = std::make_shared<EventChannel>();
  EXPECT_TRUE(channel->push(event_text("hello", "before", "1")));
  const auto server = serve([&](const HttpRequest&) {
    HttpReply reply;
    reply.events = channel;
    return reply;
  });
  Client client(*server);
  ASSERT_TRUE(client.send(get("/")));
  const std::string head = client.read_until("\r\n\r\n");
  EXPECT_NE(head.find("Content-Type: text/event-stream\r\n"), std::string::npos) << head;
  EXPECT_NE(head.find("Cache-Control: no-store\r\n"), std::string::npos);
  EXPECT_NE(client.read_until("\n\n").find("id: 1\nevent: hello\ndata: before\n\n"),
            std::string::npos);
  EXPECT_EQ(server->stats().event_streams, 1u);
  std::thread other([&] {
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(channel->push(event_text("", std::to_string(i))));
  });
  for (int i = 0; i < 100; ++i) {
    const std::string event = client.read_until("\n\n");
    EXPECT_TRUE(event.ends_with("data: " + std::to_string(i) + "\n\n")) << event;
  }
  other.join();
  channel->push("data: last\n\n");
  channel->close();
  EXPECT_FALSE(channel->push("data: too late\n\n"));
  EXPECT_TRUE(client.read_until("data: last\n\n").ends_with("data: last\n\n"));
  EXPECT_EQ(client.read_until("0\r\n\r\n"), "\r\n0\r\n\r\n");
  EXPECT_TRUE(base::eventually([&] { return server->stats().event_streams == 0; }));
}

TEST(HttpEvents, KnowWhenTheClientGoes) {
  const auto channel = std::make_shared<EventChannel>();
  const auto server = serve([&](const HttpRequest&) {
    HttpReply reply;
    reply.events = channel;
    return reply;
  });
  {
    Client client(*server);
    ASSERT_TRUE(client.send(get("/")));
    EXPECT_NE(client.read_until("\r\n\r\n"), "");
    EXPECT_FALSE(channel->is_closed());
  }
  EXPECT_TRUE(base::eventually([&] { return channel->is_closed(); }));
  EXPECT_FALSE(channel->push("data: nobody\n\n"));
  EXPECT_TRUE(base::eventually([&] { return server->stats().event_streams == 0; }));
}

TEST(HttpEvents, DropAClientThatDoesNotRead) {
  const auto channel = std::make_shared<EventChannel>(64 * 1024);
  const auto server = serve([&](const HttpRequest&) {
    HttpReply reply;
    reply.events = channel;
    return reply;
  });
  Client client(*server, 4096);
  ASSERT_TRUE(client.send(get("/")));
  EXPECT_NE(client.read_until("\r\n\r\n"), "");
  const std::string event = event_text("", std::string(10'000, 'x'));
  EXPECT_TRUE(base::eventually([&] {
    for (int i = 0; i < 100; ++i) {
      if (!channel->push(event)) return true;
    }
    return false;
  }));
  EXPECT_TRUE(base::eventually([&] { return server->stats().dropped == 1; }));
  EXPECT_TRUE(base::eventually([&] { return server->stats().event_streams == 0; }));
}

TEST(HttpEvents, AreLimited) {
  HttpLimits limits = patient();
  limits.event_streams = 1;
  const auto first = std::make_shared<EventChannel>(), second = std::make_shared<EventChannel>();
  const auto server = serve(
      [&](const HttpRequest& request) {
        HttpReply reply;
        reply.events = request.path == "/first" ? first : second;
        return reply;
      },
      limits);
  Client client(*server), other(*server);
  ASSERT_TRUE(client.send(get("/first")));
  EXPECT_NE(client.read_until("\r\n\r\n"), "");
  const Response refused = other.ask(get("/second"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_TRUE(second->is_closed());
  EXPECT_TRUE(first->push("data: 1\n\n"));
  EXPECT_NE(client.read_until("data: 1\n\n"), "");
  EXPECT_EQ(other.ask("HEAD /second HTTP/1.1\r\nHost: a\r\n\r\n").status, 200);
}

TEST(HttpEvents, SayNowAndThenThatTheyAreAlive) {
  HttpLimits limits = patient();
  limits.heartbeat = 1ms;
  const auto channel = std::make_shared<EventChannel>();
  const auto server = serve(
      [&](const HttpRequest&) {
        HttpReply reply;
        reply.events = channel;
        return reply;
      },
      limits);
  Client client(*server);
  ASSERT_TRUE(client.send(get("/")));
  EXPECT_NE(client.read_until("\r\n\r\n"), "");
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(client.read_until(":\n\n").ends_with(":\n\n"));
}

TEST(HttpEvents, EndWhenTheServerStops) {
  const auto channel = std::make_shared<EventChannel>();
  const auto server = serve([&](const HttpRequest&) {
    HttpReply reply;
    reply.events = channel;
    return reply;
  });
  Client client(*server);
  ASSERT_TRUE(client.send(get("/")));
  EXPECT_NE(client.read_until("\r\n\r\n"), "");
  channel->push("data: last\n\n");
  server->stop();
  EXPECT_TRUE(channel->is_closed());
  const std::string rest = client.read_all();
  EXPECT_NE(rest.find("data: last\n\n"), std::string::npos);
  EXPECT_TRUE(rest.ends_with("0\r\n\r\n"));
}

TEST(HttpEvents, AreWrittenSoThatNoTextEndsThem) {
  EXPECT_EQ(event_text("", "plain"), "data: plain\n\n");
  EXPECT_EQ(event_text("na\nme", "a\nb\r\nc\rd", "1\r\n2"),
            "id: 12\nevent: name\ndata: a\ndata: b\ndata: c\ndata: d\n\n");
  EXPECT_EQ(event_text("e", "\n"), "event: e\ndata: \ndata: \n\n");
}

}  // namespace
}  // namespace gpufl::net
