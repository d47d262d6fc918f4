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
            "it took longer than it may; what is left goes with the next upload");
}

class RedactionTest : public UploadTest {
 protected:
  // What is recorded holds two secrets.
  fs::path record_secrets() {
    format::SessionHeader header = test_header();
    header.command = "train --token=hunter2";
    fs::path dir = record("one", header);
    base::Json first = header.to_json();
    first.set("channel", "code").set("window", 1);
    write_text(dir / "code.1.log", first.dump() + "\n" +
                                       "{\"type\":\"source\",\"time\":1,\"path\":\"a.cu\",\"text\":"
                                       "\"hunter2\"}\n{\"type\":\"source\",\"text\":\"hunter2");
    const std::string line = header.to_json().dump() +
                             "\n{\"type\":\"source\",\"path\":\"a\","
                             "\"lines\":[\"hunter2\"]}\n";
    write_text(dir / "symbols.ndjson", line + "{\"type\":\"end\",\"hash\":\"old\"}\n");
    write_text(dir / "disassembly.ndjson.zst", "hunter2");
    return dir;
  }
  static std::string all_text(const fs::path& dir) {
    std::string text;
    for (const std::string& name : file_names(dir)) {
      const auto outcome = format::read_window(dir / name, [&](std::string_view line) {
        text.append(line) += '\n';
        return true;
      });
      text += outcome.tail;
    }
    return text;
  }
};

TEST_F(RedactionTest, LeavesOutWhatIsAskedFor) {
  const fs::path session = record_secrets();
  const std::string before = all_text(session);
  const fs::path copy = dir_.path() / "copy";
  fs::create_directory(copy);
  const base::Status status = copy_redacted(session, copy, {.source = true, .command = true});
  ASSERT_TRUE(status) << status.text();
  EXPECT_EQ(all_text(copy).find("hunter2"), std::string::npos);
  EXPECT_EQ(all_text(copy).find("--token"), std::string::npos);
  EXPECT_NE(all_text(copy).find("\"source_text\":false"), std::string::npos);
  EXPECT_EQ(all_text(session), before) << "the session stays as it is";
  EXPECT_EQ(read_all(copy).rows, read_all(session).rows);
  for (const auto& problem : read_all(copy).problems) {
    EXPECT_TRUE(problem.kind == format::Problem::Kind::TornLine) << problem.text;
  }
}

TEST_F(RedactionTest, LeavesOutNothingElse) {
  const fs::path session = record_secrets();
  const fs::path copy = dir_.path() / "copy";
  fs::create_directory(copy);
  ASSERT_TRUE(copy_redacted(session, copy, {.source = false, .command = true}));
  EXPECT_NE(read_text(copy / "code.1.log").find("\"text\":\"hunter2\""), std::string::npos);
  EXPECT_EQ(read_text(copy / "code.1.log").find("--token"), std::string::npos);
  fs::remove_all(copy);
  fs::create_directory(copy);
  ASSERT_TRUE(copy_redacted(session, copy, {.source = true, .command = false}));
  EXPECT_NE(read_text(copy / "code.1.log").find("--token=hunter2"), std::string::npos);
  EXPECT_EQ(read_text(copy / "code.1.log").find("\"text\""), std::string::npos);
}

TEST_F(RedactionTest, IsWhatIsSent) {
  const fs::path session = record_secrets();
  UploadRequest asked = request({session});
  asked.redaction = {.source = true, .command = true};
  const UploadOutcome outcome = upload(asked);
  EXPECT_EQ(outcome.extent, Extent::All) << outcome.to_json().dump();
  Session sent = there();
  EXPECT_FALSE(sent.whole.contains("disassembly"));
  const fs::path arrived = dir_.path() / "arrived";
  fs::create_directory(arrived);
  for (const auto& [key, window] : sent.windows) {
    const bool is_sealed = !window.sealed.empty();
    write_text(arrived / (key.first + "." + key.second + (is_sealed ? ".log.zst" : ".log")),
               is_sealed ? window.sealed : window.live);
  }
  for (const auto& [kind, whole] : sent.whole)
    write_text(arrived / (kind + ".ndjson"), whole.second);
  EXPECT_EQ(all_text(arrived).find("hunter2"), std::string::npos);
  EXPECT_EQ(read_all(arrived).rows, read_all(session).rows);
  EXPECT_EQ(upload(asked).files_processed, 0u) << "the same again";
}

TEST_F(RedactionTest, NeedsASessionThatHasEnded) {
  const fs::path dir = dir_.path() / "live";
  auto writer = make_writer(test_options(dir));
  UploadRequest asked = request({dir});
  asked.redaction.command = true;
  const UploadOutcome outcome = upload(asked);
  EXPECT_EQ(outcome.extent, Extent::None);
  EXPECT_EQ(outcome.warnings.at(0), dir.string() +
                                        " is being written: nothing can be left out of it until it "
                                        "has ended");
  EXPECT_EQ(server_.posts(), 0);
}

}  // namespace
}  // namespace gpufl::agent
