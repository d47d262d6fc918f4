// SPDX-License-Identifier: Apache-2.0
// The logs of format/golden and those recorded on real machines in, the text that the commands make
// of them out: compared with what is stored beside them. GPUFL_UPDATE_GOLDEN=1 writes the golden
// logs and all texts anew; look at the difference.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/test_command.hpp"
#include "format/schema.hpp"
#include "golden_sessions.hpp"

namespace gpufl::replay {
namespace {

namespace fs = std::filesystem;

const fs::path kGolden = GPUFL_GOLDEN_DIR;
const fs::path kRecordings = GPUFL_RECORDINGS_DIR;

bool is_update() { return getenv("GPUFL_UPDATE_GOLDEN") != nullptr; }

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void expect_text(const fs::path& stored, const std::string& text) {
  if (is_update()) {
    std::ofstream(stored, std::ios::binary) << text;
    return;
  }
  ASSERT_TRUE(fs::exists(stored)) << stored;
  EXPECT_EQ(read_text(stored), text) << stored;
}

// Standard output, then standard error, then the exit code.
std::string run(const std::string& arguments) {
  const auto outcome = cli::testing::run_typed(arguments);
  return outcome.out + outcome.err + "exit " + std::to_string(outcome.exit_code) + "\n";
}

std::string cat_everything(const std::string& session) {
  std::string text = "$ gpufl cat " + session + "\n" + run("cat " + session);
  for (size_t i = 0; i < format::kKindCount; ++i) {
    const std::string kind(format::spec(static_cast<format::Kind>(i)).name);
    text += "$ gpufl cat " + session + " " + kind + "\n" + run("cat " + session + " " + kind);
  }
  return text;
}

// Every file and every line of the golden logs as an input of tests/fuzz/reader_fuzz.cpp.
void write_fuzz_seeds() {
  const fs::path corpus = GPUFL_FUZZ_CORPUS_DIR;
  fs::remove_all(corpus);
  fs::create_directories(corpus);
  const auto write = [&](const std::string& name, char form, const std::string& bytes) {
    std::ofstream(corpus / name, std::ios::binary) << form << bytes;
  };
  for (const char* session : {"complete", "crashed", "corrupt", "newer_minor", "newer_major"}) {
    for (const auto& entry : fs::directory_iterator(kGolden / session)) {
      const std::string file = entry.path().filename().string();
      const char form = file.ends_with(".zst") ? 'Z' : file == "manifest.ndjson" ? 'M' : 'L';
      write(std::string(session) + "_" + file, form, read_text(entry.path()));
    }
  }
  for (const auto& entry : fs::directory_iterator(kGolden / "complete.text")) {
    const std::string file = entry.path().filename().string();
    write("raw_" + file, 'R', read_text(entry.path()));
    write("sealed_" + file, 'C', read_text(entry.path()));
    std::ifstream lines(entry.path());
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
      write("line_" + file + "_" + std::to_string(number), 'l', line);
    }
  }
}

class GoldenTest : public ::testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() {
    if (is_update()) {
      fs::create_directories(kGolden);
      write_complete(kGolden / "complete", {});
      write_crashed(kGolden / "crashed");
      write_corrupt(kGolden / "corrupt");
      write_newer_minor(kGolden / "newer_minor");
      write_newer_major(kGolden / "newer_major");
      write_fuzz_seeds();
    }
    fs::current_path(kGolden);  // so that the texts hold no path of this machine
  }
};

TEST_P(GoldenTest, ReadsAsStored) {
  const std::string session = GetParam();
  ASSERT_TRUE(fs::is_directory(session));
  const auto name = [&](const char* what) { return kGolden / (session + "." + what + ".txt"); };
  expect_text(name("verify"), run("verify " + session));
  expect_text(name("log"), run("log " + session));
  expect_text(name("cat"), cat_everything(session));
}

INSTANTIATE_TEST_SUITE_P(Sessions, GoldenTest,
                         ::testing::Values("complete", "crashed", "corrupt", "newer_minor",
                                           "newer_major", "former_names"),
                         [](const auto& info) { return std::string(info.param); });

// Sessions and runs of real GPUs: what was recorded once must always read the same.
class RecordingTest : public ::testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() { fs::current_path(kRecordings); }
};

std::vector<std::string> recordings() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kRecordings)) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST_P(RecordingTest, ReadsAsStored) {
  const std::string& session = GetParam();
  expect_text(kRecordings / (session + ".verify.txt"), run("verify " + session));
  expect_text(kRecordings / (session + ".report.txt"), run("report --full --width 100 " + session));
  expect_text(kRecordings / (session + ".short.txt"), run("report --width 100 " + session));
}

INSTANTIATE_TEST_SUITE_P(Machines, RecordingTest, ::testing::ValuesIn(recordings()),
                         [](const auto& info) { return info.param; });

// The report that people see first fits on a screen, and begins with what is wrong.
class ShortReportTest : public ::testing::TestWithParam<fs::path> {};

std::vector<fs::path> sessions_that_ship() {
  std::vector<fs::path> sessions;
  for (const fs::path& folder : {kRecordings, fs::path(GPUFL_EXAMPLE_SESSIONS_DIR)}) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.is_directory()) sessions.push_back(entry.path());
    }
  }
  std::sort(sessions.begin(), sessions.end());
  return sessions;
}

TEST_P(ShortReportTest, FitsOnAScreenWithItsHighFindingsFirst) {
  constexpr size_t kMostLines = 45, kFirstLines = 10;
  fs::current_path(GetParam().parent_path());
  const std::string name = GetParam().filename().string();
  const bool is_any_high =
      run("report --format json " + name).find("\"severity\":\"HIGH\"") != std::string::npos;
  for (const char* width : {"80", "100", "140"}) {
    const auto outcome =
        cli::testing::run_typed(std::string("report --width ") + width + " " + name);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    std::istringstream text(outcome.out);
    std::string line, first;
    size_t lines = 0;
    for (; std::getline(text, line); ++lines) {
      if (lines < kFirstLines) first += line + "\n";
    }
    EXPECT_LE(lines, kMostLines) << outcome.out;
    EXPECT_EQ(first.find(". HIGH") != std::string::npos, is_any_high) << first;
    const size_t named = outcome.out.find("--full");
    ASSERT_NE(named, std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.out.find("--full", named + 1), std::string::npos) << outcome.out;
  }
}

INSTANTIATE_TEST_SUITE_P(Sessions, ShortReportTest, ::testing::ValuesIn(sessions_that_ship()),
                         [](const auto& info) { return info.param.filename().string(); });

// Of a session that only samples, the page draws every sampled metric and nothing of GPU work.
TEST(MonitorSessionTest, ThePageDrawsWhatWasSampled) {
  fs::current_path(kRecordings);
  const std::string page = run("report h200_monitor --format html");
  EXPECT_EQ(page.find("Busy with kernels"), std::string::npos);
  size_t charts = 0;
  constexpr std::string_view kPath = "<path class=\"hue0\" d=\"";
  for (size_t at = page.find(kPath); at != std::string::npos; at = page.find(kPath, at + 1)) {
    const std::string drawn = page.substr(at, page.find("\">", at) - at);
    EXPECT_GT(std::count(drawn.begin(), drawn.end(), 'L'), 5) << drawn;
    ++charts;
  }
  EXPECT_EQ(charts, 5u);
  const std::string json = run("report h200_monitor --format json");
  EXPECT_EQ(json.find("\"busy_ns\":0"), std::string::npos);
}

// What an export lacks is said, and its exit code tells.
TEST(DamagedSessionTest, AnExportOfItSaysWhatIsMissing) {
  fs::current_path(kGolden);
  const auto exported = cli::testing::run_typed("export corrupt --to json --output -");
  EXPECT_EQ(exported.exit_code, 1) << exported.err;
  EXPECT_NE(exported.err.find("cannot be read and are missing from it"), std::string::npos)
      << exported.err;
  EXPECT_EQ(cli::testing::run_typed("export complete --to json --output -").exit_code, 0);
}

// The sessions that people try first, in every format of the report. Texts lie beside the
// recordings: a folder of sessions holds nothing else.
TEST(ExampleSessionTest, IsReportedAsStored) {
  fs::current_path(GPUFL_EXAMPLE_SESSIONS_DIR);
  for (const auto& [arguments, name] :
       {std::pair("--full --width 80 h200_gpt", "h200_gpt.report_80.txt"),
        std::pair("--full --width 140 h200_gpt", "h200_gpt.report_140.txt"),
        std::pair("--full --format md h200_gpt", "h200_gpt.report.md"),
        std::pair("--format md h200_gpt", "h200_gpt.short.md"),
        std::pair("--format json h200_gpt", "h200_gpt.report.json"),
        std::pair("--width 100 h200_gpt", "h200_gpt.short.txt"),
        std::pair("--full --width 100 h200_torch", "h200_torch.report.txt"),
        std::pair("--width 100 h200_torch", "h200_torch.short.txt")}) {
    expect_text(kRecordings / name, run(std::string("report ") + arguments));
  }
}

// Byte for byte: a change here is a change of the format.
TEST(GoldenWriterTest, WritesTheStoredText) {
  std::string pattern = (fs::temp_directory_path() / "gpufl_golden_XXXXXX").string();
  const fs::path temporary = mkdtemp(pattern.data());
  const fs::path texts = is_update() ? kGolden / "complete.text" : temporary / "text";
  write_complete(temporary / "session", texts);
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(kGolden / "complete.text")) {
    const fs::path written = texts / entry.path().filename();
    EXPECT_EQ(read_text(written), read_text(entry.path())) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 2 * format::kChannelCount);
  fs::remove_all(temporary);
}

}  // namespace
}  // namespace gpufl::replay
