// SPDX-License-Identifier: Apache-2.0
#include "timeline/session_texts.hpp"

#include <gtest/gtest.h>

#include "analysis/session/test_tables.hpp"

namespace gpufl::timeline {
namespace {

using analysis::testing::TestSession;

// A stack of the driver, a line of the program, one of a framework, and two of the program again.
analysis::SessionData session_with_stack() {
  symbols::SessionFrames frames;
  const auto add = [&](const char* line) {
    const auto parsed = base::Json::parse(line);
    ASSERT_TRUE(parsed.is_ok()) << line;
    frames.add(*parsed);
  };
  add(R"({"type":"dict","dict":"name","ids":[1,2,3,4],"values":["step","call","fit","main"]})");
  add(R"({"type":"dict","dict":"text","ids":[1,2,3],"values":["/home/me/train.py",
      "/usr/lib/python3/dist-packages/torch/nn/module.py","/usr/lib/libcuda.so.1"]})");
  add(R"({"type":"dict","dict":"frame","ids":[1,2,3,4,5],"values":[
      {"module":3,"offset":"0x10","build_id":"ab"},{"function":1,"file":1,"line":90},
      {"function":2,"file":2,"line":7},{"function":3,"file":1,"line":120},
      {"function":4,"file":1,"line":200}]})");
  add(R"({"type":"dict","dict":"stack","ids":[10,11],"values":[
      {"frames":[1,2,3,4,5]},{"frames":[1]}]})");
  TestSession session;
  session.data.code = analysis::CodeMap(frames, {});
  return session.finish();
}

TEST(SessionTextsTest, ASiteHasAsManyFramesOfTheProgramAsAskedFor) {
  const analysis::SessionData session = session_with_stack();
  EXPECT_EQ(SessionTexts(session).site(10), "train.py:90 in step()");
  EXPECT_EQ(SessionTexts(session, 2).site(10), "train.py:90 in step() < train.py:120 in fit()");
  const SessionTexts deep(session, 100);
  EXPECT_EQ(deep.site(10),
            "train.py:90 in step() < train.py:120 in fit() < train.py:200 in main()");
  EXPECT_EQ(deep.site(11), "<driver-internal>");
  EXPECT_EQ(deep.site(0), "");
}

}  // namespace
}  // namespace gpufl::timeline
