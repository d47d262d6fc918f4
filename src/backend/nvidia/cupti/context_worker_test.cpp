// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/context_worker.hpp"

#include <atomic>
#include <limits>
#include <new>
#include <thread>

#include <gtest/gtest.h>

#include "base/eventually.hpp"

namespace gpufl::backend {
namespace {

CUcontext context(uintptr_t number) {
  return reinterpret_cast<CUcontext>(number);  // NOLINT(performance-no-int-to-ptr)
}

CUptiResult CUPTIAPI context_id(CUcontext of, uint32_t* id) {
  *id = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(of));
  return CUPTI_SUCCESS;
}

CuptiApi only_ids() {
  CuptiApi api{};
  api.cuptiGetContextId = context_id;
  return api;
}

struct Seen {
  explicit Seen(const LaunchGate& of) : gate(of) {}

  const LaunchGate& gate;
  std::atomic<int> enabled{0}, disabled{0}, destroyed{0};
  std::atomic<bool> was_shut{false};  // when it was enabled
};

class PlayedContext final : public AttachedContext {
 public:
  PlayedContext(Seen& seen, CUcontext context) : AttachedContext(context, 0), seen_(seen) {}
  ~PlayedContext() override { ++seen_.destroyed; }
  Availability enable() override {
    seen_.was_shut = seen_.gate.is_shut();
    ++seen_.enabled;
    return {true, "", "", ""};
  }
  Availability disable() override {
    ++seen_.disabled;
    return {true, "", "", ""};
  }
  const char* enable_call() const override { return "enable"; }
  const char* disable_call() const override { return "disable"; }

 private:
  Seen& seen_;
};

// An engine that runs out of memory when it ends, or when it has attached a context.
class PoorWorker final : public ContextWorker {
 public:
  enum class When : uint8_t { Attached, Ending, Never };

  PoorWorker(const EnginePlace& place, Seen& seen, When when)
      : ContextWorker(place), seen_(seen), when_(when) {}
  const char* name() const override { return "an engine"; }
  std::string_view engine() const override { return "Engine"; }
  const char* hang_reason() const override { return "hangs"; }
  void drain(DeviceNumbers&, RowSink&) override {}
  void account(format::Ledger&) const override {}
  void report(TraceStatus&) const override {}

 private:
  Availability ask(uint32_t, CUcontext) override { return {true, "", "", ""}; }
  std::unique_ptr<AttachedContext> make_context(CUcontext of, uint32_t) override {
    return std::make_unique<PlayedContext>(seen_, of);
  }
  void on_attached(const AttachedContext&) override {
    if (when_ == When::Attached) throw std::bad_alloc();
  }
  void before_detaching() override {
    if (when_ == When::Ending) throw std::bad_alloc();
  }
  void take_turn() override {}
  int64_t next_turn_ns() const override { return std::numeric_limits<int64_t>::max(); }

  Seen& seen_;
  const When when_;
};

class ContextWorkerTest : public testing::Test {
 protected:
  std::shared_ptr<PoorWorker> run(PoorWorker::When when) {
    auto worker = std::make_shared<PoorWorker>(
        EnginePlace{api_, driver_, gate_, 1, devices_, base::monotonic_ns()}, seen_, when);
    auto engine = ContextEngine::start(worker);
    worker->on_context_created(context(1));
    EXPECT_TRUE(base::eventually([&] { return seen_.enabled == 1 && !gate_.is_shut(); }));
    EXPECT_TRUE(seen_.was_shut) << "its first launch waits";
    engine.reset();  // ends it
    return worker;
  }

  const CuptiApi api_ = only_ids();
  const CudaDriver driver_;
  const SessionDevices devices_{};
  LaunchGate gate_;
  Seen seen_{gate_};
};

TEST_F(ContextWorkerTest, GivesUpWhatItHasAttached) {
  const auto worker = run(PoorWorker::When::Never);
  EXPECT_EQ(seen_.disabled, 1);
  EXPECT_EQ(seen_.destroyed, 1);
  EXPECT_FALSE(worker->is_left_on());
  EXPECT_TRUE(worker->take_failures().empty());
}

TEST_F(ContextWorkerTest, WithoutMemoryToEndWhatIsOnStaysAndTheHostGoesOn) {
  const auto worker = run(PoorWorker::When::Ending);
  EXPECT_EQ(seen_.disabled, 0);
  EXPECT_EQ(seen_.destroyed, 0) << "CUPTI may write to it";
  EXPECT_TRUE(worker->is_left_on());
  EXPECT_EQ(worker->take_failures().at(0).why.reason, "out_of_memory");
  EXPECT_FALSE(gate_.is_shut());
}

TEST_F(ContextWorkerTest, WithoutMemoryOnceItIsAttachedItIsGivenUp) {
  const auto worker = run(PoorWorker::When::Attached);
  EXPECT_EQ(seen_.disabled, 1);
  EXPECT_EQ(worker->take_failures().at(0).why.reason, "out_of_memory");
  EXPECT_FALSE(gate_.is_shut());
}

// The gate is left to whoever comes after an engine that ends before it is asked.
TEST_F(ContextWorkerTest, AttachingToAnEngineThatHasEndedOpensTheGate) {
  const auto worker = run(PoorWorker::When::Never);
  ASSERT_TRUE(gate_.shut(1, std::chrono::microseconds(1'000)));
  worker->attach();
  EXPECT_FALSE(gate_.is_shut());
}

}  // namespace
}  // namespace gpufl::backend
