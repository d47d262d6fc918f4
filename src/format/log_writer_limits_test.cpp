// SPDX-License-Identifier: Apache-2.0
// What the writer does when there is no room: real files, tiny limits.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/eventually.hpp"
#include "format/log_writer.hpp"
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

uint64_t folder_bytes(const std::filesystem::path& dir) {
  uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir)) {
    std::error_code gone;
    const uint64_t size = entry.file_size(gone);
    if (!gone) bytes += size;
  }
  return bytes;
}

// "scope.3.log": closed, and not sealed yet.
bool has_unsealed_window(const std::filesystem::path& dir) {
  for (const auto& entry : std::filesystem::directory_iterator(dir)) {
    const std::filesystem::path name = entry.path().filename();
    if (name.extension() == ".log" && name.stem().has_extension()) return true;
  }
  return false;
}

std::vector<std::string> event_names(const Recorder& recorder) {
  std::vector<std::string> names;
  for (const Json& event : recorder.of(Kind::Event)) names.push_back(event["name"].as_string());
  return names;
}

// A limit on the size of files makes write() short and then fail, as a full disk does. The signal
// that comes with it would end the process: the writer has to keep it away.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(uint64_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

// A file system of 256 KiB, where the test may mount one.
class SmallDisk {
 public:
  SmallDisk() { mounted_ = mount("none", dir_.path().c_str(), "tmpfs", 0, "size=256k") == 0; }
  ~SmallDisk() {
    if (mounted_) umount2(dir_.path().c_str(), MNT_DETACH);
  }
  bool is_mounted() const { return mounted_; }
  const std::filesystem::path& path() const { return dir_.path(); }

 private:
  TempDir dir_;
  bool mounted_ = false;
};

TEST(SpoolTest, DropNewKeepsTheBeginningAndTellsOnce) {
  const TempDir dir;
  LogOptions options = test_options(dir.path());
  options.spool_bytes = 20'000;
  auto writer = make_writer(options);
  for (int64_t i = 1; i <= 500; ++i) {
    writer->write(scope_rows(*writer, i, 1, i));
    EXPECT_TRUE(writer->flush(i * 1000).is_ok());
    EXPECT_LE(folder_bytes(dir.path()), options.spool_bytes + 1000);
  }
  const WriterCounts counts = writer->counts();
  const uint64_t kept = counts.rows.at("scope");
  EXPECT_GT(kept, 20u);
  EXPECT_EQ(counts.dropped.at("spool_full"), 500 - kept);
  EXPECT_TRUE(writer->close(kSecond, Ledger()).is_ok());

  const Recorder all = read_all(dir.path());
  ASSERT_EQ(all.scope_ids.size(), kept);
  EXPECT_EQ(all.scope_ids.front(), 1);
  EXPECT_EQ(all.scope_ids.back(), static_cast<int64_t>(kept));
  EXPECT_EQ(event_names(all), std::vector<std::string>{"log_paused"});
  const VerifyResult result = verify_session(dir.path());
  EXPECT_EQ(result.verdict, Verdict::Losses);
  EXPECT_EQ(result.reasons, std::vector<std::string>{"its ledger lists losses: spool_full " +
                                                     std::to_string(500 - kept)});
}

TEST(SpoolTest, DropNewGoesOnWhenSealingMadeRoom) {
  const TempDir dir;
  LogOptions options = test_options(dir.path());
  options.spool_bytes = 200'000;
  options.window_age_ns = 100 * kSecond;
  auto writer = make_writer(options);
  int64_t id = 1;
  for (; writer->counts().dropped.empty(); ++id) {
    ASSERT_LT(id, 100'000);
    writer->write(scope_rows(*writer, id, 1, id));
    EXPECT_TRUE(writer->flush(id).is_ok());
  }
  // The windows are due: closing and sealing them makes them several times smaller.
  EXPECT_TRUE(writer->flush(200 * kSecond).is_ok());
  const auto raw_is_gone = [&] {
    return !std::filesystem::exists(dir.path() / "scope.1.log") &&
           std::filesystem::exists(dir.path() / "scope.1.log.zst");
  };
  ASSERT_TRUE(base::eventually(raw_is_gone));
  writer->write(scope_rows(*writer, 900'000, 1, 1));
  EXPECT_TRUE(writer->flush(201 * kSecond).is_ok());
  EXPECT_TRUE(writer->close(202 * kSecond, Ledger()).is_ok());
  const Recorder all = read_all(dir.path());
  EXPECT_EQ(all.scope_ids.back(), 900'000);
  ASSERT_EQ(event_names(all), (std::vector<std::string>{"log_paused", "log_resumed"}));
  const Json resumed = all.of(Kind::Event)[1];
  EXPECT_EQ(resumed["reason"].as_string(), "spool_full");
  EXPECT_EQ(resumed["rows_dropped"].as_integer(), 1);
  EXPECT_EQ(resumed["since"].as_integer(), id - 1);
}

TEST(SpoolTest, DropOldestKeepsTheEnd) {
  const TempDir dir;
  LogOptions options = test_options(dir.path());
  options.spool_bytes = 40'000;
  options.on_full = SpoolPolicy::DropOldest;
  auto writer = make_writer(options);
  constexpr int64_t kRows = 3000;
  for (int64_t i = 1; i <= kRows; ++i) {
    writer->write(scope_rows(*writer, i, 1, i));
    EXPECT_TRUE(writer->flush(i * 1000).is_ok());
    ASSERT_LE(folder_bytes(dir.path()), options.spool_bytes * 3 / 2) << i;
  }
  EXPECT_TRUE(writer->close(kSecond, Ledger()).is_ok());
  const WriterCounts counts = writer->counts();
  EXPECT_TRUE(counts.dropped.empty());
  EXPECT_GT(counts.windows_deleted, 0u);
  EXPECT_EQ(counts.rows.at("scope"), static_cast<uint64_t>(kRows));

  const Recorder all = read_all(dir.path());
  EXPECT_EQ(all.scope_ids.back(), kRows);
  EXPECT_EQ(all.scope_ids.size() + counts.rows_deleted, static_cast<uint64_t>(kRows));
  EXPECT_EQ(all.scope_ids.front(), static_cast<int64_t>(counts.rows_deleted) + 1);
  EXPECT_TRUE(all.problems.empty());
  const VerifyResult result = verify_session(dir.path());
  EXPECT_EQ(result.verdict, Verdict::Losses);
  EXPECT_EQ(result.rows_deleted, counts.rows_deleted);
  EXPECT_EQ(result.reasons.size(), 2u) << result.to_json().dump();
}

TEST(SpoolTest, RotatesForEverWithinASmallSpool) {
  const TempDir dir;
  LogOptions options = test_options(dir.path());
  options.spool_bytes = 24'000;
  options.window_age_ns = kSecond;
  options.on_full = SpoolPolicy::DropOldest;
  auto writer = make_writer(options);
  constexpr int64_t kSeconds = 400;
  for (int64_t i = 1; i <= kSeconds; ++i) {
    writer->write(scope_rows(*writer, i, 1, i * kSecond));
    EXPECT_TRUE(writer->flush(i * kSecond).is_ok());
    ASSERT_TRUE(base::eventually([&] { return !has_unsealed_window(dir.path()); }));
  }
  EXPECT_TRUE(writer->close(kSeconds * kSecond, Ledger()).is_ok());
  EXPECT_LE(folder_bytes(dir.path()), options.spool_bytes * 3 / 2);
  const WriterCounts counts = writer->counts();
  EXPECT_TRUE(counts.dropped.empty());
  const Recorder all = read_all(dir.path());
  ASSERT_FALSE(all.scope_ids.empty());
  EXPECT_EQ(all.scope_ids.back(), kSeconds);
  EXPECT_TRUE(all.problems.empty());
  EXPECT_EQ(all.scope_ids.size() + counts.rows_deleted, static_cast<uint64_t>(kSeconds));
  const VerifyResult result = verify_session(dir.path());
  EXPECT_EQ(result.windows.deleted, counts.windows_deleted);
  EXPECT_EQ(result.rows_deleted, counts.rows_deleted);
  EXPECT_NE(read_text(dir.path() / "manifest.ndjson").find("last_window"), std::string::npos);
}

TEST(CreateTest, LeavesNothingBehindWhenItFails) {
  const TempDir dir;
  const FileSizeLimit limit(20);
  EXPECT_FALSE(LogWriter::create(test_options(dir.path() / "s"), testing::test_header()).is_ok());
  EXPECT_FALSE(std::filesystem::exists(dir.path() / "s"));
}

TEST(KeepLastTest, KeepsAtLeastWhatWasAskedAndNotMuchMore) {
  const TempDir dir;
  LogOptions options = test_options(dir.path());
  constexpr int64_t kKeep = 20 * kSecond;
  options.keep_last_ns = kKeep;
  auto writer = make_writer(options);
  Json module = Json::object();
  module.set("id", "1");
  writer->write(Kind::Module, module, Channel::Code);
  constexpr int64_t kStep = kSecond / 2;
  constexpr int64_t kEnd = 120 * kSecond;
  for (int64_t now = 0; now <= kEnd; now += kStep) {
    writer->write(scope_rows(*writer, 1 + now / kStep, 1, now));
    EXPECT_TRUE(writer->flush(now).is_ok());
  }
  EXPECT_TRUE(writer->close(kEnd, Ledger()).is_ok());
  const Recorder all = read_all(dir.path());
  ASSERT_FALSE(all.scope_ids.empty());
  const int64_t oldest_ns = (all.scope_ids.front() - 1) * kStep;
  EXPECT_LE(oldest_ns, kEnd - kKeep);
  EXPECT_GE(oldest_ns, kEnd - kKeep * 3 / 2);
  EXPECT_EQ(all.of(Kind::Module).size(), 1u) << "code stays";
  EXPECT_TRUE(all.problems.empty());
  const VerifyResult result = verify_session(dir.path());
  EXPECT_EQ(result.verdict, Verdict::Losses);
  EXPECT_GT(result.windows.deleted, 5u);
  EXPECT_NE(read_text(dir.path() / "manifest.ndjson").find(R"("reason":"keep_last")"),
            std::string::npos);
}

TEST(DiskFloorTest, DropsAndTellsOnce) {
  const TempDir dir;
  LogOptions options = test_options(dir.path());
  options.disk_floor_bytes = uint64_t{1} << 60;
  auto writer = make_writer(options);
  Json device = Json::object();
  device.set("device", 0).set("name", "a");
  writer->write(Kind::Device, device);
  EXPECT_EQ(writer->counts().paused, "");
  for (int64_t i = 0; i < 10; ++i) {
    writer->write(scope_rows(*writer, 1, 3, i));
    EXPECT_TRUE(writer->flush(i * kSecond).is_ok());
  }
  EXPECT_TRUE(writer->close(10 * kSecond, Ledger()).is_ok());
  EXPECT_EQ(writer->counts().dropped.at("disk_floor"), 30u);
  EXPECT_EQ(writer->counts().paused, "disk_floor");
  const Recorder all = read_all(dir.path());
  EXPECT_TRUE(all.scope_ids.empty());
  ASSERT_EQ(event_names(all), std::vector<std::string>{"log_paused"});
  EXPECT_EQ(all.of(Kind::Event)[0]["reason"].as_string(), "disk_floor");
  EXPECT_EQ(all.of(Kind::Ledger).size(), 1u) << "the account is written even then";
  EXPECT_EQ(all.of(Kind::Device).size(), 1u) << "and what the session is about";
}

TEST(DiskFloorTest, GoesOnWhenThereIsRoomAgain) {
  const SmallDisk disk;
  if (!disk.is_mounted()) GTEST_SKIP() << "no right to mount a small file system";
  LogOptions options = test_options(disk.path() / "s");
  options.disk_floor_bytes = 100'000;
  auto writer = make_writer(options);
  writer->write(scope_rows(*writer, 1, 2, 1));
  EXPECT_TRUE(writer->flush(1).is_ok());
  testing::write_text(disk.path() / "hog", std::string(180'000, 'x'));
  writer->write(scope_rows(*writer, 3, 2, 1));
  EXPECT_TRUE(writer->flush(2).is_ok());
  EXPECT_TRUE(writer->counts().dropped.empty()) << "looked at once a second only";
  writer->write(scope_rows(*writer, 5, 2, 1));
  EXPECT_TRUE(writer->flush(2 * kSecond).is_ok());
  EXPECT_EQ(writer->counts().dropped.at("disk_floor"), 2u);
  std::filesystem::remove(disk.path() / "hog");
  writer->write(scope_rows(*writer, 7, 2, 1));
  EXPECT_TRUE(writer->flush(4 * kSecond).is_ok());
  EXPECT_TRUE(writer->close(5 * kSecond, Ledger()).is_ok());
  const Recorder all = read_all(disk.path() / "s");
  EXPECT_EQ(all.scope_ids, (std::vector<int64_t>{1, 2, 3, 4, 7, 8}));
  EXPECT_EQ(event_names(all), (std::vector<std::string>{"log_paused", "log_resumed"}));
}

TEST(WriteErrorTest, TakesBackATornWriteAndGoesOnLater) {
  const TempDir dir;
  auto writer = make_writer(test_options(dir.path()));
  writer->write(scope_rows(*writer, 1, 2, 1));
  EXPECT_TRUE(writer->flush(1).is_ok());
  const std::string before = read_text(dir.path() / "scope.log");
  {
    const FileSizeLimit limit(before.size() + 50);
    std::filesystem::create_directories(dir.path() / "scope.1.log.zst.tmp" / "x");  // keep it raw
    writer->write(scope_rows(*writer, 100, 3, 1));
    EXPECT_FALSE(writer->flush(2).is_ok());
    EXPECT_EQ(read_text(dir.path() / "scope.1.log"), before) << "nothing torn is left";
    writer->write(scope_rows(*writer, 200, 4, 1));
    EXPECT_TRUE(writer->flush(3).is_ok()) << "not tried again within a second";
  }
  {
    const FileSizeLimit limit(20);
    writer->write(scope_rows(*writer, 300, 5, 1));
    EXPECT_FALSE(writer->flush(2 * kSecond).is_ok());
  }
  EXPECT_EQ(writer->counts().dropped.at("io_error"), 12u);
  // The name was defined in lines that never reached the file: it has to be defined again.
  writer->write(scope_rows(*writer, 100, 3, 1));
  EXPECT_TRUE(writer->flush(4 * kSecond).is_ok());
  std::filesystem::remove_all(dir.path() / "scope.1.log.zst.tmp");
  EXPECT_TRUE(writer->close(5 * kSecond, Ledger()).is_ok());
  const Recorder all = read_all(dir.path());
  EXPECT_TRUE(all.problems.empty());
  EXPECT_EQ(all.scope_ids, (std::vector<int64_t>{1, 2, 100, 101, 102}));
  EXPECT_EQ(all.scope_names.at(100), "scope_100");
  ASSERT_EQ(event_names(all), std::vector<std::string>{"log_resumed"});
  const Json resumed = all.of(Kind::Event)[0];
  EXPECT_EQ(resumed["reason"].as_string(), "io_error");
  EXPECT_EQ(resumed["rows_dropped"].as_integer(), 12);
  EXPECT_EQ(resumed["since"].as_integer(), 2);
  const VerifyResult result = verify_session(dir.path());
  EXPECT_EQ(result.reasons, std::vector<std::string>{"its ledger lists losses: io_error 12"});
}

TEST(WriteErrorTest, LeavesNoFileWithoutItsSessionLine) {
  const TempDir dir;
  auto writer = make_writer(test_options(dir.path()));
  {
    const FileSizeLimit limit(20);
    writer->write(scope_rows(*writer, 1, 1, 1));
    EXPECT_FALSE(writer->flush(1).is_ok());
  }
  EXPECT_FALSE(std::filesystem::exists(dir.path() / "scope.log"));
  writer->write(scope_rows(*writer, 1, 1, 1));
  EXPECT_TRUE(writer->flush(2 * kSecond).is_ok());
  EXPECT_TRUE(writer->close(3 * kSecond, Ledger()).is_ok());
  EXPECT_EQ(read_all(dir.path()).scope_ids, std::vector<int64_t>{1});
}

TEST(WriteErrorTest, LeavesWindowsRawThatCannotBeSealed) {
  const TempDir dir;
  LogOptions options = test_options(dir.path());
  options.window_bytes = 1;
  auto writer = make_writer(options);
  writer->write(scope_rows(*writer, 1, 1, 1));
  // In the way of the sealing: a folder of the temporary file's name, which cannot be removed.
  std::filesystem::create_directories(dir.path() / "scope.1.log.zst.tmp" / "x");
  EXPECT_TRUE(writer->flush(1000).is_ok());
  EXPECT_FALSE(writer->close(2000, Ledger()).is_ok());
  EXPECT_TRUE(std::filesystem::exists(dir.path() / "scope.1.log"));
  EXPECT_EQ(read_all(dir.path()).scope_ids, std::vector<int64_t>{1});
  const VerifyResult result = verify_session(dir.path());
  EXPECT_EQ(result.verdict, Verdict::Complete) << "nothing is lost";
  EXPECT_EQ(result.windows.unsealed, 1u);
}

TEST(WriteErrorTest, CountsWhatWentWithAFolderThatWasTakenAway) {
  const TempDir dir;
  LogOptions options = test_options(dir.path() / "s");
  options.window_age_ns = kSecond;
  auto writer = make_writer(options);
  writer->write(scope_rows(*writer, 1, 4, 1));
  EXPECT_TRUE(writer->flush(1).is_ok());
  std::filesystem::remove_all(dir.path() / "s");
  EXPECT_TRUE(writer->flush(2 * kSecond).is_ok());
  writer->write(scope_rows(*writer, 5, 3, 1));
  EXPECT_FALSE(writer->flush(3 * kSecond).is_ok());
  EXPECT_EQ(writer->counts().dropped.at("io_error"), 7u);
  EXPECT_EQ(writer->counts().rows.at("scope"), 0u);
  EXPECT_FALSE(writer->close(4 * kSecond, Ledger()).is_ok());
}

TEST(WriteErrorTest, TellsAtTheEndOfAFolderThatWasTakenAway) {
  const TempDir dir;
  auto writer = make_writer(test_options(dir.path() / "s"));
  writer->write(scope_rows(*writer, 1, 4, 1));
  EXPECT_TRUE(writer->flush(1).is_ok());
  std::filesystem::remove_all(dir.path() / "s");
  EXPECT_EQ(writer->close(2, Ledger()).code(), base::Code::NotFound);
  EXPECT_EQ(writer->counts().dropped.at("io_error"), 4u);
}

TEST(FullDiskTest, DropsCountsAndGoesOn) {
  const SmallDisk disk;
  if (!disk.is_mounted()) GTEST_SKIP() << "no right to mount a small file system";
  auto writer = make_writer(test_options(disk.path() / "s"));
  writer->write(scope_rows(*writer, 1, 2, 1));
  EXPECT_TRUE(writer->flush(1).is_ok());
  testing::write_text(disk.path() / "hog", std::string(300'000, 'x'));
  Json event = Json::object();
  event.set("time", 2).set("text", std::string(20'000, 'x'));
  writer->write(Kind::Event, event);
  EXPECT_FALSE(writer->flush(2).is_ok());
  EXPECT_EQ(writer->counts().dropped.at("disk_full"), 1u);
  std::filesystem::remove(disk.path() / "hog");
  writer->write(scope_rows(*writer, 3, 2, 1));
  EXPECT_TRUE(writer->flush(2 * kSecond).is_ok());
  EXPECT_TRUE(writer->close(3 * kSecond, Ledger()).is_ok());
  const Recorder all = read_all(disk.path() / "s");
  EXPECT_EQ(all.scope_ids, (std::vector<int64_t>{1, 2, 3, 4}));
  EXPECT_TRUE(all.problems.empty());
  EXPECT_EQ(event_names(all), std::vector<std::string>{"log_resumed"});
}

}  // namespace
}  // namespace gpufl::format
