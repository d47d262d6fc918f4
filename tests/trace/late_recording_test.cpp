// SPDX-License-Identifier: Apache-2.0
#include <cuda.h>
#include <dlfcn.h>

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/trace/sampling_fixture.hpp"

// Recordings that begin in a program which uses CUDA already.
namespace gpufl::backend {
namespace {

class LateRecording : public SamplingFixture {
 protected:
  void SetUp() override {
    // Before the tracer asks for libcuda: it finds the one that is loaded.
    void* cuda = dlopen(GPUFL_STANDIN_CUDA, RTLD_NOW);
    ASSERT_NE(cuda, nullptr) << dlerror();
    reinterpret_cast<decltype(&::cuInit)>(dlsym(cuda, "cuInit"))(0);
    SamplingFixture::SetUp();
  }
};

// Under a thread that makes a graph, CUPTI crashes.
TEST_F(LateRecording, RecordsBeginWhileNobodyIsInACall) {
  std::atomic<bool> ends{false};
  std::vector<std::thread> program;
  for (int i = 0; i < 4; ++i) {
    program.emplace_back([&] {
      while (!ends) sampling_->launch([](void*) { std::this_thread::yield(); }, nullptr);
    });
  }
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(start().available);
    (void)finish();
  }
  ends = true;
  for (std::thread& thread : program) thread.join();
  EXPECT_EQ(sampling_->disturbed(), 0u);
}

// A thread that makes a graph, and was seen to begin; it goes on until the test lets it.
class GraphMaker {
 public:
  GraphMaker(const standin::CuptiStandin& cupti, const standin::CuptiStandinCallbacks& callbacks)
      : thread_([this, &cupti, &callbacks] {
          while (!ends_) {
            if (cupti.is_subscribed()) callbacks.make_graph(wait_where_seen, this);
          }
        }) {}
  ~GraphMaker() { end(); }
  GraphMaker(const GraphMaker&) = delete;
  GraphMaker& operator=(const GraphMaker&) = delete;
  void end() {
    ends_ = true;
    if (thread_.joinable()) thread_.join();
  }
  bool was_seen() const { return was_seen_; }

 private:
  static void wait_where_seen(void* maker) {
    auto& self = *static_cast<GraphMaker*>(maker);
    CallWatch& watch = CallWatch::instance();
    if (!watch.launch_gate().is_launch_under_way(watch.session())) return;
    self.was_seen_ = true;
    while (!self.ends_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  std::atomic<bool> ends_{false}, was_seen_{false};
  std::thread thread_;
};

TEST_F(LateRecording, RecordsDoNotBeginWhileAGraphIsBeingMade) {
  bool was_seen = false;
  for (int tries = 0; tries < 20 && !was_seen; ++tries) {
    standin_->reset(kCupti130);
    sampling_->reset();
    GraphMaker maker(*standin_, *callbacks_);
    const Availability started = start();
    was_seen = maker.was_seen() && !started.available;
    maker.end();
    if (!was_seen) {  // its thread was not there in time
      finish();
      continue;
    }
    EXPECT_EQ(started.reason, "graph_under_way");
    EXPECT_EQ(sampling_->disturbed(), 0u);
    EXPECT_EQ(standin_->finalized(), 0u) << "graphs may run";
    EXPECT_FALSE(standin_->is_subscribed());
  }
  ASSERT_TRUE(was_seen);
  tracer_.reset();
  ASSERT_TRUE(start().available);
  standin_->launch({});
  EXPECT_EQ(finish().kernel_records, 1u);
}

TEST_F(LateRecording, ACallThatLastsDoesNotKeepRecordsFromBeginning) {
  std::atomic<bool> ends{false};
  std::thread program([&] {
    while (!ends) {
      callbacks_->load_module(
          [](void* until) {
            while (!*static_cast<std::atomic<bool>*>(until)) std::this_thread::yield();
          },
          &ends);
    }
  });
  EXPECT_TRUE(start().available);
  EXPECT_FALSE(CallWatch::instance().launch_gate().is_shut());
  ends = true;
  program.join();
  standin_->launch({});
  EXPECT_EQ(finish().kernel_records, 1u);
}

// Graphs may be running that were launched before anybody looked.
TEST_F(LateRecording, ThatEndsAtOnceForcesNothingOut) {
  ASSERT_TRUE(start().available);
  standin_->launch({.runs_on = true});
  drain();
  EXPECT_EQ(finish().kernel_records, 0u);
}

}  // namespace
}  // namespace gpufl::backend
