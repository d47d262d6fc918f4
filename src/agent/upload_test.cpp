// SPDX-License-Identifier: Apache-2.0
#include "agent/upload.hpp"

#include <gtest/gtest.h>

#include "agent/test_server.hpp"
#include "format/session_files.hpp"
#include "format/test_session.hpp"

namespace gpufl::agent {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using namespace format::testing;
using testing::make_key;
using testing::StandInServer;
using Extent = UploadOutcome::Extent;
using Session = StandInServer::Session;

class UploadTest : public ::testing::Test {
 protected:
  fs::path record(const std::string& name, const format::SessionHeader& header = test_header()) {
    const fs::path dir = dir_.path() / name;
    format::LogOptions options = test_options(dir);
    options.window_bytes = 4096;
    auto writer = format::LogWriter::create(options, header);
    EXPECT_TRUE(writer) << writer.status().text();
    for (int row = 0; row < 500; row += 10) {
      (*writer)->write(scope_rows(**writer, 1 + row, 10, 100));
    }
    EXPECT_TRUE((*writer)->close(9000, {}));
    return dir;
  }
  UploadRequest request(std::vector<fs::path> sessions) {
    UploadRequest made;
    made.sessions = std::move(sessions);
    made.server.backend_url = server_.url();
    made.server.api_key = make_key();
    made.variables = [](const std::string&) { return std::string(); };
    made.retry_for = 0ms;
    return made;
  }
  Session there() { return server_.session(test_header().session_id); }

  base::TempDir dir_;
  StandInServer server_;
};

TEST_F(UploadTest, SendsSessionsAndSaysSo) {
  format::SessionHeader other = test_header();
  other.session_id = "20261115T034513Z-0000000000000001";
  const auto sessions = {record("one"), record("two", other)};
  uint64_t told = 0;
  UploadRequest asked = request(sessions);
  asked.on_progress = [&](const UploadProgress& progress) {
    EXPECT_GE(progress.bytes, told);
    EXPECT_GE(progress.total, progress.bytes);
    told = progress.bytes;
  };
  const UploadOutcome outcome = upload(asked);
  EXPECT_EQ(outcome.extent, Extent::All);
  EXPECT_EQ(outcome.warnings, std::vector<std::string>{});
  EXPECT_EQ(outcome.rows, 1000u);
  EXPECT_EQ(outcome.bytes, told);
  EXPECT_EQ(outcome.session_ids.size(), 2u);
  EXPECT_EQ(outcome.pages.size(), 2u);
  const base::Json json = outcome.to_json();
  EXPECT_TRUE(json["success"].as_bool());
  EXPECT_EQ(json["events_uploaded"].as_integer(), 1000);
  EXPECT_EQ(json["spool_ids"].items()[1].as_string(), other.session_id);

  const UploadOutcome again = upload(request(sessions));
  EXPECT_EQ(again.extent, Extent::All);
  EXPECT_EQ(again.files_processed, 0u);
  EXPECT_EQ(again.files_known, outcome.files_processed);
}

TEST_F(UploadTest, APartIsNotAll) {
  const fs::path session = record("one");
  server_.be_mischievous([](const net::HttpRequest& request, Session&) {
    const bool is_hit =
        request.query_value("kind") == "window" && request.query_value("channel") == "system";
    return is_hit ? std::optional(net::problem(422, "damaged", "no such row")) : std::nullopt;
  });
  const UploadOutcome outcome = upload(request({session}));
  EXPECT_EQ(outcome.extent, Extent::Part);
  ASSERT_EQ(outcome.warnings.size(), 1u);
  EXPECT_EQ(outcome.warnings[0], (session / "system.1.log.zst").string() +
                                     ": not taken: " + server_.url() + ": no such row");
  EXPECT_TRUE(outcome.session_ids.empty());
}

TEST_F(UploadTest, WhatCannotBeReadIsMissing) {
  const fs::path session = record("one");
  fs::create_symlink("elsewhere", session / "disassembly.ndjson.zst");
  const UploadOutcome outcome = upload(request({session}));
  EXPECT_EQ(outcome.extent, Extent::Part);
  ASSERT_EQ(outcome.warnings.size(), 1u);
  EXPECT_TRUE(outcome.warnings[0].starts_with((session / "disassembly.ndjson.zst").string() +
                                              ": not sent: "))
      << outcome.warnings[0];
}

TEST_F(UploadTest, NothingIsNone) {
  const fs::path session = record("one");
  UploadRequest asked = request({session});
  asked.server.api_key = make_key('2');
  UploadOutcome outcome = upload(asked);
  EXPECT_EQ(outcome.extent, Extent::None);
  EXPECT_EQ(outcome.warnings.at(0), server_.url() + " does not know the key: it may be revoked");
  asked.server = {};
  outcome = upload(asked);
  EXPECT_EQ(outcome.extent, Extent::None);
  EXPECT_EQ(outcome.warnings.at(0),
            "no server is named: run 'gpufl login URL', or set GPUFL_BACKEND_URL");
  outcome = upload(request({dir_.path() / "absent"}));
  EXPECT_EQ(outcome.extent, Extent::None);
  EXPECT_FALSE(outcome.warnings.empty());
}

TEST_F(UploadTest, TriesAgainAsLongAsItMay) {
  const fs::path session = record("one");
  int asked = 0;
  server_.be_mischievous([&](const net::HttpRequest&, Session&) {
    if (++asked != 2) return std::optional<net::HttpReply>();
    auto reply = net::problem(503);
    reply.headers.emplace_back("Retry-After", "0");
    return std::optional(std::move(reply));
  });
  UploadRequest patient = request({session});
  patient.retry_for = 10min;
  EXPECT_EQ(upload(patient).extent, Extent::All);

  server_.be_mischievous(
      [&](const net::HttpRequest&, Session&) { return std::optional(net::problem(503, "busy")); });
  const UploadOutcome outcome = upload(request({session}));
  EXPECT_EQ(outcome.extent, Extent::None);
  EXPECT_EQ(outcome.warnings.at(0), session.string() + ": " + server_.url() + ": busy");
}

TEST_F(UploadTest, CountsRetriesHoweverLongTheServerAsksToWait) {
  const fs::path session = record("one");
  int asked = 0;
  server_.be_mischievous([&](const net::HttpRequest&, Session&) {
    if (++asked > 1) return std::optional<net::HttpReply>();
    auto reply = net::problem(429);
    reply.headers.emplace_back("Retry-After", "1");
    return std::optional(std::move(reply));
  });
  UploadRequest counted = request({session});
  counted.retries = 1;
  counted.retry_delay = 1ms;
  counted.timeout = 10min;
  EXPECT_EQ(upload(counted).extent, Extent::All);

  asked = 0;
  counted.timeout = 500ms;
  EXPECT_EQ(upload(counted).extent, Extent::None) << "a second is longer than it may take";

  asked = 0;
  server_.be_mischievous([&](const net::HttpRequest&, Session&) {
    ++asked;
    return std::optional(net::problem(503));
  });
  counted.timeout = 10min;
  counted.retries = 3;
  EXPECT_EQ(upload(counted).extent, Extent::None);
  EXPECT_EQ(asked, 4);
}

TEST_F(UploadTest, SaysOnceWhyItWaits) {
  const fs::path session = record("one");
  server_.be_mischievous(
      [](const net::HttpRequest&, Session&) { return std::optional(net::problem(503, "busy")); });
  UploadRequest told = request({session});
  told.retries = 3;
  told.retry_delay = 1ms;
  std::vector<std::string> waited_for;
  told.on_wait = [&](const std::string& why) { waited_for.push_back(why); };
  EXPECT_EQ(upload(told).extent, Extent::None);
  EXPECT_EQ(waited_for, std::vector{server_.url() + ": busy"});
}

TEST_F(UploadTest, HasATimeAltogether) {
  const fs::path session = record("one");
  server_.be_mischievous(
      [](const net::HttpRequest&, Session&) { return std::optional(net::problem(503)); });
  UploadRequest asked = request({session});
  asked.retry_for = 10min;
  asked.timeout = 50ms;
  const UploadOutcome outcome = upload(asked);
  EXPECT_EQ(outcome.extent, Extent::None);
  EXPECT_EQ(outcome.warnings.at(0),
            session.string() + ": " + server_.url() + ": Service Unavailable")
      << "what keeps it, and at once: it may not wait as long as it would have to";
}

}  // namespace
}  // namespace gpufl::agent
