// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "agent/test_shipping.hpp"

// What goes wrong between a folder and a server: nothing is lost, doubled, or held up for ever.
namespace gpufl::agent {
namespace {

using namespace testing;
using namespace std::chrono_literals;

class ShipperFaultsTest : public ShipperTest {
 protected:
  static bool is_window(const net::HttpRequest& request, const char* number) {
    return request.query_value("kind") == "window" && request.query_value("number") == number &&
           request.query_value("channel") == "scope";
  }
  void change_there(const std::function<void(Session&)>& change) {
    server_.change(test_header().session_id, change);
  }
  std::string live_there() { return there().windows[{"scope", "1"}].live; }
};

// The only copy of what differs is the one here.
TEST_F(ShipperFaultsTest, OtherBytesOnTheServerAreNoConfirmation) {
  ASSERT_TRUE(write_windows()->close(9000, {}));
  Shipper first = ship();
  ASSERT_EQ(run(first), Step::Idle);
  change_there([](Session& session) { session.windows[{"scope", "2"}].sealed = "other bytes"; });
  EXPECT_EQ(first.confirms(), false) << "of one that has sent it";
  const int posts = server_.posts();
  Shipper second = ship();
  EXPECT_EQ(run(second), Step::Idle);
  EXPECT_EQ(second.confirms(), false) << "of one that began after the conflict";
  EXPECT_EQ(second.set_aside().size(), 1u);
  EXPECT_TRUE(second.set_aside().contains("scope.2.log.zst"));
  EXPECT_EQ(server_.posts(), posts) << "it is not sent once more";
}

TEST_F(ShipperFaultsTest, OtherSymbolsAndAnotherEndAreNoConfirmation) {
  auto writer = make_writer(test_options(session_));
  writer->write(scope_rows(*writer, 1, 5, 100));
  ASSERT_TRUE(writer->flush(1000));
  writer->abandon();
  write_text(session_ / "symbols.ndjson", "names");
  Shipper first = ship();
  ASSERT_EQ(run(first), Step::Idle);
  ASSERT_EQ(first.confirms(), true);
  change_there([](Session& session) {
    session.whole["symbols"].second = "other";
    session.windows[{"scope", "1"}].live += "{\"type\":\"clock\"}\n";
  });
  Shipper second = ship();
  EXPECT_EQ(run(second), Step::Idle);
  EXPECT_EQ(second.confirms(), false);
  EXPECT_TRUE(second.set_aside().contains("symbols.ndjson"));
  EXPECT_TRUE(second.set_aside().contains("scope.log"));
}

TEST_F(ShipperFaultsTest, SymbolsThatWereMadeAnewWithLessArrive) {
  ASSERT_TRUE(write_windows()->close(9000, {}));
  const auto write = [&](const std::string& text, std::chrono::hours age) {
    write_text(session_ / "symbols.ndjson", text);
    fs::last_write_time(session_ / "symbols.ndjson", fs::file_time_type::clock::now() - age);
    Shipper shipper = ship();
    EXPECT_EQ(run(shipper), Step::Idle);
    return std::pair(shipper.confirms(), shipper.set_aside());
  };
  EXPECT_EQ(write("many names", std::chrono::hours(2)).first, true);
  EXPECT_EQ(write("few", std::chrono::hours(1)).first, true);
  EXPECT_EQ(there().whole.at("symbols").second, "few");
  const int posts = server_.posts();
  EXPECT_EQ(write("few", std::chrono::hours(0)).first, true) << "it was only touched";
  EXPECT_EQ(server_.posts(), posts);
  const auto [is_there, aside] = write("many names", std::chrono::hours(2));
  EXPECT_EQ(is_there, false);
  EXPECT_NE(aside.at("symbols.ndjson").find("newer one"), std::string::npos);
  EXPECT_EQ(there().whole.at("symbols").second, "few");
}

TEST_F(ShipperFaultsTest, WhatWasDamagedOnItsWayIsSentOnceMore) {
  ASSERT_TRUE(write_windows()->close(9000, {}));
  int posts = 0;
  const auto refuse = [](Session& session, const std::string& bytes) {
    session.refused[sha256_of(bytes)] = "other bytes";
    return std::optional(net::reply_with("application/json", R"({"state":"quarantined"})", 422));
  };
  server_.be_mischievous([&](const net::HttpRequest& request, Session& session) {
    const bool is_hit =
        request.query_value("kind") == "window" && request.query_value("number") == "2";
    const bool is_first = is_hit && ++posts == 1;
    return is_first ? refuse(session, "damaged") : std::optional<net::HttpReply>();
  });
  Shipper shipper = ship();
  EXPECT_EQ(run(shipper), Step::Idle);
  EXPECT_EQ(shipper.confirms(), true);
  EXPECT_EQ(posts, 2);

  write_text(session_ / "symbols.ndjson", "names");
  posts = 0;
  server_.be_mischievous([&](const net::HttpRequest& request, Session& session) {
    const bool is_hit = request.query_value("kind") == "symbols";
    posts += is_hit ? 1 : 0;
    return is_hit ? refuse(session, "names") : std::optional<net::HttpReply>();
  });
  Shipper second = ship();
  EXPECT_EQ(run(second), Step::Idle);
  EXPECT_EQ(second.set_aside().at("symbols.ndjson"),
            "the server did not take it before: other bytes");
  EXPECT_EQ(posts, 1) << "the server says that it came as it is here";
}

TEST_F(ShipperFaultsTest, AFileThatWasChangedHereIsComparedAgain) {
  ASSERT_TRUE(write_windows()->close(9000, {}));
  Shipper shipper = ship();
  ASSERT_EQ(run(shipper), Step::Idle);
  ASSERT_EQ(shipper.confirms(), true);
  write_text(session_ / "scope.1.log.zst", "changed");
  EXPECT_EQ(shipper.confirms(), false);
  EXPECT_EQ(run(shipper), Step::Idle);
  EXPECT_TRUE(shipper.set_aside().contains("scope.1.log.zst"));
}

TEST_F(ShipperFaultsTest, OnePieceThatFailsHoldsUpNoOther) {
  ASSERT_TRUE(write_windows()->close(9000, {}));
  ASSERT_TRUE(fs::exists(session_ / "scope.3.log.zst"));
  server_.be_mischievous([](const net::HttpRequest& request, Session&) {
    return is_window(request, "1") ? std::optional(net::problem(500, "broken")) : std::nullopt;
  });
  Shipper shipper = ship();
  int waits = 0;
  Step step = Step::Sent;
  for (int i = 0; i < 1000 && (step == Step::Sent || step == Step::Wait); ++i) {
    step = shipper.step();
    if (step != Step::Wait) continue;
    ++waits;
    EXPECT_FALSE(shipper.is_for_all());
  }
  EXPECT_EQ(step, Step::Later);
  EXPECT_EQ(shipper.reason(), server_.url() + ": broken");
  EXPECT_EQ(waits, 3) << "it was tried before the others";
  EXPECT_FALSE((there().windows[{"scope", "2"}].sealed.empty()));
  EXPECT_TRUE(there().whole.contains("manifest"));
  EXPECT_TRUE(shipper.set_aside().empty());
  EXPECT_EQ(shipper.confirms(), false);
}

// A filter on the way that dislikes some bytes: the key is good, and everything else goes.
TEST_F(ShipperFaultsTest, APieceThatSomebodyOnTheWayForbidsHoldsUpNoOther) {
  ASSERT_TRUE(write_windows()->close(9000, {}));
  server_.be_mischievous([](const net::HttpRequest& request, Session&) {
    return is_window(request, "1") ? std::optional(net::reply_with("text/html", "<p>blocked", 403))
                                   : std::nullopt;
  });
  Shipper shipper = ship();
  EXPECT_EQ(run(shipper), Step::Idle);
  ASSERT_EQ(shipper.set_aside().size(), 1u);
  EXPECT_EQ(
      shipper.set_aside().at("scope.1.log.zst"),
      server_.url() + " takes this key, but something on the way refuses this (403 Forbidden)");
  EXPECT_FALSE((there().windows[{"scope", "2"}].sealed.empty()));
  EXPECT_TRUE(there().whole.contains("manifest"));
  EXPECT_EQ(shipper.confirms(), false);
}

// A folder may hold files that no server takes, and that take long to read.
TEST_F(ShipperFaultsTest, HugeFilesAreNamedAndHoldNothingUp) {
  ASSERT_TRUE(write_windows()->close(9000, {}));
  write_text(session_ / "symbols.ndjson", "");
  fs::resize_file(session_ / "symbols.ndjson", (uint64_t{512} << 20) + 1);
  write_text(session_ / "code.log", test_header().to_json().set("window", 1).dump() + "\n");
  fs::resize_file(session_ / "code.log", uint64_t{256} << 20);
  Shipper shipper = ship();
  EXPECT_EQ(run(shipper), Step::Idle);
  const auto aside = shipper.set_aside();
  ASSERT_EQ(aside.size(), 2u);
  EXPECT_EQ(aside.at("symbols.ndjson"), "it is larger than the 512 MiB that a server takes");
  EXPECT_EQ(aside.at("code.log"), "a line of it is longer than any of a log");
  EXPECT_FALSE(shipper.is_settling());
  EXPECT_FALSE((there().windows[{"scope", "3"}].sealed.empty()));
  EXPECT_TRUE(there().whole.contains("manifest"));
}

TEST_F(ShipperFaultsTest, ABusyServerIsBusyForAll) {
  ASSERT_TRUE(write_windows()->close(9000, {}));
  for (const int status : {429, 507}) {
    server_.be_mischievous([&](const net::HttpRequest& request, Session&) {
      return request.method == "POST" ? std::optional(net::problem(status)) : std::nullopt;
    });
    Shipper shipper = ship();
    for (int i = 0; i < 8; ++i) EXPECT_EQ(shipper.step(), Step::Wait) << "of no piece alone";
    EXPECT_TRUE(shipper.is_for_all());
  }
}

// Two agents at once: the other one has seen more of the file, which grows.
TEST_F(ShipperFaultsTest, AnotherSenderThatIsFurtherIsNoContradiction) {
  auto writer = make_writer(test_options(session_));
  const auto grow = [&](int part) {
    writer->write(scope_rows(*writer, 1 + part * 10, 5, 100 + part * 100));
    EXPECT_TRUE(writer->flush(1000 + part));
  };
  grow(0);
  Shipper shipper = ship();
  ASSERT_EQ(run(shipper), Step::Idle);
  // While its lines are on their way, the file grows, and somebody else sends all of it.
  int raced = 0;
  server_.be_mischievous([&](const net::HttpRequest& request, Session& session) {
    if (request.query_value("kind") == "live" && request.query_value("channel") == "scope" &&
        raced < 8) {
      grow(100 + ++raced);
      session.windows[{"scope", "1"}].live = read_text(session_ / "scope.log");
    }
    return std::optional<net::HttpReply>();
  });
  for (int part = 1; part < 10; ++part) {
    grow(part);
    EXPECT_EQ(run(shipper), Step::Idle);
  }
  EXPECT_EQ(raced, 8);
  EXPECT_TRUE(shipper.set_aside().empty()) << shipper.set_aside().begin()->second;
  EXPECT_EQ(live_there(), read_text(session_ / "scope.log"));
}

// Another sender's sealed window comes before our lines of it.
TEST_F(ShipperFaultsTest, LinesThatAreSupersededAreNoConflict) {
  auto writer = make_writer(test_options(session_));
  writer->write(scope_rows(*writer, 1, 5, 100));
  ASSERT_TRUE(writer->flush(1000));
  server_.be_mischievous([](const net::HttpRequest& request, Session&) {
    const bool is_live = request.query_value("kind") == "live";
    return is_live ? std::optional(
                         net::reply_with("application/json", R"({"state":"superseded","end":"0"})"))
                   : std::nullopt;
  });
  Shipper shipper = ship();
  ASSERT_EQ(run(shipper), Step::Idle);
  ASSERT_TRUE(writer->close(9000, {}));
  EXPECT_EQ(run(shipper), Step::Idle);
  EXPECT_TRUE(shipper.set_aside().empty()) << shipper.set_aside().begin()->second;
  EXPECT_EQ(shipper.confirms(), true);
}

TEST_F(ShipperFaultsTest, WhatIsWrongWithOneWindowIsForgottenWithIt) {
  format::LogOptions options = test_options(session_);
  options.window_bytes = 4096;
  auto writer = make_writer(options);
  int window = 0;
  server_.be_mischievous([&](const net::HttpRequest& request, Session&) {
    const bool is_hit = request.query_value("kind") == "live" &&
                        request.query_value("channel") == "scope" && window == 0;
    return is_hit ? std::optional(net::problem(422, "damaged")) : std::nullopt;
  });
  Shipper shipper = ship();
  const auto write = [&] {
    for (int row = 0; row < 500; row += 10) {
      writer->write(scope_rows(*writer, 1 + window * 500 + row, 10, 100));
      EXPECT_TRUE(writer->flush(1000 + window));
    }
  };
  writer->write(scope_rows(*writer, 90'001, 10, 100));
  ASSERT_TRUE(writer->flush(900));
  EXPECT_EQ(run(shipper), Step::Idle);
  EXPECT_EQ(shipper.set_aside().count("scope.log"), 1u);
  for (window = 1; !fs::exists(session_ / "scope.1.log.zst"); ++window) write();
  EXPECT_EQ(run(shipper), Step::Idle);
  EXPECT_EQ(shipper.set_aside().count("scope.log"), 0u) << "it is sealed, and there";
  writer->write(scope_rows(*writer, 95'001, 10, 100));
  ASSERT_TRUE(writer->flush(99'000));
  EXPECT_EQ(run(shipper), Step::Idle);
  bool is_there = false;
  for (const auto& [key, one] : there().windows) {
    is_there = is_there || one.live == read_text(session_ / "scope.log");
  }
  EXPECT_TRUE(is_there) << "the next window's lines are sent";
}

TEST_F(ShipperFaultsTest, WhatWasRefusedBeforeIsNotSentAgain) {
  ASSERT_TRUE(write_windows()->close(9000, {}));
  const std::string bytes = read_text(session_ / "scope.2.log.zst");
  change_there([&](Session& session) { session.refused[sha256_of(bytes)] = "it is damaged"; });
  int sent = 0;
  server_.be_mischievous([&](const net::HttpRequest& request, Session&) {
    sent += is_window(request, "2") ? 1 : 0;
    return std::optional<net::HttpReply>();
  });
  Shipper shipper = ship();
  EXPECT_EQ(run(shipper), Step::Idle);
  EXPECT_EQ(sent, 0);
  EXPECT_EQ(shipper.set_aside().at("scope.2.log.zst"),
            "the server did not take it before: it is damaged");
}

TEST_F(ShipperFaultsTest, TheManifestOfALiveSessionIsSentNowAndThen) {
  auto writer = write_windows();
  Shipper shipper = ship();
  int manifests = 0;
  server_.be_mischievous([&](const net::HttpRequest& request, Session&) {
    manifests += request.query_value("kind") == "manifest" ? 1 : 0;
    return std::optional<net::HttpReply>();
  });
  for (int part = 1; part < 10; ++part) {
    for (int row = 0; row < 500; row += 10) {
      writer->write(scope_rows(*writer, 10'000 + part * 500 + row, 10, 100));
    }
    ASSERT_TRUE(writer->flush(9000 + part));
    EXPECT_EQ(run(shipper), Step::Idle);
  }
  EXPECT_LE(manifests, 2) << "not each time that it has grown";
  ASSERT_TRUE(writer->close(99'000, {}));
  EXPECT_EQ(run(shipper), Step::Idle);
  EXPECT_EQ(there().whole["manifest"].second, read_text(session_ / "manifest.ndjson"));
  EXPECT_EQ(shipper.confirms(), true);
}

// A clock that goes back makes a file as new as can be, for hours.
TEST_F(ShipperFaultsTest, TheWallClockDoesNotDecideWhatIsFinal) {
  make_writer(test_options(session_))->abandon();
  fs::last_write_time(session_ / "system.log", fs::file_time_type::clock::now() + 24h);
  ShipOptions options;
  options.final_after = 1ms;
  Shipper shipper = ship(options);
  while (!there().windows[{"system", "1"}].is_final) {
    ASSERT_NE(shipper.step(), Step::Wait) << shipper.reason();
  }
  EXPECT_FALSE(shipper.is_settling());

  options.final_after = 1h;
  change_there([](Session& session) { session = {}; });
  fs::last_write_time(session_ / "system.log", fs::file_time_type::clock::now() - 24h);
  Shipper patient = ship(options);
  EXPECT_EQ(run(patient), Step::Idle);
  EXPECT_TRUE(patient.is_settling());
  EXPECT_FALSE((there().windows[{"system", "1"}].is_final)) << "it is new to us";
}

// A body that takes longer than a server waits would never arrive.
TEST_F(ShipperFaultsTest, LinesOfOthersGoWhileAFileIsOnItsWay) {
  ASSERT_TRUE(write_windows()->close(9000, {}));
  ShipOptions options;
  int calls = 0;
  options.meanwhile = [&] { ++calls; };
  Shipper shipper = ship(options);
  ASSERT_EQ(shipper.step(), Step::Sent);
  EXPECT_GE(calls, 1);
}

TEST_F(ShipperFaultsTest, LiveLinesGoByAnotherConnection) {
  auto writer = make_writer(test_options(session_));
  writer->write(scope_rows(*writer, 1, 5, 100));
  ASSERT_TRUE(writer->flush(1000));
  Shipper shipper = ship();
  ASSERT_EQ(run(shipper), Step::Idle);
  writer->write(scope_rows(*writer, 6, 5, 900));
  ASSERT_TRUE(writer->flush(2000));
  Ingest& other = ingest();
  while (shipper.step_live(other) == Step::Sent) {
  }
  EXPECT_EQ(live_there(), read_text(session_ / "scope.log"));
}

}  // namespace
}  // namespace gpufl::agent
