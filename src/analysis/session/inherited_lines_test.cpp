// SPDX-License-Identifier: Apache-2.0
#include "analysis/session/inherited_lines.hpp"

#include <gtest/gtest.h>

#include "analysis/session/test_tables.hpp"

namespace gpufl::analysis {
namespace {

using testing::TestSession;

constexpr int64_t kMain = 1, kBackward = 2, kOther = 3;
constexpr uint32_t kForwardLine = 10, kBackwardLine = 11, kOtherLine = 12, kFramework = 20;

class InheritedLinesTest : public ::testing::Test {
 protected:
  InheritedLinesTest() {
    symbols::SessionFrames frames;
    const auto add = [&](const char* line) {
      const auto parsed = base::Json::parse(line);
      ASSERT_TRUE(parsed.is_ok()) << line;
      frames.add(*parsed);
    };
    add(R"({"type":"dict","dict":"name","ids":[1,2],"values":["forward","run_backward"]})");
    add(R"({"type":"dict","dict":"text","ids":[1,2],"values":["/home/me/train.py",
        "/usr/lib/python3/dist-packages/torch/lib/libtorch_cpu.so"]})");
    add(R"({"type":"dict","dict":"frame","ids":[1,2,3,4],"values":[
        {"function":1,"file":1,"line":30},{"function":2,"file":1,"line":40},
        {"function":2,"file":1,"line":50},{"module":2,"offset":"0x10","build_id":"ab"}]})");
    add(R"({"type":"dict","dict":"stack","ids":[10,11,12,20],"values":[
        {"frames":[4,1]},{"frames":[4,2]},{"frames":[3]},{"frames":[4]}]})");
    session_.data.code = CodeMap(frames, {});
  }
  void launch(int64_t time_ns, int64_t thread, uint32_t stack) {
    session_.kernel("k", time_ns + 5, 1, {.thread = thread, .api_start = time_ns, .stack = stack});
  }
  // "40 inherited", "30", "" of the kernels in order of time.
  std::vector<std::string> lines() {
    data_ = session_.finish();
    const InheritedLines all(data_);
    std::vector<std::string> texts;
    for (size_t row = 0; row < data_.tables.kernels.rows(); ++row) {
      const InheritedLine line = all.at(data_.tables.kernels, row);
      texts.push_back(line.site->line == 0 ? "" : std::to_string(line.site->line));
      if (line.inherited) texts.back() += " inherited";
    }
    return texts;
  }

  TestSession session_;
  SessionData data_;
};

using Lines = std::vector<std::string>;

TEST_F(InheritedLinesTest, AThreadOfTheFrameworkInheritsTheLatestLineOfTheProgram) {
  launch(100, kMain, kForwardLine);
  launch(200, kMain, kBackwardLine);
  launch(300, kBackward, kFramework);
  launch(310, kBackward, kFramework);
  launch(400, kMain, kForwardLine);
  launch(500, kBackward, kFramework);  // behind the last line that is known
  EXPECT_EQ(lines(), (Lines{"30", "40", "40 inherited", "40 inherited", "30", "30 inherited"}));
}

// What counts is when the call was made, whenever the kernel ran.
TEST_F(InheritedLinesTest, WaitsTellLinesToo) {
  launch(100, kMain, kForwardLine);
  session_.wait(3, 150, 10, {.thread = kMain, .stack = kBackwardLine});
  launch(200, kBackward, kFramework);
  EXPECT_EQ(lines(), (Lines{"30", "40 inherited"}));
}

TEST_F(InheritedLinesTest, NothingIsInheritedBeforeThereIsALine) {
  launch(50, kBackward, kFramework);
  launch(100, kMain, kForwardLine);
  EXPECT_EQ(lines(), (Lines{"", "30"}));
}

TEST_F(InheritedLinesTest, OfTwoThreadsNobodyInherits) {
  launch(100, kMain, kForwardLine);
  launch(110, kOther, kOtherLine);
  launch(120, kBackward, kFramework);
  launch(130, kOther, kOtherLine);
  launch(140, kBackward, kFramework);  // the other thread has made its last call
  launch(150, kMain, kForwardLine);
  EXPECT_EQ(lines(), (Lines{"30", "50", "", "50", "30 inherited", "30"}));
}

TEST_F(InheritedLinesTest, WithoutAStackThereIsNoLine) {
  launch(100, kMain, kForwardLine);
  launch(200, kBackward, kNoStack);
  launch(300, kMain, kFramework);  // the driver did it by itself
  EXPECT_EQ(lines(), (Lines{"30", "", ""}));
}

TEST_F(InheritedLinesTest, ASessionWithoutStacks) {
  launch(100, kMain, kNoStack);
  EXPECT_EQ(lines(), (Lines{""}));
}

}  // namespace
}  // namespace gpufl::analysis
