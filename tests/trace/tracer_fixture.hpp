// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <future>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "backend/nvidia/cupti/call_watch.hpp"
#include "backend/nvidia/cupti/cupti_tracer.hpp"
#include "backend/recording_sink.hpp"
#include "base/clock.hpp"
#include "base/eventually.hpp"
#include "tests/standin/cupti/cupti_standin.hpp"
#include "tests/standin/cupti/standin_callbacks.hpp"

// A tracer over the stand-in libcupti, in the rounds that a collector would go.
namespace gpufl::backend {

constexpr int64_t kFlushNs = 60'000'000;  // in so long a flush falls due
constexpr uint32_t kCupti120 = 18, kCupti129 = 28, kCupti130 = 130'001, kCupti131 = 130'101,
                   kCupti133 = 130'300;

// Stacks by number: the n-th recorded is n.
class CountingStacks final : public StackRecorder {
 public:
  uint32_t record() noexcept override { return ++taken; }
  std::atomic<uint32_t> taken{0};
};

// A call of the program's, on a thread of its own, that returns when the test lets it.
class HeldCall {
 public:
  // `call(inside, data)` is under way once this returns.
  template <typename Call>
  explicit HeldCall(Call call) : program_([this, call] { call(wait, this); }) {
    entered_.get_future().wait();
  }
  ~HeldCall() {
    if (program_.joinable()) release();
  }
  HeldCall(const HeldCall&) = delete;
  HeldCall& operator=(const HeldCall&) = delete;
  // It has returned once this does.
  void release() {
    released_.set_value();
    program_.join();
  }

 private:
  static void wait(void* held) {
    auto& self = *static_cast<HeldCall*>(held);
    self.entered_.set_value();
    self.released_.get_future().wait();
  }

  std::promise<void> entered_, released_;
  std::thread program_;
};

class TracerFixture : public testing::Test {
 protected:
  void SetUp() override { use_cupti(GPUFL_STANDIN_CUPTI); }

  void use_cupti(const char* path) {
    setenv("GPUFL_CUPTI_LIBRARY", path, 1);
    void* handle = dlopen(path, RTLD_NOW);
    ASSERT_NE(handle, nullptr) << dlerror();
    standin_ = reinterpret_cast<standin::CuptiStandinFunction*>(dlsym(handle, "cupti_standin"))();
    callbacks_ = reinterpret_cast<standin::CuptiStandinCallbacksFunction*>(
        dlsym(handle, "cupti_standin_callbacks"))();
    standin_->reset(kCupti130);
    CallWatch::instance().forget_graphs();  // of the test before
  }

  // In a session of its own.
  Availability start(const TraceOptions& options = {}) {
    session_start_ns_ = base::monotonic_ns();
    return resume(options);
  }
  // In the session that there is.
  Availability resume(const TraceOptions& options = {}) {
    Availability why;
    auto library = CuptiLibrary::open(why);
    if (!library) return why;
    tracer_ = make_cupti_tracer(library, options, devices_);
    return tracer_->start(session_start_ns_);
  }
  // For the tracer, which is told the time of a round.
  void pass_time(int64_t ns) { passed_ns_ += ns; }
  // A round of the collector.
  void drain() {
    const int64_t now_ns = base::monotonic_ns() - session_start_ns_ + passed_ns_;
    tracer_->gather(now_ns);
    tracer_->drain(now_ns, sink_);
  }
  // Rounds until `condition` holds.
  template <typename Condition>
  bool drain_until(Condition condition) {
    return base::eventually([&] {
      drain();
      return condition();
    });
  }
  // As a session ends. The tracer is gone afterwards.
  format::Ledger finish() {
    tracer_->stop();
    drain();
    format::Ledger ledger;
    tracer_->account(ledger);
    tracer_.reset();
    return ledger;
  }
  std::vector<std::vector<int64_t>>& rows(format::Kind kind) { return sink_.rows[kind]; }
  std::vector<base::Json> events(std::string_view name) {
    std::vector<base::Json> found;
    for (const base::Json& line : sink_.lines[format::Kind::Event]) {
      if (line["name"].as_string() == name) found.push_back(line);
    }
    return found;
  }

  const standin::CuptiStandin* standin_ = nullptr;
  const standin::CuptiStandinCallbacks* callbacks_ = nullptr;
  SessionDevices devices_;
  std::unique_ptr<Tracer> tracer_;
  int64_t session_start_ns_ = 0, passed_ns_ = 0;
  RecordingSink sink_;
};

}  // namespace gpufl::backend
