// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/code/module_watch.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "backend/nvidia/code/code_fixture.hpp"
#include "backend/recording_sink.hpp"
#include "base/eventually.hpp"

namespace gpufl::backend {
namespace {

using code_fixture::checksum;

class ModuleWatchTest : public testing::Test {
 protected:
  ModuleWatchTest() {
    static int64_t session = 0;
    watch().start({checksum, {90}, {}}, ++session);
  }
  ~ModuleWatchTest() override { watch().stop(); }
  static ModuleWatch& watch() { return ModuleWatch::instance(); }

  // Has no room the first times.
  struct Sink final : RecordingSink {
    bool keep_code(int64_t time_ns, const CodeImage& image) override {
      if (refusals > 0) return --refusals, false;
      ++kept;
      return RecordingSink::keep_code(time_ns, image);
    }
    int refusals = 0;
    int kept = 0;
  } sink_;
};

TEST_F(ModuleWatchTest, HandsOverWhatRan) {
  watch().on_loaded(code_fixture::cubin());
  watch().on_kernel(code_fixture::kDoubleAll);
  watch().on_kernel(code_fixture::kDoubleAll);
  EXPECT_TRUE(base::eventually([&] {
    watch().drain(1, sink_);
    return !sink_.code.empty();
  }));
  watch().finish(2, sink_);
  EXPECT_EQ(sink_.kept, 1);
  EXPECT_EQ(sink_.code.at(checksum(code_fixture::cubin())), code_fixture::cubin());
}

TEST_F(ModuleWatchTest, FinishesWhatIsUnderWay) {
  watch().on_loaded(code_fixture::cubin());
  watch().on_kernel(code_fixture::kDoubleAll);
  watch().on_sampled(4711, "_Z7unknownv");
  sink_.refusals = 3;
  watch().finish(2, sink_);
  EXPECT_EQ(sink_.code.at(checksum(code_fixture::cubin())), code_fixture::cubin());
  EXPECT_EQ(sink_.code.at(4711), "");
  EXPECT_EQ(sink_.kept, 2);
}

TEST_F(ModuleWatchTest, WhatWasLoadedUnderOneTracerRunsUnderTheNext) {
  watch().on_loaded(code_fixture::cubin());
  watch().finish(1, sink_);
  EXPECT_TRUE(sink_.code.empty());
  watch().start({checksum, {90}, {}}, 1'000'000);
  watch().on_kernel(code_fixture::kDoubleAll);
  watch().finish(2, sink_);
  EXPECT_EQ(sink_.code.size(), 1u);
}

// Threads of the program load modules while the collector drains.
TEST_F(ModuleWatchTest, TakesModulesFromManyThreads) {
  std::vector<std::thread> threads;
  for (char thread = 1; thread <= 4; ++thread) {
    threads.emplace_back([thread] {
      std::string image = code_fixture::cubin();
      for (char i = 0; i < 20; ++i) {
        image.back() = static_cast<char>(thread * 20 + i);
        watch().on_loaded(image);
      }
    });
  }
  watch().on_kernel(code_fixture::kAddAll);
  for (int round = 0; round < 100; ++round) watch().drain(round, sink_);
  for (std::thread& thread : threads) thread.join();
  watch().finish(1'000, sink_);
  EXPECT_EQ(sink_.code.size(), 80u);
}

}  // namespace
}  // namespace gpufl::backend
