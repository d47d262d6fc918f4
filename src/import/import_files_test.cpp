// SPDX-License-Identifier: Apache-2.0
#include "import/import_files.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "format/session_reader.hpp"
#include "import/test_traces.hpp"

namespace gpufl::importing {
namespace {

namespace fs = std::filesystem;

class ImportFilesTest : public ::testing::Test {
 protected:
  fs::path file(const std::string& name, const std::string& bytes) {
    format::testing::write_text(temp_.path() / name, bytes);
    return temp_.path() / name;
  }
  ImportOutcome import(std::vector<fs::path> files) {
    ImportOptions options;
    options.files = std::move(files);
    options.output = temp_.path() / "logs";
    return import_files(options);
  }
  // The one error, which must name the file.
  std::string error_of(const fs::path& path) {
    const ImportOutcome outcome = import({path});
    EXPECT_TRUE(outcome.sessions.empty());
    if (outcome.errors.size() != 1) return "";
    EXPECT_TRUE(outcome.errors[0].starts_with(path.string()));
    return outcome.errors[0];
  }
  format::testing::TempDir temp_;
};

TEST_F(ImportFilesTest, ReadsPlainAndGzip) {
  const std::string text = testing::torch_trace();
  for (const auto& path :
       {file("gpt.pt.trace.json", text), file("gpt.json.gz", testing::gzip(text)),
        file("two.json.gz",
             testing::gzip(text.substr(0, 2000)) + testing::gzip(text.substr(2000)))}) {
    const ImportOutcome outcome = import({path});
    ASSERT_EQ(outcome.sessions.size(), 1U) << path;
    EXPECT_EQ(outcome.sessions[0].rows.at("kernel"), 3U);
    EXPECT_TRUE(outcome.sessions[0].truncated.empty()) << path;
    EXPECT_TRUE(outcome.run.empty());
    EXPECT_EQ(outcome.sessions[0].dir.parent_path(), temp_.path() / "logs");
  }
}

TEST_F(ImportFilesTest, NamesTheSessionAfterTheFileAndItsContent) {
  const fs::path path = file("gpt.pt.trace.json", testing::torch_trace());
  const ImportOutcome outcome = import({path});
  ASSERT_EQ(outcome.sessions.size(), 1U);
  const auto reader = format::SessionReader::open(outcome.sessions[0].dir);
  ASSERT_TRUE(reader.is_ok());
  EXPECT_EQ(reader->header().app_name, "gpt.pt.trace");
  EXPECT_EQ(reader->header().run_id, reader->header().session_id);
  // Again, and under another name: it is the same.
  for (const fs::path& again : {path, file("copy.json", testing::torch_trace())}) {
    EXPECT_NE(error_of(again).find("already been imported: " + outcome.sessions[0].dir.string()),
              std::string::npos);
  }
  EXPECT_EQ(import({file("other.json", testing::torch_trace() + " ")}).sessions.size(), 1U);
}

TEST_F(ImportFilesTest, TakesTheDateOfTheFileWhereTheTraceTellsNone) {
  constexpr int64_t kYear2020Ns = 1'577'836'800'000'000'000;
  for (const char* head : {"", R"("baseTimeNanoseconds":9223372036854775807,)"}) {
    const ImportOutcome outcome = import({file(
        "t.json", std::string("{") + head +
                      R"("traceEvents":[{"ph":"X","cat":"kernel","name":"a","ts":5,"dur":1}]})")});
    ASSERT_EQ(outcome.sessions.size(), 1U);
    const auto reader = format::SessionReader::open(outcome.sessions[0].dir);
    ASSERT_TRUE(reader.is_ok());
    EXPECT_GT(reader->header().start_wall_ns, kYear2020Ns);
  }
}

TEST_F(ImportFilesTest, MakesOneRunOfTheRanksOfAJob) {
  std::string first = testing::torch_trace(), second = first;
  second.replace(second.find("\"rank\":3"), 8, "\"rank\":4");
  const ImportOutcome outcome = import({file("3.json", first), file("4.json", second)});
  ASSERT_EQ(outcome.sessions.size(), 2U);
  EXPECT_TRUE(outcome.warnings.empty());
  for (const ImportedSession& session : outcome.sessions) {
    EXPECT_EQ(session.dir.parent_path(), outcome.run);
    const auto reader = format::SessionReader::open(session.dir);
    ASSERT_TRUE(reader.is_ok());
    EXPECT_EQ(reader->header().run_id, outcome.run.filename());
  }
}

TEST_F(ImportFilesTest, WarnsOfRanksThatAreNoJob) {
  const std::string text = testing::torch_trace();
  std::string other = text;
  other.replace(other.find("\"world_size\":8"), 14, "\"world_size\":4");
  const ImportOutcome outcome = import({file("a.json", text), file("b.json", other)});
  EXPECT_EQ(outcome.sessions.size(), 2U);
  EXPECT_EQ(outcome.warnings.size(), 2U);
}

TEST_F(ImportFilesTest, KeepsWhatIsWholeOfAGzipFileThatIsCut) {
  std::string text = testing::kTorchHead + testing::kTorchEvents;
  for (int i = 0; i < 3000; ++i) text += ",\n" + testing::kTorchEvents;
  const std::string packed = testing::gzip(text + "]}");
  const ImportOutcome outcome = import({file("cut.json.gz", packed.substr(0, packed.size() / 2))});
  ASSERT_EQ(outcome.sessions.size(), 1U);
  EXPECT_EQ(outcome.sessions[0].truncated, "the gzip file is cut off");
  EXPECT_GT(outcome.sessions[0].rows.at("kernel"), 100U);
  EXPECT_LT(outcome.sessions[0].rows.at("kernel"), 9003U);
}

TEST_F(ImportFilesTest, SaysWhatToDoWithFilesThatItCannotRead) {
  const auto says = [&](const fs::path& path, const char* words) {
    const std::string error = error_of(path);
    EXPECT_NE(error.find(words), std::string::npos) << error;
  };
  says(temp_.path() / "absent.json", "no such file");
  says(temp_.path(), "folder");
  says("/dev/null", "regular file");
  says(file("a.txt", "hello"), "neither");
  says(file("a.json", "hello"), "not JSON");
  says(file("empty.json", ""), "empty");
  says(file("b.json", R"({"a":1})"), "export_chrome_trace");
  says(file("c.json", R"({"traceEvents":[]})"), "no kernel");
  says(file("a.nsys-rep", "\x01\x02"), "nsys export --type sqlite");
  says(file("a.gz", testing::gzip("hello")), "not JSON");
  says(file("bad.json.gz", testing::gzip(testing::torch_trace()).substr(0, 12)), "cut off");
  says(file("a.sqlite", "SQLite format 3"), "export it again");
}

TEST_F(ImportFilesTest, SaysThatAFolderCannotBeWritten) {
  ImportOptions options;
  options.files = {file("a.json", testing::torch_trace())};
  options.output = file("in_the_way", "");
  const ImportOutcome outcome = import_files(options);
  EXPECT_TRUE(outcome.sessions.empty());
  ASSERT_EQ(outcome.errors.size(), 1U);
  EXPECT_NE(outcome.errors[0].find("in_the_way"), std::string::npos) << outcome.errors[0];
}

TEST_F(ImportFilesTest, GoesOnAfterAFileThatItCannotRead) {
  const ImportOutcome outcome =
      import({temp_.path() / "absent.json", file("a.json", testing::torch_trace())});
  EXPECT_EQ(outcome.errors.size(), 1U);
  EXPECT_EQ(outcome.sessions.size(), 1U);
}

TEST_F(ImportFilesTest, TellsHowFarItHasCome) {
  ImportOptions options;
  options.files = {file("a.json", testing::torch_trace())};
  options.output = temp_.path() / "logs";
  uint64_t last = 0;
  options.progress = [&](const fs::path&, uint64_t done, uint64_t total) {
    EXPECT_LE(done, total);
    last = done;
  };
  import_files(options);
  EXPECT_EQ(last, testing::torch_trace().size());
}

}  // namespace
}  // namespace gpufl::importing
