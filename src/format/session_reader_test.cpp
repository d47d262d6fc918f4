// SPDX-License-Identifier: Apache-2.0
// Every state that a crash, a broken disk or a hostile hand can leave a session's folder in.
#include "format/session_reader.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "format/batch_codec.hpp"
#include "format/seal.hpp"
#include "format/session_files.hpp"
#include "format/test_session.hpp"
#include "format/verify.hpp"

namespace gpufl::format {
namespace {

namespace fs = std::filesystem;
using testing::read_all;
using testing::read_text;
using testing::Recorder;
using testing::write_text;

constexpr int64_t kSecond = 1'000'000'000;

// Three scope windows of four rows each (ids 1 to 12), and two system windows.
class SessionReaderTest : public ::testing::Test {
 protected:
  void SetUp() override { write_session(true); }

  void write_session(bool close) {
    LogOptions options = testing::test_options(dir());
    options.window_age_ns = 10 * kSecond;
    auto writer = testing::make_writer(options);
    ASSERT_NE(writer, nullptr);
    for (int64_t window = 0; window < 3; ++window) {
      writer->write(testing::scope_rows(*writer, window * 4 + 1, 4, window * 100));
      ASSERT_TRUE(writer->flush(window * 20 * kSecond).is_ok());
      ASSERT_TRUE(writer->flush(window * 20 * kSecond + 10 * kSecond).is_ok());
    }
    if (close) {
      ASSERT_TRUE(writer->close(100 * kSecond, Ledger()).is_ok());
    }
  }

  fs::path dir() const { return temp_.path() / "session"; }
  fs::path sealed(uint64_t window) const {
    return dir() / sealed_file_name(Channel::Scope, window);
  }
  fs::path raw(uint64_t window) const { return dir() / raw_file_name(Channel::Scope, window); }
  std::string unsealed_text(uint64_t window) const {
    std::string text;
    read_window(sealed(window), [&](std::string_view line) {
      text.append(line).append("\n");
      return true;
    });
    return text;
  }
  void unseal(uint64_t window) const { write_text(raw(window), unsealed_text(window)); }
  void drop_from_manifest(const std::string& what) const {
    std::string kept;
    std::istringstream lines(read_text(dir() / "manifest.ndjson"));
    for (std::string line; std::getline(lines, line);) {
      if (line.find(what) == std::string::npos) kept += line + "\n";
    }
    write_text(dir() / "manifest.ndjson", kept);
  }
  void add_to_manifest(const std::string& line) const {
    write_text(dir() / "manifest.ndjson", read_text(dir() / "manifest.ndjson") + line);
  }
  static std::vector<int64_t> ids(std::initializer_list<int64_t> windows) {
    std::vector<int64_t> all;
    for (const int64_t window : windows) {
      for (int64_t i = 1; i <= 4; ++i) all.push_back((window - 1) * 4 + i);
    }
    return all;
  }

 private:
  testing::TempDir temp_;
};

TEST_F(SessionReaderTest, ReadsWhatWasWritten) {
  const auto reader = SessionReader::open(dir());
  ASSERT_TRUE(reader.is_ok());
  EXPECT_FALSE(reader->is_live());
  EXPECT_EQ(reader->header().session_id, testing::test_header().session_id);
  ASSERT_EQ(reader->windows().size(), 5u);
  EXPECT_EQ(reader->windows()[0].number, 1u);
  EXPECT_TRUE(reader->windows()[0].in_manifest);
  EXPECT_EQ(reader->windows()[0].rows, 4u);
  EXPECT_EQ(reader->windows()[0].first_ns, 0);
  EXPECT_EQ(reader->windows()[0].last_ns, 37);
  const Recorder all = read_all(dir());
  EXPECT_EQ(all.scope_ids, ids({1, 2, 3}));
  EXPECT_TRUE(all.problems.empty());
  EXPECT_EQ(all.of(Kind::Session).size(), 5u);
  EXPECT_EQ(all.of(Kind::End).size(), 1u);
}

TEST_F(SessionReaderTest, DecodesOnlyWhatIsWanted) {
  const auto reader = SessionReader::open(dir());
  Recorder recorder;
  reader->read(recorder, {Kind::Ledger});
  EXPECT_TRUE(recorder.scope_ids.empty());
  ASSERT_EQ(recorder.objects.size(), 1u);
  Recorder scopes;
  reader->read(scopes, {Kind::Scope});
  EXPECT_EQ(scopes.scope_ids, ids({1, 2, 3}));
  EXPECT_EQ(scopes.scope_names.at(5), "scope_5") << "dictionaries are read all the same";
  EXPECT_TRUE(scopes.objects.empty());
}

TEST_F(SessionReaderTest, LeavesOutWhatItsVisitorDoesNotWant) {
  struct Picky final : Visitor {
    std::vector<uint64_t> windows;
    std::vector<int64_t> starts;
    bool wants_window(const WindowFile& window) override {
      return window.channel == Channel::Scope && window.number != 2;
    }
    bool wants_batch(Kind kind, std::string_view line) override {
      return kind == Kind::Scope && line_head(line).span[0] >= 200;
    }
    void on_window(const WindowFile& window) override { windows.push_back(window.number); }
    void on_batch(const Batch& batch, const Dictionaries&) override {
      starts.push_back(batch.at(scope_column::kStart, 0));
    }
  } picky;
  SessionReader::open(dir())->read(picky);
  EXPECT_EQ(picky.windows, (std::vector<uint64_t>{1, 3}));
  EXPECT_EQ(picky.starts, std::vector<int64_t>{200});
}

TEST_F(SessionReaderTest, StopsWhereItsVisitorIsDone) {
  struct FirstWindow final : Visitor {
    void on_batch(const Batch& batch, const Dictionaries&) override { rows += batch.rows(); }
    void on_window_end(const WindowFile&, uint64_t) override { is_done = rows > 0; }
    size_t rows = 0;
  };
  const auto reader = SessionReader::open(dir());
  ASSERT_TRUE(reader.is_ok());
  FirstWindow visitor;
  reader->read(visitor, {Kind::Scope});
  EXPECT_EQ(visitor.rows, 4U);
}

TEST_F(SessionReaderTest, CountsNothingTwiceWhenBothFormsAreThere) {
  unseal(2);
  EXPECT_EQ(read_all(dir()).scope_ids, ids({1, 2, 3}));
  drop_from_manifest(R"("channel":"scope","window":2)");  // killed before the manifest line
  const Recorder all = read_all(dir());
  EXPECT_EQ(all.scope_ids, ids({1, 2, 3}));
  EXPECT_TRUE(all.problems.empty());
}

TEST_F(SessionReaderTest, TakesTheRawFormWhenTheSealedOneIsBroken) {
  unseal(2);
  const std::string bytes = read_text(sealed(2));
  write_text(sealed(2), bytes.substr(0, bytes.size() / 2));
  EXPECT_EQ(read_all(dir()).scope_ids, ids({1, 2, 3}));
}

TEST_F(SessionReaderTest, ReadsWindowsThatWereNotSealedYet) {
  unseal(2);
  unseal(3);
  fs::remove(sealed(2));
  fs::remove(sealed(3));
  write_text(dir() / "scope.3.log.zst.tmp", "half of a sealed file");
  drop_from_manifest(R"("channel":"scope","window":2)");
  drop_from_manifest(R"("channel":"scope","window":3)");
  const Recorder all = read_all(dir());
  EXPECT_EQ(all.scope_ids, ids({1, 2, 3}));
  EXPECT_TRUE(all.problems.empty());
}

TEST_F(SessionReaderTest, SaysWhenTheManifestDoesNotKnowAWindow) {
  drop_from_manifest(R"("channel":"scope","window":3)");
  const Recorder all = read_all(dir());
  EXPECT_EQ(all.scope_ids, ids({1, 2, 3}));
  EXPECT_TRUE(all.has(Problem::Kind::ManifestMismatch));
  fs::remove(dir() / "manifest.ndjson");
  EXPECT_EQ(read_all(dir()).scope_ids, ids({1, 2, 3}));
}

TEST_F(SessionReaderTest, ReadsOnAroundAMissingWindow) {
  fs::remove(sealed(2));
  const Recorder all = read_all(dir());
  EXPECT_EQ(all.scope_ids, ids({1, 3}));
  EXPECT_TRUE(all.has(Problem::Kind::MissingWindow));
  const auto reader = SessionReader::open(dir());
  EXPECT_EQ(reader->windows()[1].state, WindowFile::State::Missing);

  drop_from_manifest(R"("channel":"scope","window":2)");  // nobody tells of it any more
  const Recorder again = read_all(dir());
  EXPECT_EQ(again.scope_ids, ids({1, 3}));
  EXPECT_TRUE(again.has(Problem::Kind::MissingWindow));
}

TEST_F(SessionReaderTest, TakesTheManifestsWordForDeletedWindows) {
  add_to_manifest(R"({"type":"deleted","channel":"scope","window":1,"reason":"keep_last","rows":4})"
                  "\n");
  Recorder all = read_all(dir());  // killed before the file was removed
  EXPECT_EQ(all.scope_ids, ids({2, 3}));
  EXPECT_TRUE(all.problems.empty());
  fs::remove(sealed(1));
  all = read_all(dir());
  EXPECT_EQ(all.scope_ids, ids({2, 3}));
  EXPECT_TRUE(all.problems.empty());
}

TEST_F(SessionReaderTest, PassesOverATornLastLine) {
  unseal(3);
  fs::remove(sealed(3));
  drop_from_manifest(R"("channel":"scope","window":3)");
  const std::string whole = read_text(raw(3));
  for (const size_t cut : {1, 10, 100}) {
    write_text(raw(3), whole.substr(0, whole.size() - cut));
    const Recorder all = read_all(dir());
    EXPECT_EQ(all.scope_ids, ids({1, 2})) << cut;
    EXPECT_TRUE(all.has(Problem::Kind::TornLine)) << cut;
  }
  write_text(raw(3), "");
  EXPECT_EQ(read_all(dir()).scope_ids, ids({1, 2}));
}

TEST_F(SessionReaderTest, GivesWhatItCanOfATruncatedWindow) {
  const std::string bytes = read_text(sealed(1));
  for (size_t keep = 0; keep < bytes.size(); keep += 7) {
    write_text(sealed(1), bytes.substr(0, keep));
    const Recorder all = read_all(dir());
    EXPECT_FALSE(all.problems.empty()) << keep;
    EXPECT_GE(all.scope_ids.size(), 8u) << keep;
    EXPECT_EQ(verify_session(dir()).verdict, Verdict::Losses) << keep;
  }
}

TEST_F(SessionReaderTest, SurvivesEveryFlippedByte) {
  const std::string bytes = read_text(sealed(2));
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string broken = bytes;
    broken[i] = static_cast<char>(broken[i] ^ 0x55);
    write_text(sealed(2), broken);
    EXPECT_EQ(verify_session(dir()).verdict, Verdict::Losses) << i;
  }
}

TEST_F(SessionReaderTest, PassesOverBadLinesAndCountsUnknownOnes) {
  unseal(1);
  fs::remove(sealed(1));
  drop_from_manifest(R"("channel":"scope","window":1)");
  std::string text = read_text(raw(1));
  text += "garbage\n";
  text += "{\"type\":\"scope\",\"n\":3}\n";
  text += "{\"type\":\"scope\",\"n\":999999999999}\n";
  text += "{\"type\":\"later_kind\",\"x\":1}\n{\"type\":\"later_kind\"}\n";
  text += "{\"type\":\"event\",\"broken\n";
  text += "{\"type\":\"dict\",\"dict\":\"name\",\"ids\":[1],\"values\":[]}\n";
  text += "{\"type\":\"dict\",\"dict\":\"name\",\"ids\":[-1],\"values\":[\"x\"]}\n";
  text += "{\"type\":\"dict\",\"dict\":\"name\",\"ids\":[1],\"values\":[\"other\"]}\n";
  text += "{\"type\":\"dict\",\"dict\":\"later\",\"ids\":[1],\"values\":[\"x\"]}\n";
  write_text(raw(1), text);
  const Recorder all = read_all(dir());
  EXPECT_EQ(all.scope_ids, ids({1, 2, 3}));
  const auto bad_lines =
      std::count_if(all.problems.begin(), all.problems.end(),
                    [](const Problem& p) { return p.kind == Problem::Kind::BadLine; });
  EXPECT_EQ(bad_lines, 7);
  EXPECT_TRUE(all.has(Problem::Kind::UnknownKind));
}

TEST_F(SessionReaderTest, CallsNewerThingsNoLoss) {
  unseal(1);
  fs::remove(sealed(1));
  drop_from_manifest(R"("channel":"scope","window":1)");
  std::string text = read_text(raw(1));
  const size_t at = text.find(R"({"type":"scope")") + std::string(R"({"type":"scope")").size();
  text.insert(at, R"(,"later_column":[1,2,3,4])");
  text += "{\"type\":\"later_kind\",\"x\":1}\n";
  write_text(raw(1), text);
  write_text(dir() / "later_channel.log", text);
  add_to_manifest("{\"type\":\"later\"}\n");
  const VerifyResult result = verify_session(dir());
  EXPECT_EQ(result.verdict, Verdict::Complete) << result.to_json().dump();
  EXPECT_EQ(result.problems.at("unknown_column"), 1u);
  EXPECT_EQ(result.problems.at("unknown_kind"), 3u);
}

TEST_F(SessionReaderTest, RefusesANewerMajorFormat) {
  for (const auto& entry : fs::directory_iterator(dir())) {
    if (entry.path().extension() == ".zst") fs::remove(entry.path());
  }
  const std::string manifest = read_text(dir() / "manifest.ndjson");
  std::string newer = manifest.substr(0, manifest.find('\n') + 1);
  newer.replace(newer.find(R"("format":1)"), 10, R"("format":2)");
  write_text(dir() / "manifest.ndjson", newer);
  const auto reader = SessionReader::open(dir());
  EXPECT_EQ(reader.status().code(), base::Code::TooNew);
  EXPECT_EQ(verify_session(dir()).verdict, Verdict::Unreadable);
}

TEST_F(SessionReaderTest, SkipsFilesOfANewerFormatOrAnotherSession) {
  unseal(1);
  unseal(2);
  fs::remove(sealed(1));
  fs::remove(sealed(2));
  std::string text = read_text(raw(1));
  text.replace(text.find(R"("format":1)"), 10, R"("format":2)");
  write_text(raw(1), text);
  text = read_text(raw(2));
  text.replace(text.find("20261115T034512Z"), 16, "20201115T034512Z");
  write_text(raw(2), text);
  const Recorder all = read_all(dir());
  EXPECT_EQ(all.scope_ids, ids({3}));
  EXPECT_TRUE(all.has(Problem::Kind::NewerFormat));
  EXPECT_TRUE(all.has(Problem::Kind::BadWindow));
}

TEST_F(SessionReaderTest, IsNotFooledByNumbers) {
  write_text(dir() / "scope.18446744073709551615.log", "x");
  write_text(dir() / "device.4000000000.log.zst", "x");
  add_to_manifest(
      R"({"type":"deleted","channel":"code","window":9000000000000000000,"reason":"x","rows":1})"
      "\n");
  const Recorder all = read_all(dir());
  EXPECT_EQ(all.scope_ids, ids({1, 2, 3}));
  const auto reader = SessionReader::open(dir());
  EXPECT_LT(reader->windows().size(), 4000u);
}

TEST_F(SessionReaderTest, IsNotFooledByStrangeFiles) {
  mkfifo((dir() / "device.log").c_str(), 0644);
  fs::create_directory(dir() / "code.1.log");
  fs::create_symlink("/dev/zero", dir() / "device.1.log");
  fs::create_symlink(dir() / "nowhere", dir() / "device.2.log");
  fs::remove(dir() / "manifest.ndjson");
  mkfifo((dir() / "manifest.ndjson").c_str(), 0644);
  mkfifo((dir() / "lock").c_str(), 0644);
  EXPECT_EQ(read_all(dir()).scope_ids, ids({1, 2, 3}));
}

TEST_F(SessionReaderTest, ReadsALiveFileUnderItsNewNames) {
  fs::remove_all(dir());
  LogOptions options = testing::test_options(dir());
  options.window_age_ns = 10 * kSecond;
  auto writer = testing::make_writer(options);
  writer->write(testing::scope_rows(*writer, 1, 4, 0));
  ASSERT_TRUE(writer->flush(0).is_ok());
  const auto reader = SessionReader::open(dir());
  ASSERT_TRUE(reader.is_ok());
  // Closed, perhaps sealed, and a new live file in its place, before the reader gets to it.
  ASSERT_TRUE(writer->flush(20 * kSecond).is_ok());
  writer->write(testing::scope_rows(*writer, 5, 4, 0));
  ASSERT_TRUE(writer->flush(21 * kSecond).is_ok());
  Recorder recorder;
  reader->read(recorder);
  EXPECT_EQ(recorder.scope_ids, ids({1}));
  EXPECT_TRUE(recorder.problems.empty());
  ASSERT_TRUE(writer->close(22 * kSecond, Ledger()).is_ok());
}

TEST_F(SessionReaderTest, SaysWhenAFileGoesAway) {
  const auto reader = SessionReader::open(dir());
  fs::remove(sealed(2));
  Recorder recorder;
  reader->read(recorder);
  EXPECT_EQ(recorder.scope_ids, ids({1, 3}));
  EXPECT_TRUE(recorder.has(Problem::Kind::MissingWindow));
}

TEST_F(SessionReaderTest, KnowsWhatIsNoSession) {
  const testing::TempDir empty;
  EXPECT_EQ(SessionReader::open(empty.path()).status().code(), base::Code::NotFound);
  EXPECT_EQ(SessionReader::open(empty.path() / "nothing").status().code(), base::Code::NotFound);
  write_text(empty.path() / "system.log", "");
  EXPECT_EQ(SessionReader::open(empty.path()).status().code(), base::Code::Corrupt);
}

TEST(FindSessionsTest, FindsThemInRunsAndLogFolders) {
  const testing::TempDir dir;
  for (const char* name : {"run2/b", "run1/a", "single"}) {
    auto writer = testing::make_writer(testing::test_options(dir.path() / name));
    ASSERT_TRUE(writer->close(1, Ledger()).is_ok());
  }
  fs::create_directories(dir.path() / "other" / "deeper");
  const auto found = find_sessions(dir.path());
  EXPECT_EQ(found, (std::vector<fs::path>{dir.path() / "run1/a", dir.path() / "run2/b",
                                          dir.path() / "single"}));
  EXPECT_EQ(find_sessions(dir.path() / "single"), std::vector<fs::path>{dir.path() / "single"});
  EXPECT_TRUE(find_sessions(dir.path() / "other").empty());
  fs::create_directory_symlink(dir.path() / "single", dir.path() / "other" / "link");
  EXPECT_TRUE(find_sessions(dir.path() / "other").empty());
  EXPECT_EQ(find_sessions(dir.path() / "other" / "link").size(), 1U);
  EXPECT_TRUE(find_sessions(dir.path() / "nothing").empty());
}

}  // namespace
}  // namespace gpufl::format
