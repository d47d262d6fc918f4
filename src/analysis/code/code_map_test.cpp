// SPDX-License-Identifier: Apache-2.0
#include "analysis/code/code_map.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/json.hpp"

namespace gpufl::analysis {
namespace {

// Stacks of a training loop: cudart waits for torch, which works for train.py; and the driver by
// itself.
class CodeMapTest : public ::testing::Test {
 protected:
  int64_t native(const std::string& module, int64_t offset) {
    const int64_t text = define("text", '"' + module + '"');
    return define("frame", R"({"module":)" + std::to_string(text) + R"(,"offset":)" +
                               std::to_string(offset) + "}");
  }
  int64_t python(const std::string& file, const std::string& function, int64_t line) {
    const int64_t text = define("text", '"' + file + '"');
    const int64_t name = define("name", '"' + function + '"');
    return define("frame", R"({"function":)" + std::to_string(name) + R"(,"file":)" +
                               std::to_string(text) + R"(,"line":)" + std::to_string(line) + "}");
  }
  uint32_t stack(const std::vector<int64_t>& frames) {
    std::string list;
    for (const int64_t frame : frames) list += (list.empty() ? "" : ",") + std::to_string(frame);
    return stack_id(define("stack", R"({"frames":[)" + list + "]}"));
  }
  // As the log's `dict` lines have it; the id that it got.
  int64_t define(const std::string& dict, const std::string& value) {
    const int64_t id = ++last_id_;
    add(R"({"dict":")" + dict + R"(","ids":[)" + std::to_string(id) + R"(],"values":[)" + value +
        "]}");
    return id;
  }
  void add(const std::string& line) {
    const auto parsed = base::Json::parse(line);
    ASSERT_TRUE(parsed) << parsed.status().text();
    frames_.add(*parsed);
  }

  symbols::SessionFrames frames_;
  int64_t last_id_ = 0;
};

TEST_F(CodeMapTest, StacksLeadToTheLineOfTheProgram) {
  const int64_t cudart = native("/x/libcudart.so.13", 64);
  const int64_t line = python("/home/me/train.py", "train_step", 90);
  const uint32_t one = stack(
      {cudart, native("/x/libtorch_cuda.so", 1), line, python("/home/me/train.py", "epoch", 10)});
  const uint32_t two = stack(
      {cudart, native("/x/libtorch_cuda.so", 2), line, python("/home/me/train.py", "warm_up", 20)});
  const uint32_t driver = stack({cudart, native("/usr/lib/libcuda.so.1", 3)});
  const CodeMap code(frames_, {});
  EXPECT_EQ(code.site(one),
            (CodeSite{"train.py:90 in train_step()", "/home/me/train.py", 90, "", false}));
  EXPECT_EQ(code.site(two), code.site(one));
  EXPECT_EQ(code.frames(one).size(), 4u);
  EXPECT_EQ(code.site(driver).text, "<driver-internal>");
  EXPECT_EQ(code.api_function(one), "");
  EXPECT_EQ(code.site(kNoStack).text, "");
  EXPECT_TRUE(code.unresolved().empty());
}

TEST_F(CodeMapTest, SymbolsNameFramesAndTellWhatTheyDoNot) {
  const int64_t cudart = native("/x/libcudart.so.13", 64);
  const int64_t program = native("/home/me/train", 128);
  const uint32_t wait = stack({cudart, program});
  symbols::SymbolFile file;
  file.frames[cudart] = {{"cudaStreamSynchronize", "", 0, false}};
  file.frames[program] = {{"step(int)", "/home/me/step.cpp", 12, true},
                          {"main", "/home/me/main.cpp", 3, false}};
  file.sources = {{"/home/me/step.cpp", "cpp", 11, true, {"{", "  wait();", "}"}}};
  file.binaries = {{"/home/me/train", "", "debug_info", "/home/me/train", "", 1, 1},
                   {"/home/me/other.so", "", "not_found", "", "", 1, 0},
                   {"/usr/lib/libfoo.so", "", "not_found", "", "", 1, 0}};
  const CodeMap code(frames_, file);
  EXPECT_EQ(code.api_function(wait), "cudaStreamSynchronize");
  EXPECT_EQ(code.site(wait),
            (CodeSite{"step.cpp:12 in step(int)", "/home/me/step.cpp", 12, "  wait();", true}));
  ASSERT_EQ(code.unresolved().size(), 1u);
  EXPECT_EQ(code.unresolved()[0].path, "/home/me/other.so");
}

TEST_F(CodeMapTest, StacksThatNobodyDefined) {
  add(R"({"dict":"stack","ids":[-7,"x"],"values":[{"frames":[1,"y"]},3]})");
  const CodeMap code(frames_, {});
  EXPECT_EQ(code.site(99).text, "");
  EXPECT_TRUE(code.frames(stack_id(-7)).empty());
}

}  // namespace
}  // namespace gpufl::analysis
