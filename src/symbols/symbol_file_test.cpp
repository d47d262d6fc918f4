// SPDX-License-Identifier: Apache-2.0
#include "symbols/symbol_file.hpp"

#include <gtest/gtest.h>

#include "format/test_session.hpp"

namespace gpufl::symbols {
namespace {

namespace fs = std::filesystem;
using format::testing::file_names;
using format::testing::read_text;
using format::testing::TempDir;
using format::testing::test_header;
using format::testing::write_text;

SymbolFile some_symbols() {
  SymbolFile file;
  file.frames[7] = {{"inner(int)", "/src/a.cpp", 12, true}, {"outer()", "/src/b.cpp", 34, false}};
  file.frames[9] = {{"cudaLaunchKernel", "", 0, false}};
  file.binaries = {{"/bin/train", "ab12", "debug_info", "/bin/train", "/debug/train", 2, 1},
                   {"/lib/gone.so", "", "not_found", "", "", 1, 0}};
  file.sources = {{"/src/a.cpp", "cpp", 10, false, {"one", "", "\tthree \"3\""}},
                  {"/src/t.py", "python", 1, true, {"x"}}};
  file.incomplete = "time_limit";
  return file;
}

TEST(SymbolFileTest, ReadsWhatItWrote) {
  const TempDir dir;
  const SymbolFile wrote = some_symbols();
  ASSERT_TRUE(wrote.write(dir.path(), test_header()));
  EXPECT_EQ(file_names(dir.path()), std::vector<std::string>{kSymbolFileName});
  const auto read = SymbolFile::read(dir.path(), test_header().session_id);
  ASSERT_TRUE(read.is_ok()) << read.status().text();
  EXPECT_EQ(read->frames, wrote.frames);
  EXPECT_EQ(read->binaries, wrote.binaries);
  EXPECT_EQ(read->sources, wrote.sources);
  EXPECT_EQ(read->incomplete, "time_limit");
}

TEST(SymbolFileTest, LooksAsTheFormatSays) {
  const TempDir dir;
  ASSERT_TRUE(some_symbols().write(dir.path(), test_header()));
  const std::string text = read_text(dir.path() / kSymbolFileName);
  EXPECT_TRUE(text.starts_with(R"({"type":"session","format":1,)")) << text;
  EXPECT_NE(text.find(R"x({"type":"symbol","frame":7,"functions":[{"function":"inner(int)",)x"
                      R"x("file":"/src/a.cpp","line":12,"inlined":true},{"function":"outer()",)x"
                      R"x("file":"/src/b.cpp","line":34}]})x"
                      "\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"({"type":"binary","path":"/lib/gone.so","state":"not_found",)"
                      R"("frames":1,"resolved":0})"),
            std::string::npos);
  EXPECT_NE(text.find(R"({"type":"source","path":"/src/t.py","language":"python","first_line":1,)"
                      R"("newer":true,"lines":["x"]})"),
            std::string::npos);
}

TEST(SymbolFileTest, ReplacesTheOneBefore) {
  const TempDir dir;
  ASSERT_TRUE(some_symbols().write(dir.path(), test_header()));
  ASSERT_TRUE(SymbolFile{}.write(dir.path(), test_header()));
  const auto read = SymbolFile::read(dir.path(), test_header().session_id);
  ASSERT_TRUE(read.is_ok());
  EXPECT_TRUE(read->frames.empty());
  EXPECT_EQ(file_names(dir.path()).size(), 1u);
}

TEST(SymbolFileTest, AnotherSessionsIsNotUsed) {
  const TempDir dir;
  EXPECT_EQ(SymbolFile::read(dir.path(), "x").status().code(), base::Code::NotFound);
  ASSERT_TRUE(some_symbols().write(dir.path(), test_header()));
  EXPECT_EQ(SymbolFile::read(dir.path(), "x").status().code(), base::Code::Corrupt);
}

TEST(SymbolFileTest, NonsenseIsPassedOver) {
  const TempDir dir;
  ASSERT_TRUE(some_symbols().write(dir.path(), test_header()));
  const fs::path path = dir.path() / kSymbolFileName;
  std::string text = read_text(path);
  text += "no json\n{}\n[1]\n{\"type\":\"newer\"}\n{\"type\":\"symbol\"}\n";
  text += R"({"type":"symbol","frame":"x","functions":7})"
          "\n";
  text += R"({"type":"symbol","frame":9,"functions":[{"line":-3},7]})"
          "\n";
  text += R"({"type":"source","first_line":-7,"lines":[1,{}]})"
          "\n{\"type\":\"symb";
  write_text(path, text);
  const auto read = SymbolFile::read(dir.path(), test_header().session_id);
  ASSERT_TRUE(read.is_ok());
  EXPECT_EQ(read->frames.at(7), some_symbols().frames.at(7));
  EXPECT_EQ(read->frames.at(9), std::vector<CodeLocation>(2));
  EXPECT_EQ(read->sources.back().first_line, 1);
}

TEST(SymbolFileTest, AFolderThatCannotBeWritten) {
  const base::Status status = SymbolFile{}.write("/proc/no_such_folder", test_header());
  EXPECT_FALSE(status);
  EXPECT_NE(status.message().find("/proc/no_such_folder"), std::string::npos);
}

}  // namespace
}  // namespace gpufl::symbols
