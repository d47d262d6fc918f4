// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <gpufl/scope.hpp>
#include <map>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "base/eventually.hpp"
#include "capture/scope_recorder.hpp"
#include "capture/session.hpp"
#include "format/capability.hpp"
#include "format/session_reader.hpp"
#include "format/verify.hpp"
#include "tests/standin/cupti/cupti_standin.hpp"

// Whole sessions of the Trace engine over the stand-in libcupti: what is launched, in which scope,
// and what the log says of it.
namespace gpufl::capture {
namespace {

using namespace std::chrono_literals;

constexpr uint32_t kCupti130 = 130'001;

const standin::CuptiStandin& standin_cupti() {
  setenv("GPUFL_CUPTI_LIBRARY", GPUFL_STANDIN_CUPTI, 1);
  void* handle = dlopen(GPUFL_STANDIN_CUPTI, RTLD_NOW);
  if (handle == nullptr) std::abort();
  auto* function = reinterpret_cast<standin::CuptiStandinFunction*>(dlsym(handle, "cupti_standin"));
  return *function();
}

// Kernels by correlation id, and the names of scopes.
struct Kernels : format::Visitor {
  struct Row {
    int64_t scope;
    bool inherited;
  };
  void on_batch(const format::Batch& batch, const format::Dictionaries& dictionaries) override {
    for (size_t i = 0; i < batch.rows(); ++i) {
      if (batch.kind() == format::Kind::Kernel) {
        namespace column = format::kernel_column;
        rows[batch.at(column::kCorrelation, i)] = {batch.at(column::kScope, i),
                                                   batch.at(column::kInherited, i) != 0};
      } else if (batch.kind() == format::Kind::Scope) {
        namespace column = format::scope_column;
        scopes[batch.at(column::kId, i)] =
            dictionaries.get(format::Dict::Name, batch.at(column::kName, i));
      }
    }
  }
  // "step", "step (inherited)", "" for none, "missing" where there is no such kernel.
  std::string scope_of(uint32_t correlation) const {
    const auto row = rows.find(correlation);
    if (row == rows.end()) return "missing";
    if (row->second.scope == 0) return "";
    const auto name = scopes.find(row->second.scope);
    const std::string text = name != scopes.end() ? name->second : "unknown";
    return row->second.inherited ? text + " (inherited)" : text;
  }

  std::map<int64_t, Row> rows;
  std::map<int64_t, std::string> scopes;
};

class TracedSession : public testing::Test {
 protected:
  TracedSession() : standin_(standin_cupti()) {
    standin_.reset(kCupti130);
    char pattern[] = "/tmp/gpufl_traced_XXXXXX";
    folder_ = mkdtemp(pattern);
    config_.log_root = folder_;
    config_.backend = "nvidia";
    config_.engine = "Trace";
  }
  ~TracedSession() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<Session> start() {
    auto session = Session::start(config_);
    EXPECT_TRUE(session) << session.status().text();
    return session ? std::move(*session) : nullptr;
  }
  uint32_t launch() { return standin_.launch({}); }
  static Kernels read(const std::filesystem::path& session) {
    Kernels kernels;
    const auto reader = format::SessionReader::open(session);
    EXPECT_TRUE(reader);
    if (reader) reader->read(kernels);
    return kernels;
  }

  const standin::CuptiStandin& standin_;
  std::filesystem::path folder_;
  SessionConfig config_;
};

struct BackendLines : format::Visitor {
  void on_batch(const format::Batch& batch, const format::Dictionaries&) override {
    if (batch.kind() != format::Kind::Kernel) return;
    for (size_t i = 0; i < batch.rows(); ++i) {
      ++kernels[batch.at(format::kernel_column::kDevice, i)];
    }
  }
  void on_object(format::Kind kind, const base::Json& line) override {
    if (kind == format::Kind::Device) {
      vendors[line["device"].as_integer()] = line["vendor"].as_string();
    }
    if (kind != format::Kind::Capability) return;
    const auto note = format::Capability::from_json(line);
    if (note.feature == "profiling_engine") engines[note.backend] = note.got;
  }
  std::map<int64_t, uint64_t> kernels;  // by device
  std::map<int64_t, std::string> vendors;
  std::map<std::string, std::string> engines;
};

TEST_F(TracedSession, TwoVendorsRecordInOneSession) {
  setenv("GPUFL_NVML_LIBRARY", GPUFL_STANDIN_NVML, 1);
  config_.backend = "synthetic,nvidia";
  const auto session = start();
  unsetenv("GPUFL_NVML_LIBRARY");
  ASSERT_TRUE(session);
  for (int i = 0; i < 3; ++i) launch();
  EXPECT_TRUE(session->stop());

  const auto reader = format::SessionReader::open(session->dir());
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->header().engine, "Trace");
  EXPECT_EQ(reader->header().backend, "synthetic");
  EXPECT_EQ(reader->header().backends,
            (std::vector<format::SessionBackend>{{"synthetic", "Trace"}, {"nvidia", "Trace"}}));
  BackendLines lines;
  reader->read(lines);
  EXPECT_EQ(lines.vendors,
            (std::map<int64_t, std::string>{{0, "synthetic"}, {1, "nvidia"}, {2, "nvidia"}}));
  EXPECT_EQ(lines.engines,
            (std::map<std::string, std::string>{{"synthetic", "Trace"}, {"nvidia", "Trace"}}));
  EXPECT_EQ(lines.kernels[1], 3u) << "the stand-in's GPU 0";
  EXPECT_EQ(lines.kernels[2], 0u);
  const format::VerifyResult result = format::verify_session(session->dir());
  EXPECT_EQ(result.verdict, format::Verdict::Complete) << result.to_json().dump();
  EXPECT_EQ(result.ledger->kernel_records, lines.kernels[0] + 3);
  EXPECT_EQ(result.ledger->launches_seen, result.ledger->kernel_records);
}

// Each falls down the ladder by itself.
TEST_F(TracedSession, OneVendorTracesWhereAnotherCannot) {
  setenv("GPUFL_CUPTI_LIBRARY", "/nonexistent/libcupti.so", 1);
  config_.backend = "nvidia,synthetic";
  const auto session = start();
  ASSERT_TRUE(session);
  EXPECT_TRUE(session->stop());
  const auto reader = format::SessionReader::open(session->dir());
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->header().engine, "Trace");
  EXPECT_EQ(reader->header().backend, "synthetic") << "the one that traces";
  EXPECT_EQ(reader->header().backends,
            (std::vector<format::SessionBackend>{{"nvidia", "Monitor"}, {"synthetic", "Trace"}}));
  BackendLines lines;
  reader->read(lines);
  EXPECT_EQ(lines.engines,
            (std::map<std::string, std::string>{{"nvidia", "Monitor"}, {"synthetic", "Trace"}}));
  const format::VerifyResult result = format::verify_session(session->dir());
  EXPECT_EQ(result.ledger->tracings_refused, 1u);
}

TEST_F(TracedSession, EveryScopeHasItsOwnKernels) {
  const auto session = start();
  ASSERT_TRUE(session);
  const uint32_t before = launch();
  uint32_t outer = 0, inner = 0, backward = 0, outer_again = 0;
  GFL_SCOPE("outer") {
    outer = launch();
    GFL_SCOPE("inner") { inner = launch(); }
    std::thread([&] { backward = launch(); }).join();
    outer_again = launch();
  }
  const uint32_t after = launch();
  EXPECT_TRUE(session->stop());
  const Kernels kernels = read(session->dir());
  EXPECT_EQ(kernels.scope_of(before), "");
  EXPECT_EQ(kernels.scope_of(outer), "outer");
  EXPECT_EQ(kernels.scope_of(inner), "inner");
  EXPECT_EQ(kernels.scope_of(backward), "outer (inherited)");
  EXPECT_EQ(kernels.scope_of(outer_again), "outer");
  EXPECT_EQ(kernels.scope_of(after), "");
  const format::VerifyResult result = format::verify_session(session->dir());
  EXPECT_EQ(result.verdict, format::Verdict::Complete) << result.to_json().dump();
  EXPECT_EQ(result.ledger->launches_seen, 6u);
  EXPECT_EQ(result.ledger->kernel_records, 6u);
}

TEST_F(TracedSession, OneKernelInTenThousandWithheldIsIncomplete) {
  const auto session = start();
  ASSERT_TRUE(session);
  for (int i = 0; i < 10'000; ++i) {
    standin::Launch one;
    one.withheld = i == 5'000;
    standin_.launch(one);
  }
  EXPECT_TRUE(session->stop());
  const format::VerifyResult result = format::verify_session(session->dir());
  EXPECT_EQ(result.verdict, format::Verdict::Losses);
  EXPECT_EQ(result.ledger->vendor_dropped, 0u);
  EXPECT_EQ(result.ledger->launches_missing, 1u);
}

// Another tool has the callbacks: CUPTI's records of calls serve instead.
TEST_F(TracedSession, WithoutCallbacksNothingIsProven) {
  constexpr int kMultipleSubscribers = 39;  // CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
  standin_.fail("cuptiSubscribe", kMultipleSubscribers);
  const auto session = start();
  ASSERT_TRUE(session);
  launch();
  EXPECT_TRUE(session->stop());
  const format::VerifyResult result = format::verify_session(session->dir());
  EXPECT_EQ(result.verdict, format::Verdict::NotProven) << result.to_json().dump();
  EXPECT_EQ(result.ledger->kernel_records, 1u) << result.to_json().dump();
}

TEST_F(TracedSession, PausedAndResumed) {
  config_.dormant = true;
  const auto session = start();
  ASSERT_TRUE(session);
  const uint32_t asleep = launch();
  std::set<uint32_t> recorded, not_recorded = {asleep};
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(session->resume());
    for (int k = 0; k < 100; ++k) recorded.insert(launch());
    EXPECT_TRUE(session->pause());
    not_recorded.insert(launch());
  }
  EXPECT_TRUE(session->stop());
  const Kernels kernels = read(session->dir());
  EXPECT_EQ(kernels.rows.size(), recorded.size());
  for (const uint32_t id : recorded) EXPECT_TRUE(kernels.rows.contains(id)) << id;
  const format::VerifyResult result = format::verify_session(session->dir());
  EXPECT_EQ(result.verdict, format::Verdict::Complete) << result.to_json().dump();
  EXPECT_EQ(result.ledger->launches_seen, 300u);
}

TEST_F(TracedSession, OnlyTheRangeIsRecorded) {
  config_.capture_range = "scope:step";
  const auto session = start();
  ASSERT_TRUE(session);
  const uint32_t before = launch();
  uint32_t inside = 0, by_another = 0;
  GFL_SCOPE("step") {
    inside = launch();
    std::thread([&] { by_another = launch(); }).join();
  }
  const uint32_t after = launch();
  EXPECT_TRUE(session->stop());
  const Kernels kernels = read(session->dir());
  EXPECT_EQ(kernels.scope_of(before), "missing");
  EXPECT_EQ(kernels.scope_of(inside), "step");
  EXPECT_EQ(kernels.scope_of(by_another), "step (inherited)");
  EXPECT_EQ(kernels.scope_of(after), "missing");
  const format::VerifyResult result = format::verify_session(session->dir());
  EXPECT_EQ(result.verdict, format::Verdict::Complete) << result.to_json().dump();
  EXPECT_EQ(result.ledger->launches_outside_range, 2u);
}

// Phases come and go while the program launches in and out of the range.
TEST_F(TracedSession, WithinABudgetOnlyTheRangeIsRecorded) {
  config_.capture_range = "scope:step";
  config_.overhead_budget = 0.5;
  const auto session = start();
  ASSERT_TRUE(session);
  const auto state = [&] { return session->status()["state"].as_string(); };
  const auto launch_until = [&](const std::string& wanted) {
    return base::eventually([&] {
      launch();
      GFL_SCOPE("step") { launch(); }
      return state() == wanted;
    });
  };
  EXPECT_TRUE(launch_until("detached"));
  EXPECT_TRUE(launch_until("recording"));
  EXPECT_TRUE(session->pause());
  EXPECT_EQ(state(), "paused");
  EXPECT_TRUE(session->resume());
  uint32_t inside = 0;
  GFL_SCOPE("step") { inside = launch(); }
  EXPECT_TRUE(session->stop());
  const Kernels kernels = read(session->dir());
  EXPECT_EQ(kernels.scope_of(inside), "step");
  const format::VerifyResult result = format::verify_session(session->dir());
  EXPECT_EQ(result.verdict, format::Verdict::Complete) << result.to_json().dump();
  const uint64_t outside = *result.ledger->launches_outside_range;
  EXPECT_GT(outside, 0u);
  // Of what is launched while a phase begins there may be a record though it was not counted.
  EXPECT_LE(*result.ledger->launches_seen, kernels.rows.size() + outside);
  EXPECT_GE(*result.ledger->launches_seen + 10, kernels.rows.size() + outside);
  EXPECT_EQ(result.ledger->phases, 3u);
  launch();  // CUPTI is given up when it returns, if that was left to a call
}

// What the program that will be killed tells of itself.
struct Progress {
  static constexpr int64_t kMax = 100'000;
  std::atomic<int64_t> launched;
  uint32_t correlation[kMax];
};

// Nobody asks for it: what is launched comes to the disk by itself. How soon is judged by
// kill_bench.
TEST_F(TracedSession, WhatIsOnDiskOutlivesAKill) {
  auto* progress = static_cast<Progress*>(
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(progress, MAP_FAILED);
  scope_recorder::before_fork();
  const pid_t child = fork();
  if (child != 0) scope_recorder::after_fork_in_parent();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    scope_recorder::after_fork_in_child();
    const auto session = start();
    if (!session) _exit(1);
    for (int64_t i = 0; i < Progress::kMax; ++i) {
      GFL_SCOPE("step") { progress->correlation[i] = launch(); }
      progress->launched.store(i + 1, std::memory_order_release);
      std::this_thread::sleep_for(100us);
    }
    while (true) pause();
  }
  EXPECT_TRUE(base::eventually([&] { return progress->launched >= 1'000; }));
  const int64_t owed = progress->launched.load(std::memory_order_acquire);
  const auto first_missing = [&](const Kernels& kernels) {
    int64_t i = 0;
    while (i < owed && kernels.scope_of(progress->correlation[i]) == "step") ++i;
    return i;
  };
  EXPECT_TRUE(base::eventually([&] {
    const auto sessions = format::find_sessions(folder_);
    return sessions.size() == 1 && first_missing(read(sessions[0])) == owed;
  }));
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the program ended by itself";
  EXPECT_EQ(first_missing(read(format::find_sessions(folder_).at(0))), owed);
  munmap(progress, sizeof(Progress));
}

}  // namespace
}  // namespace gpufl::capture
