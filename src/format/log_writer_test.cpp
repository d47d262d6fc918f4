// SPDX-License-Identifier: Apache-2.0
#include "format/log_writer.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "format/limits.hpp"
#include "format/session_files.hpp"
#include "format/test_session.hpp"
#include "format/verify.hpp"

namespace gpufl::format {
namespace {

using base::Json;
using testing::make_writer;
using testing::read_all;
using testing::read_text;
using testing::Recorder;
using testing::scope_rows;
using testing::TempDir;
using testing::test_options;

constexpr int64_t kSecond = 1'000'000'000;

std::vector<int64_t> numbers(int64_t first, int64_t count) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < count; ++i) all.push_back(first + i);
  return all;
}

TEST(LogWriterTest, WritesASessionThatIsComplete) {
  const TempDir dir;
  auto writer = make_writer(test_options(dir.path() / "s"));
  ASSERT_NE(writer, nullptr);
  writer->write(scope_rows(*writer, 1, 5, 100));
  Json event = Json::object();
  event.set("time", 150).set("name", "phase");
  writer->write(Kind::Event, event);
  EXPECT_TRUE(writer->flush(1000).is_ok());
  EXPECT_TRUE(writer->close(2000, Ledger()).is_ok());
  EXPECT_TRUE(writer->close(3000, Ledger()).is_ok());

  EXPECT_EQ(testing::file_names(dir.path() / "s"),
            (std::vector<std::string>{"manifest.ndjson", "scope.1.log.zst", "system.1.log.zst"}));
  const VerifyResult result = verify_session(dir.path() / "s");
  EXPECT_EQ(result.verdict, Verdict::Complete) << result.to_json().dump();
  EXPECT_EQ(result.windows.sealed, 2u);
  ASSERT_TRUE(result.ledger);
  EXPECT_EQ(result.ledger->writer.rows.at("scope"), 5u);
  EXPECT_EQ(result.ledger->writer.rows.at("event"), 1u);
  EXPECT_EQ(result.last_ns, 2000);
}

TEST(LogWriterTest, LeavesEveryFlushReadableInTheLiveFile) {
  const TempDir dir;
  auto writer = make_writer(test_options(dir.path()));
  EXPECT_EQ(testing::file_names(dir.path()),
            (std::vector<std::string>{"lock", "manifest.ndjson", "system.log"}));
  writer->write(scope_rows(*writer, 1, 3, 100));
  EXPECT_FALSE(std::filesystem::exists(dir.path() / "scope.log")) << "nothing before the flush";
  EXPECT_TRUE(writer->flush(1000).is_ok());
  const std::string text = read_text(dir.path() / "scope.log");
  EXPECT_EQ(text.back(), '\n');
  const auto header = Json::parse(text.substr(0, text.find('\n')));
  ASSERT_TRUE(header.is_ok());
  EXPECT_EQ((*header)["channel"].as_string(), "scope");
  EXPECT_EQ((*header)["window"].as_integer(), 1);
  const auto reader = SessionReader::open(dir.path());
  ASSERT_TRUE(reader.is_ok());
  EXPECT_TRUE(reader->is_live());
  EXPECT_EQ(read_all(dir.path()).scope_ids, numbers(1, 3));
  const VerifyResult result = verify_session(dir.path());
  EXPECT_EQ(result.verdict, Verdict::Live);
  EXPECT_EQ(result.reasons, (std::vector<std::string>{"it is still being written"}));
}

TEST(LogWriterTest, RotatesBySizeAndDefinesNamesAnew) {
  const TempDir dir;
  LogOptions options = test_options(dir.path());
  options.window_bytes = 2000;
  auto writer = make_writer(options);
  const int64_t name = writer->intern(Dict::Name, "shared");
  for (int64_t i = 1; i <= 20; ++i) {
    Batch rows = scope_rows(*writer, i, 1, i * 100);
    rows.mutable_column(scope_column::kName).assign(1, name);
    writer->write(rows);
    EXPECT_TRUE(writer->flush(i * 1000).is_ok());
  }
  EXPECT_TRUE(writer->close(kSecond, Ledger()).is_ok());
  const auto reader = SessionReader::open(dir.path());
  ASSERT_TRUE(reader.is_ok());
  EXPECT_GE(reader->windows().size(), 3u);
  const Recorder all = read_all(dir.path());
  EXPECT_EQ(all.scope_ids, numbers(1, 20));
  for (const auto& [id, text] : all.scope_names) EXPECT_EQ(text, "shared") << id;
  EXPECT_EQ(verify_session(dir.path()).verdict, Verdict::Complete);
}

TEST(LogWriterTest, RotatesByAge) {
  const TempDir dir;
  LogOptions options = test_options(dir.path());
  options.window_age_ns = 10 * kSecond;
  auto writer = make_writer(options);
  for (int64_t second = 0; second < 35; ++second) {
    writer->write(scope_rows(*writer, second + 1, 1, second * kSecond));
    EXPECT_TRUE(writer->flush(second * kSecond).is_ok());
  }
  EXPECT_TRUE(writer->close(35 * kSecond, Ledger()).is_ok());
  const auto reader = SessionReader::open(dir.path());
  const auto scope_windows =
      std::count_if(reader->windows().begin(), reader->windows().end(),
                    [](const WindowFile& w) { return w.channel == Channel::Scope; });
  EXPECT_EQ(scope_windows, 4);
  EXPECT_EQ(read_all(dir.path()).scope_ids, numbers(1, 35));
}

TEST(LogWriterTest, GoesOutEarlyWhenMuchIsBuffered) {
  const TempDir dir;
  auto writer = make_writer(test_options(dir.path()));
  Json event = Json::object();
  event.set("time", 1).set("text", std::string(300'000, 'x'));
  for (int i = 0; i < 5; ++i) writer->write(Kind::Event, event);
  EXPECT_GT(std::filesystem::file_size(dir.path() / "system.log"), 1'000'000u);
  EXPECT_TRUE(writer->close(10, Ledger()).is_ok());
  EXPECT_EQ(read_all(dir.path()).of(Kind::Event).size(), 5u);
}

TEST(LogWriterTest, RefusesLinesOverTheBound) {
  const TempDir dir;
  auto writer = make_writer(test_options(dir.path()));
  Json event = Json::object();
  event.set("text", std::string(kMaxObjectLineBytes, 'x'));
  writer->write(Kind::Event, event);
  EXPECT_TRUE(writer->close(10, Ledger()).is_ok());
  EXPECT_EQ(writer->counts().dropped.at("line_too_long"), 1u);
  const VerifyResult result = verify_session(dir.path());
  EXPECT_EQ(result.verdict, Verdict::Losses);
  EXPECT_EQ(result.ledger->writer.dropped.at("line_too_long"), 1u);
}

TEST(LogWriterTest, SaysWhatIsSaidOnceInEveryWindow) {
  const TempDir dir;
  LogOptions options = test_options(dir.path());
  options.window_age_ns = kSecond;
  auto writer = make_writer(options);
  Json device = Json::object();
  device.set("device", 0).set("name", "GPU");
  writer->write(Kind::Device, device);
  Json capability = Json::object();
  capability.set("feature", "health").set("asked", "on").set("got", "on");
  writer->write(Kind::Capability, capability);
  for (int64_t second = 0; second < 4; ++second) {
    Json event = Json::object();
    event.set("time", second * kSecond).set("name", "tick");
    writer->write(Kind::Event, event);
    EXPECT_TRUE(writer->flush(second * kSecond).is_ok());
  }
  EXPECT_TRUE(writer->close(4 * kSecond, Ledger()).is_ok());
  const Recorder whole = read_all(dir.path());
  EXPECT_EQ(whole.of(Kind::Device).size(), 1u);
  EXPECT_EQ(whole.of(Kind::Capability).size(), 1u);
  EXPECT_EQ(verify_session(dir.path()).verdict, Verdict::Complete);

  std::filesystem::remove(dir.path() / "system.1.log.zst");
  const Recorder rest = read_all(dir.path());
  ASSERT_EQ(rest.of(Kind::Device).size(), 1u);
  EXPECT_EQ(rest.of(Kind::Device)[0].dump(), R"({"type":"device","device":0,"name":"GPU"})");
  EXPECT_EQ(rest.of(Kind::Capability).size(), 1u);
}

TEST(LogWriterTest, CountsDictionaryOverflow) {
  const TempDir dir;
  auto writer = make_writer(test_options(dir.path()));
  const std::string huge = R"({"k":")" + std::string(kMaxValueBytes, 'x') + R"("})";
  EXPECT_GT(writer->intern(Dict::Config, huge), 0);
  EXPECT_EQ(writer->counts().dictionary_overflows, 1u);
  EXPECT_TRUE(writer->close(10, Ledger()).is_ok());
  EXPECT_EQ(verify_session(dir.path()).verdict, Verdict::Losses);
}

TEST(LogWriterTest, TakesNoFolderThatHoldsASession) {
  const TempDir dir;
  auto writer = make_writer(test_options(dir.path()));
  EXPECT_EQ(LogWriter::create(test_options(dir.path()), testing::test_header()).status().code(),
            base::Code::Unavailable);
  EXPECT_TRUE(writer->close(10, Ledger()).is_ok());
  EXPECT_FALSE(LogWriter::create(test_options(dir.path()), testing::test_header()).is_ok());
  EXPECT_EQ(verify_session(dir.path()).verdict, Verdict::Complete) << "and leaves it alone";

  testing::write_text(dir.path() / "file", "");
  EXPECT_FALSE(
      LogWriter::create(test_options(dir.path() / "file" / "s"), testing::test_header()).is_ok());
}

TEST(LogWriterTest, IgnoresWhatComesAfterTheEnd) {
  const TempDir dir;
  auto writer = make_writer(test_options(dir.path()));
  EXPECT_TRUE(writer->close(10, Ledger()).is_ok());
  writer->write(scope_rows(*writer, 1, 1, 1));
  writer->write(Kind::Event, Json::object());
  EXPECT_TRUE(writer->flush(20).is_ok());
  EXPECT_EQ(verify_session(dir.path()).verdict, Verdict::Complete);
}

TEST(LogWriterTest, SyncsWhenAsked) {
  const TempDir dir;
  LogOptions options = test_options(dir.path());
  options.fsync_always = true;
  auto writer = make_writer(options);
  writer->write(scope_rows(*writer, 1, 1, 1));
  EXPECT_TRUE(writer->flush(5).is_ok());
  EXPECT_TRUE(writer->close(10, Ledger()).is_ok());
  EXPECT_EQ(verify_session(dir.path()).verdict, Verdict::Complete);
}

TEST(LogWriterTest, CanBeCountedFromAnotherThread) {
  const TempDir dir;
  LogOptions options = test_options(dir.path());
  options.window_bytes = 4000;
  auto writer = make_writer(options);
  std::atomic<bool> stop = false;
  std::thread watcher([&] {
    uint64_t before = 0;
    while (!stop) {
      const WriterCounts counts = writer->counts();
      EXPECT_GE(counts.raw_bytes, before);
      before = counts.raw_bytes;
    }
  });
  for (int64_t i = 1; i <= 200; ++i) {
    writer->write(scope_rows(*writer, i, 1, i));
    EXPECT_TRUE(writer->flush(i * 1000).is_ok());
  }
  EXPECT_TRUE(writer->close(kSecond, Ledger()).is_ok());
  stop = true;
  watcher.join();
  EXPECT_EQ(writer->counts().rows.at("scope"), 200u);
  EXPECT_EQ(verify_session(dir.path()).verdict, Verdict::Complete);
}

TEST(LogWriterTest, IsLeftAloneByAForkedChild) {
  const TempDir dir;
  LogOptions options = test_options(dir.path());
  options.window_bytes = 1;  // the sealing thread runs
  auto writer = make_writer(options);
  writer->write(scope_rows(*writer, 1, 1, 1));
  EXPECT_TRUE(writer->flush(1000).is_ok());
  writer->write(scope_rows(*writer, 2, 1, 1));
  const pid_t child = fork();
  if (child == 0) {
    writer->abandon();
    writer->write(scope_rows(*writer, 3, 1, 1));
    const bool quiet = writer->flush(2000).is_ok();
    writer.reset();
    _exit(quiet ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(is_locked(dir.path()));
  EXPECT_TRUE(writer->close(3000, Ledger()).is_ok());
  EXPECT_EQ(read_all(dir.path()).scope_ids, numbers(1, 2));
  EXPECT_EQ(verify_session(dir.path()).verdict, Verdict::Complete);
}

TEST(LogWriterTest, LeavesWhatWasFlushedWhenKilled) {
  const TempDir dir;
  const pid_t child = fork();
  if (child == 0) {
    LogOptions options = test_options(dir.path());
    options.window_bytes = 1000;
    auto writer = make_writer(options);
    for (int64_t i = 1; i <= 50; ++i) {
      writer->write(scope_rows(*writer, i, 1, i));
      if (!writer->flush(i * 1000).is_ok()) _exit(1);
    }
    writer->write(scope_rows(*writer, 51, 1, 51));  // never flushed
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(read_all(dir.path()).scope_ids, numbers(1, 50));
  const VerifyResult result = verify_session(dir.path());
  EXPECT_EQ(result.verdict, Verdict::Losses);
  EXPECT_FALSE(result.live);
  EXPECT_EQ(result.reasons,
            (std::vector<std::string>{"it was cut off: " + std::string(kUnclosed)}));
}

}  // namespace
}  // namespace gpufl::format
