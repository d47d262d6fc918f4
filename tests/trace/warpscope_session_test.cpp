// SPDX-License-Identifier: Apache-2.0
// Launches that warpscope profiles in whole sessions, over the stand-ins of libcupti and libcuda:
// where their spans lie, in which kernel, and what the log says when the GPU's clock is not to be
// had. The stand-in's GPU knows the truth.

#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <thread>

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "capture/session.hpp"
#include "capture/warp_words.hpp"
#include "format/session_reader.hpp"
#include "format/verify.hpp"
#include "format/warp_launch.hpp"
#include "tests/standin/cuda/cuda_timer_standin.hpp"
#include "tests/standin/cupti/cupti_standin.hpp"

namespace gpufl::capture {
namespace {

using namespace std::chrono_literals;
using format::Kind;

constexpr uint32_t kCupti130 = 130'001;
constexpr const char* kTimerKernel = "gpufl_read_globaltimer";
constexpr int64_t kTickNs = 32;

template <typename Function>
const auto& standin_of(const char* library, const char* name) {
  void* handle = dlopen(library, RTLD_NOW);
  if (handle == nullptr) std::abort();
  return *reinterpret_cast<Function*>(dlsym(handle, name))();
}
const standin::CuptiStandin& cupti() {
  return standin_of<standin::CuptiStandinFunction>(GPUFL_STANDIN_CUPTI, "cupti_standin");
}
const standin::CudaTimerStandin& cuda() {
  return standin_of<standin::CudaTimerStandinFunction>(GPUFL_STANDIN_CUDA, "cuda_timer_standin");
}

standin::Launch timer_launch() {
  standin::Launch launch;
  launch.name = kTimerKernel;
  launch.stream = 77;
  launch.by_driver = true;
  launch.withheld = true;
  return launch;
}

constexpr standin::CudaKernelHooks kHooks = {
    [] { return cupti().launch(timer_launch()); },
    [](uint32_t id, int64_t begin_ns, int64_t end_ns) {
      cupti().kernel(timer_launch(), id, static_cast<uint64_t>(begin_ns),
                     static_cast<uint64_t>(end_ns));
    },
    [] { cupti().allocate_on_host(); },
};

struct Times {
  int64_t begin_ns, end_ns;
};
// On the monotonic clock.
struct Truth {
  int64_t correlation;
  Times kernel;
  std::vector<Times> spans;
};

// What a session's log has of all this.
struct Logged : format::Visitor {
  void on_batch(const format::Batch& batch, const format::Dictionaries&) override {
    namespace kernel = format::kernel_column;
    namespace span = format::warp_span_column;
    for (size_t i = 0; i < batch.rows(); ++i) {
      if (batch.kind() == Kind::Kernel) {
        const int64_t start_ns = batch.at(kernel::kStart, i);
        kernels[batch.at(kernel::kCorrelation, i)] = {start_ns,
                                                      start_ns + batch.at(kernel::kDuration, i)};
      } else if (batch.kind() == Kind::WarpSpan) {
        const int64_t start_ns = batch.at(span::kStart, i);
        spans[batch.at(span::kLaunch, i)].push_back(
            {start_ns, start_ns + batch.at(span::kDuration, i)});
      } else if (batch.kind() == Kind::Api) {
        ++calls;
      }
    }
  }
  void on_object(Kind kind, const base::Json& line) override {
    if (kind == Kind::WarpLaunch) launches.push_back(format::read_warp_launch(line));
  }

  std::map<int64_t, Times> kernels;
  std::map<int64_t, std::vector<Times>> spans;
  std::vector<format::WarpLaunch> launches;
  int calls = 0;
};

class WarpscopeSession : public testing::Test {
 protected:
  WarpscopeSession() {
    setenv("GPUFL_CUPTI_LIBRARY", GPUFL_STANDIN_CUPTI, 1);
    cuda().reset(kHooks);
    cuda().set_timer(402'000, 2'300);
    cuda().set_context(++contexts);  // with nothing of ours in it
    cupti().reset(kCupti130);
    char pattern[] = "/tmp/gpufl_warpscope_XXXXXX";
    folder_ = mkdtemp(pattern);
    config_.log_root = folder_;
    config_.backend = "nvidia";
    config_.engine = "Trace";
  }
  ~WarpscopeSession() override {
    cuda().wait_for_kernels();
    std::filesystem::remove_all(folder_);
  }

  void start() {
    start_ns_ = base::monotonic_ns();
    auto session = Session::start(config_);
    ASSERT_TRUE(session) << session.status().text();
    session_ = std::move(*session);
  }
  // A launch of one kernel with a span in each of two groups, and its capture. The truth is kept.
  WarpscopeCapture play(bool opens = true) {
    WarpscopeCapture capture;
    if (opens) {
      session_->open_warpscope();
      capture.opened_ns = base::monotonic_ns();
    }
    capture.thread = gettid();
    standin::Launch launch;
    launch.name = "gemm";
    launch.withheld = true;
    const uint32_t correlation = cupti().launch(launch);
    WarpWords words(1, 2, 8);
    const int64_t begin_ns = base::monotonic_ns();
    Truth truth{correlation, {begin_ns, 0}, {}};
    for (uint32_t group = 0; group < 2; ++group) {
      const int64_t first_ns = base::monotonic_ns();
      while (base::monotonic_ns() < first_ns + 3'000) {
      }
      const int64_t last_ns = base::monotonic_ns();
      words.span(0, group, 1, cuda().timer_at(first_ns), cuda().timer_at(last_ns));
      words.add(0, group, WarpRecord::Finalize, 0, cuda().timer_at(last_ns));
      truth.spans.push_back({first_ns, last_ns});
    }
    cupti().kernel(launch, correlation, static_cast<uint64_t>(begin_ns),
                   static_cast<uint64_t>(base::monotonic_ns()));
    truth_.push_back(std::move(truth));
    capture.words = words.capture();
    return capture;
  }
  Logged finish() {
    cuda().wait_for_kernels();
    EXPECT_TRUE(session_->stop());
    Logged logged;
    const auto reader = format::SessionReader::open(session_->dir());
    EXPECT_TRUE(reader);
    if (reader) reader->read(logged);
    return logged;
  }
  // Every launch is joined with its own kernel, and no span is further from where it was than its
  // error says, nor outside of its kernel by more. The log has kernels where they were.
  void expect_true(const Logged& logged) const {
    ASSERT_EQ(logged.launches.size(), truth_.size());
    ASSERT_EQ(logged.kernels.size(), truth_.size());
    for (const format::WarpLaunch& launch : logged.launches) {
      const Truth& truth = truth_.at(static_cast<size_t>(launch.launch - 1));
      ASSERT_EQ(launch.correlation, truth.correlation) << format::to_json(launch).dump();
      ASSERT_TRUE(launch.error_ns);
      const int64_t error_ns = *launch.error_ns;
      const Times kernel = logged.kernels.at(launch.correlation);
      const int64_t zero_ns = truth.kernel.begin_ns - kernel.begin_ns;
      const std::vector<Times>& spans = logged.spans.at(launch.launch);
      ASSERT_EQ(spans.size(), truth.spans.size());
      for (size_t i = 0; i < spans.size(); ++i) {
        EXPECT_GE(spans[i].begin_ns, kernel.begin_ns - error_ns);
        EXPECT_LE(spans[i].end_ns, kernel.end_ns + error_ns);
        const Times real = {truth.spans[i].begin_ns - zero_ns, truth.spans[i].end_ns - zero_ns};
        EXPECT_LE(std::abs(spans[i].begin_ns - real.begin_ns), error_ns + kTickNs);
        EXPECT_LE(std::abs(spans[i].end_ns - real.end_ns), error_ns + kTickNs);
      }
    }
  }

  static inline uint64_t contexts = 0;
  std::filesystem::path folder_;
  SessionConfig config_;
  std::unique_ptr<Session> session_;
  int64_t start_ns_ = 0;
  std::vector<Truth> truth_;
};

TEST_F(WarpscopeSession, SpansLieInTheirKernels) {
  start();
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(session_->record_warpscope(play()));
  const Logged logged = finish();
  expect_true(logged);
  // What reads the clock is in no account and has no row.
  EXPECT_EQ(logged.calls, 0);
  const format::VerifyResult result = format::verify_session(session_->dir());
  EXPECT_EQ(result.verdict, format::Verdict::Complete) << result.to_json().dump();
  EXPECT_EQ(result.ledger->launches_seen, 20u);
  EXPECT_EQ(result.ledger->kernel_records, 20u);
}

// On a machine that is busy a reading may fail; it does not for ever.
TEST_F(WarpscopeSession, TheClockIsMeasured) {
  start();
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  bool is_measured = false;
  while (!is_measured && std::chrono::steady_clock::now() < deadline) {
    EXPECT_TRUE(session_->record_warpscope(play()));
    session_->flush();
    Logged logged;
    const auto reader = format::SessionReader::open(session_->dir());
    ASSERT_TRUE(reader);
    reader->read(logged);
    ASSERT_FALSE(logged.launches.empty());
    is_measured = logged.launches.back().problems.empty();
  }
  EXPECT_TRUE(is_measured);
  EXPECT_EQ(cuda().modules_loaded(), 1u) << "once for each context";
  finish();
}

TEST_F(WarpscopeSession, WithoutHavingBeenOpened) {
  start();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(session_->record_warpscope(play(false)));
  const Logged logged = finish();
  ASSERT_EQ(logged.launches.size(), 3u);
  for (const format::WarpLaunch& launch : logged.launches) {
    if (!launch.error_ns) continue;  // the machine was too busy for a reading
    EXPECT_EQ(launch.correlation, truth_.at(static_cast<size_t>(launch.launch - 1)).correlation);
  }
}

TEST_F(WarpscopeSession, MonitorHasNoKernelsAndItsSpansATime) {
  config_.engine = "Monitor";
  start();
  const WarpscopeCapture capture = play();
  EXPECT_TRUE(session_->record_warpscope(capture));
  const Logged logged = finish();
  ASSERT_EQ(logged.launches.size(), 1u);
  EXPECT_EQ(logged.launches[0].correlation, 0);
  EXPECT_EQ(logged.launches[0].join, "");
  if (!logged.launches[0].error_ns) return;  // too busy for a reading
  // The session began between start_ns_ and its first line: a moment.
  const int64_t latest =
      truth_[0].spans[0].begin_ns - start_ns_ + *logged.launches[0].error_ns + kTickNs;
  EXPECT_LE(logged.spans.at(1)[0].begin_ns, latest);
}

// Each of these leaves the launch in its kernel, by thread and time, and says what was wrong.
struct Failure {
  const char* function;
  const char* said;
};
class WarpscopeFailure : public WarpscopeSession, public testing::WithParamInterface<Failure> {};

TEST_P(WarpscopeFailure, IsSaidAndTheKernelFoundAllTheSame) {
  const Failure failure = GetParam();
  if (*failure.function == '\0') {
    cuda().set_context(0);
  } else {
    cuda().fail(failure.function, 1);
  }
  start();
  WarpscopeCapture capture = play();
  capture.device = 0;
  EXPECT_TRUE(session_->record_warpscope(std::move(capture)));
  const Logged logged = finish();
  expect_true(logged);
  ASSERT_FALSE(logged.launches[0].problems.empty());
  EXPECT_NE(logged.launches[0].problems[0].find(failure.said), std::string::npos)
      << logged.launches[0].problems[0];
  const format::VerifyResult result = format::verify_session(session_->dir());
  EXPECT_EQ(result.verdict, format::Verdict::Complete) << result.to_json().dump();
}
INSTANTIATE_TEST_SUITE_P(
    Each, WarpscopeFailure,
    testing::Values(Failure{"", "no CUDA context"}, Failure{"cuCtxGetCurrent", "cuCtxGetCurrent"},
                    Failure{"cuCtxGetDevice", "cuCtxGetDevice"},
                    Failure{"cuCtxGetId", "cuCtxGetId"},
                    Failure{"cuModuleLoadData", "cuModuleLoadData"},
                    Failure{"cuModuleGetFunction", "cuModuleGetFunction"},
                    Failure{"cuStreamCreateWithPriority", "cuStreamCreateWithPriority"},
                    Failure{"cuMemHostAlloc", "cuMemHostAlloc"},
                    Failure{"cuMemHostGetDevicePointer", "cuMemHostGetDevicePointer"},
                    Failure{"cuLaunchKernel", "cuLaunchKernel"}));

TEST_F(WarpscopeSession, ABusyGpuIsNotWaitedForLong) {
  start();
  cuda().hold_kernels(true);
  WarpscopeCapture capture = play();
  capture.device = 0;
  EXPECT_TRUE(session_->record_warpscope(std::move(capture)));
  // Another one does not pile up behind the first.
  capture = play();
  capture.device = 0;
  EXPECT_TRUE(session_->record_warpscope(std::move(capture)));
  cuda().hold_kernels(false);
  const Logged logged = finish();
  expect_true(logged);
  for (const format::WarpLaunch& launch : logged.launches) {
    ASSERT_FALSE(launch.problems.empty());
    EXPECT_NE(launch.problems[0].find("did not run"), std::string::npos);
  }
}

TEST_F(WarpscopeSession, WordsAreCopiedFromTheGpu) {
  start();
  const std::vector<uint64_t> there = {1, 2, 3};
  std::vector<uint64_t> here;
  EXPECT_TRUE(session_->copy_from_device(there.data(), there.size(), here));
  EXPECT_EQ(here, there);
  cuda().fail("cuMemcpyDtoH", 1);
  EXPECT_FALSE(session_->copy_from_device(there.data(), there.size(), here));
  cuda().set_context(0);
  EXPECT_FALSE(session_->copy_from_device(there.data(), there.size(), here));
  finish();
}

TEST_F(WarpscopeSession, AnEndedSessionTakesNothing) {
  start();
  WarpscopeCapture capture = play();
  finish();
  EXPECT_FALSE(session_->record_warpscope(std::move(capture)));
  session_->open_warpscope();
}

}  // namespace
}  // namespace gpufl::capture
