// SPDX-License-Identifier: Apache-2.0
#include "agent/shipper.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "agent/test_shipping.hpp"

namespace gpufl::agent {
namespace {

using namespace testing;

TEST_F(ShipperTest, SendsASessionThatHasEnded) {
  ASSERT_TRUE(write_windows()->close(9000, {}));
  fs::create_directory(session_ / "modules");
  write_text(session_ / "modules/0123456789abcdef.cubin.zst", "image");
  write_text(session_ / "symbols.ndjson", "names");
  Shipper shipper = ship();
  EXPECT_EQ(run(shipper), Step::Idle) << shipper.reason();
  expect_all_there();
  EXPECT_EQ(there().modules.at("0123456789abcdef"), "image");
  EXPECT_EQ(there().whole.at("symbols").second, "names");
  EXPECT_EQ(shipper.counts().rows, 1500u);
  EXPECT_EQ(shipper.counts().files, there().windows.size() + 3);
  EXPECT_EQ(shipper.confirms(), true);
  EXPECT_TRUE(shipper.page().starts_with(server_.url() + "/w/team/#/s/2026"));
}

TEST_F(ShipperTest, SendsNothingTwice) {
  ASSERT_TRUE(write_windows()->close(9000, {}));
  Shipper first = ship();
  ASSERT_EQ(run(first), Step::Idle);
  const int posts = server_.posts();
  Shipper second = ship();
  EXPECT_EQ(run(second), Step::Idle);
  EXPECT_EQ(server_.posts(), posts);
  EXPECT_EQ(second.counts().files, 0u);
  EXPECT_EQ(second.counts().known, first.counts().files);

  ShipOptions again;
  again.sends_all_again = true;
  Shipper third = ship(again);
  EXPECT_EQ(run(third), Step::Idle);
  EXPECT_EQ(third.counts().files, first.counts().files);
  expect_all_there();
}

TEST_F(ShipperTest, GoesOnWhereAnotherWasKilled) {
  ASSERT_TRUE(write_windows()->close(9000, {}));
  size_t pieces = 0;
  {
    Shipper counting = ship();
    ASSERT_EQ(run(counting), Step::Idle);
    pieces = counting.counts().pieces;
  }
  for (size_t after = 0; after < pieces; ++after) {
    server_.change(test_header().session_id, [](Session& session) { session = {}; });
    {
      Shipper killed = ship();
      for (size_t i = 0; i < after; ++i) ASSERT_EQ(killed.step(), Step::Sent);
    }
    Shipper shipper = ship();
    EXPECT_EQ(run(shipper), Step::Idle);
    EXPECT_EQ(shipper.counts().known, after);
    expect_all_there();
  }
}

TEST_F(ShipperTest, FollowsALiveSession) {
  auto writer = make_writer(test_options(session_));
  writer->write(scope_rows(*writer, 1, 5, 100));
  ASSERT_TRUE(writer->flush(1000));
  Shipper shipper = ship();
  EXPECT_EQ(run(shipper), Step::Idle);
  EXPECT_EQ((there().windows[{"scope", "1"}].live), read_text(session_ / "scope.log"));

  writer->write(scope_rows(*writer, 6, 7, 900));
  ASSERT_TRUE(writer->flush(2000));
  EXPECT_EQ(run(shipper), Step::Idle);
  EXPECT_EQ((there().windows[{"scope", "1"}].live), read_text(session_ / "scope.log"));
  EXPECT_EQ(shipper.counts().rows, 12u);
  EXPECT_EQ(shipper.confirms(), false) << "it has not ended";

  ASSERT_TRUE(writer->close(9000, {}));
  EXPECT_EQ(run(shipper), Step::Idle);
  expect_all_there();
  EXPECT_EQ(shipper.confirms(), true);
}

TEST_F(ShipperTest, SendsNoHalfLine) {
  const auto writer = make_writer(test_options(session_));
  writer->write(scope_rows(*writer, 1, 5, 100));
  ASSERT_TRUE(writer->flush(1000));
  const std::string whole = read_text(session_ / "scope.log");
  write_text(session_ / "scope.log", whole + "{\"type\":\"sc");
  Shipper shipper = ship();
  EXPECT_EQ(run(shipper), Step::Idle);
  EXPECT_EQ((there().windows[{"scope", "1"}].live), whole);
  write_text(session_ / "scope.log", whole + "{\"type\":\"scope\",\"n\":0}\n");
  EXPECT_EQ(run(shipper), Step::Idle);
  EXPECT_EQ((there().windows[{"scope", "1"}].live), whole + "{\"type\":\"scope\",\"n\":0}\n");
}

// The live file gets another name, and its old name another file, while lines of it wait.
TEST_F(ShipperTest, NeverTakesOneWindowForAnother) {
  format::LogOptions options = test_options(session_);
  options.window_bytes = 4096;
  auto writer = make_writer(options);
  Shipper shipper = ship();
  ASSERT_EQ(run(shipper), Step::Idle);
  for (int i = 0; i < 20; ++i) {
    writer->write(scope_rows(*writer, 1 + i * 100, 100, 100 + i * 5000));
    ASSERT_TRUE(writer->flush(1000 + i));
    ASSERT_NE(shipper.step(), Step::Wait) << shipper.reason();
    for (const auto& [key, window] : there().windows) {
      if (window.live.empty()) continue;
      const std::string named = "\"window\":" + key.second;
      EXPECT_NE(window.live.substr(0, window.live.find('\n')).find(named), std::string::npos)
          << window.live.substr(0, window.live.find('\n'));
      EXPECT_EQ(window.live.find("{\"type\":\"session\"", 1), std::string::npos);
    }
  }
  ASSERT_TRUE(writer->close(99000, {}));
  EXPECT_EQ(run(shipper), Step::Idle);
  EXPECT_TRUE(shipper.set_aside().empty());
  expect_all_there();
}

TEST_F(ShipperTest, ShipsWhatADeadWriterLeftAsItIs) {
  auto writer = make_writer(test_options(session_));
  writer->write(scope_rows(*writer, 1, 5, 100));
  ASSERT_TRUE(writer->flush(1000));
  Shipper shipper = ship();
  ASSERT_EQ(run(shipper), Step::Idle);
  writer->abandon();  // as if it had been killed
  write_text(session_ / "scope.log", read_text(session_ / "scope.log") + "{\"type\":\"sc");
  EXPECT_EQ(run(shipper), Step::Idle);
  const auto window = there().windows[{"scope", "1"}];
  EXPECT_EQ(window.live, read_text(session_ / "scope.log"));
  EXPECT_TRUE(window.is_final);
  EXPECT_EQ(shipper.confirms(), true);

  Shipper other = ship();
  const int posts = server_.posts();
  EXPECT_EQ(run(other), Step::Idle);
  EXPECT_EQ(server_.posts(), posts) << "once";
}

TEST_F(ShipperTest, ADeadWritersLinesAreFinalOnlyWhenTheyHaveBeenQuiet) {
  make_writer(test_options(session_))->abandon();
  ShipOptions options;
  options.final_after = std::chrono::hours(1);
  Shipper shipper = ship(options);
  EXPECT_EQ(run(shipper), Step::Idle);
  EXPECT_FALSE((there().windows[{"system", "1"}].is_final));
  EXPECT_EQ((there().windows[{"system", "1"}].live), read_text(session_ / "system.log"));
}

TEST_F(ShipperTest, LongTextsGoInPieces) {
  auto writer = make_writer(test_options(session_));
  writer->write(scope_rows(*writer, 1, 5, 100));
  ASSERT_TRUE(writer->flush(1000));
  std::string text = read_text(session_ / "scope.log");
  for (int i = 0; i < 30; ++i) {
    text += "{\"type\":\"unknown\",\"text\":\"" + std::string(200'000, 'x') + "\"}\n";
  }
  text += "{\"type\":\"unknown\",\"text\":\"" + std::string(3'000'000, 'y') + "\"}\n";
  write_text(session_ / "scope.log", text);
  Shipper shipper = ship();
  EXPECT_EQ(run(shipper), Step::Idle);
  EXPECT_EQ((there().windows[{"scope", "1"}].live), text);
  EXPECT_GT(shipper.counts().pieces, 6u);
  EXPECT_LT(shipper.counts().bytes, text.size() / 10) << "compressed on its way";
}

TEST_F(ShipperTest, WaitsWhereTheServerAsksForIt) {
  ASSERT_TRUE(write_windows()->close(9000, {}));
  int refusals = 0;
  server_.be_mischievous([&](const net::HttpRequest&, Session&) -> std::optional<net::HttpReply> {
    if (++refusals % 3 != 1) return std::nullopt;
    auto reply = net::problem(refusals % 2 == 0 ? 429 : 503);
    reply.headers.emplace_back("Retry-After", "7");
    return reply;
  });
  Shipper shipper = ship();
  int waits = 0;
  for (int i = 0; i < 1000; ++i) {
    const Step step = shipper.step();
    if (step == Step::Idle) break;
    if (step != Step::Wait) continue;
    ++waits;
    EXPECT_EQ(shipper.wait(), std::chrono::seconds(7));
  }
  EXPECT_GT(waits, 3);
  EXPECT_TRUE(shipper.set_aside().empty());
  server_.be_mischievous({});
  expect_all_there();
}

TEST_F(ShipperTest, SetsAsideWhatIsRefusedAndSendsTheRest) {
  ASSERT_TRUE(write_windows()->close(9000, {}));
  ASSERT_TRUE(fs::exists(session_ / "scope.2.log.zst"));
  server_.be_mischievous(
      [](const net::HttpRequest& request, Session&) -> std::optional<net::HttpReply> {
        if (request.query_value("kind") != "window" || request.query_value("number") != "2") {
          return std::nullopt;
        }
        return net::problem(422, "damaged", "it is not what it says");
      });
  Shipper shipper = ship();
  EXPECT_EQ(run(shipper), Step::Idle);
  EXPECT_EQ(shipper.set_aside().at("scope.2.log.zst"), server_.url() + ": it is not what it says");
  EXPECT_EQ(there().whole.count("manifest"), 1u);
  EXPECT_EQ(shipper.confirms(), false);
  const int posts = server_.posts();
  EXPECT_EQ(run(shipper), Step::Idle);
  EXPECT_EQ(server_.posts(), posts) << "not for ever";
}

TEST_F(ShipperTest, AConflictIsSetAside) {
  ASSERT_TRUE(write_windows()->close(9000, {}));
  server_.be_mischievous([](const net::HttpRequest& request, Session& session) {
    if (request.query_value("kind") == "window" && request.query_value("number") == "1") {
      session.windows[{*request.query_value("channel"), "1"}].sealed = "other bytes";
    }
    return std::optional<net::HttpReply>();
  });
  Shipper shipper = ship();
  EXPECT_EQ(run(shipper), Step::Idle);
  EXPECT_TRUE(shipper.set_aside().contains("scope.1.log.zst"));
}

TEST_F(ShipperTest, StopsWhereTheSessionWasDeleted) {
  ASSERT_TRUE(write_windows()->close(9000, {}));
  Shipper shipper = ship();
  ASSERT_EQ(shipper.step(), Step::Sent);
  server_.change(test_header().session_id, [](Session& session) { session.is_deleted = true; });
  EXPECT_EQ(shipper.step(), Step::Gone);
  Shipper another = ship();
  EXPECT_EQ(another.step(), Step::Gone);
}

// A server that has come back from a backup: of live lines it has fewer, of windows too.
TEST_F(ShipperTest, SendsAgainWhatAServerHasLost) {
  auto writer = write_windows();
  Shipper shipper = ship();
  ASSERT_EQ(run(shipper), Step::Idle);
  Session backup = there();
  const std::string whole = backup.windows[{"system", "1"}].live;
  backup.windows[{"system", "1"}].live = whole.substr(0, whole.find('\n') + 1);
  writer->write(scope_rows(*writer, 9001, 5, 99'000));
  ASSERT_TRUE(writer->flush(5000));
  backup.windows.erase({"scope", "1"});
  server_.change(test_header().session_id, [&](Session& session) { session = backup; });
  bool was_down = false;
  server_.be_mischievous([&](const net::HttpRequest&, Session&) -> std::optional<net::HttpReply> {
    if (std::exchange(was_down, true)) return std::nullopt;
    return net::problem(502);
  });
  while (shipper.step() != Step::Idle) {
  }
  ASSERT_TRUE(writer->close(99'999, {}));
  EXPECT_EQ(run(shipper), Step::Idle);
  EXPECT_TRUE(shipper.set_aside().empty());
  expect_all_there();
}

TEST_F(ShipperTest, SeveralOnOneFolderLoseAndDoubleNothing) {
  format::LogOptions options = test_options(session_);
  options.window_bytes = 16384;
  auto writer = make_writer(options);
  std::atomic<bool> is_over{false};
  Shipper shippers[] = {ship(), ship(), ship()};
  std::vector<std::thread> threads;
  for (Shipper& shipper : shippers) {
    threads.emplace_back([&] {
      while (true) {
        const bool was_over = is_over;
        const Step step = shipper.step();
        EXPECT_TRUE(step == Step::Sent || step == Step::Idle) << shipper.reason();
        if (step != Step::Sent && (was_over || step != Step::Idle)) return;
      }
    });
  }
  for (int i = 0; i < 60; ++i) {
    writer->write(scope_rows(*writer, 1 + i * 100, 100, 100 + i * 5000));
    ASSERT_TRUE(writer->flush(1000 + i));
  }
  EXPECT_TRUE(writer->close(999'000, {}));
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  expect_all_there();
  for (Shipper& shipper : shippers) {
    EXPECT_TRUE(shipper.set_aside().empty()) << shipper.set_aside().begin()->second;
    EXPECT_EQ(shipper.confirms(), true);
  }
}

TEST_F(ShipperTest, AFileThatIsNotWhatItsNameSaysHoldsNothingUp) {
  ASSERT_TRUE(write_windows()->close(9000, {}));
  write_text(session_ / "code.7.log", "{\"type\":\"clock\",\"time\":1}\n");
  Shipper shipper = ship();
  EXPECT_EQ(run(shipper), Step::Idle);
  EXPECT_EQ(shipper.set_aside().size(), 1u);
  EXPECT_EQ(shipper.set_aside().at("code.7.log"), "its first line is not that of the window");
  expect_all_there();
}

TEST_F(ShipperTest, CanBeStopped) {
  ASSERT_TRUE(write_windows()->close(9000, {}));
  ShipOptions options;
  bool is_stopped = false;
  options.is_stopped = [&] { return is_stopped; };
  Shipper shipper = ship(options);
  EXPECT_EQ(shipper.step(), Step::Sent);
  is_stopped = true;
  EXPECT_EQ(shipper.step(), Step::Cancelled);
}

TEST_F(ShipperTest, KeepsToItsBandwidth) {
  ASSERT_TRUE(write_windows()->close(9000, {}));
  Throttle throttle(1);
  ShipOptions options;
  options.throttle = &throttle;
  int asked = 0;
  options.is_stopped = [&] { return ++asked > 5; };
  Shipper shipper = ship(options);
  Step step = Step::Sent;
  while (step == Step::Sent) step = shipper.step();
  EXPECT_EQ(step, Step::Cancelled) << "a byte a second";
  EXPECT_TRUE(shipper.set_aside().empty());
}

TEST_F(ShipperTest, SendsNothingThatALinkLeadsTo) {
  ASSERT_TRUE(write_windows()->close(9000, {}));
  write_text(dir_.path() / "secret", "secret");
  fs::create_symlink("../secret", session_ / "device.1.log.zst");
  fs::create_symlink("../secret", session_ / "symbols.ndjson");
  Shipper shipper = ship();
  EXPECT_EQ(run(shipper), Step::Idle);
  EXPECT_FALSE((there().windows.contains({"device", "1"})));
  EXPECT_EQ(there().whole.count("symbols"), 0u);
  EXPECT_EQ(shipper.unreadable().size(), 2u);
  EXPECT_EQ(shipper.confirms(), false);
}

}  // namespace
}  // namespace gpufl::agent
