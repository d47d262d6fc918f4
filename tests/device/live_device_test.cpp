// SPDX-License-Identifier: Apache-2.0
// Programs on a real GPU that are looked at, told and killed while they run.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <thread>

#include "base/clock.hpp"
#include "base/eventually.hpp"
#include "format/session_reader.hpp"
#include "tests/device/kill_page.hpp"
#include "tests/device/traced.hpp"

namespace gpufl::device_test {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using base::Json;

constexpr int64_t kPromiseNs = 250'000'000;

class LiveDevice : public Traced {
 protected:
  Json control(const Background& program, const char* verb) {
    const Outcome outcome =
        run({beside("gpufl"), "control", std::to_string(program.pid()), verb, "--json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
    auto answer = Json::parse(outcome.output);
    EXPECT_TRUE(answer.is_ok()) << outcome.output;
    return answer ? *answer : Json();
  }
  bool has_hung_launch() const {
    const auto pending = rows(only_session(), "pending");
    return std::any_of(pending.begin(), pending.end(), [](const Json& call) {
      return call["function"].as_string().find("LaunchKernel") != std::string::npos;
    });
  }
};

TEST_F(LiveDevice, AKernelThatEndedAQuarterOfASecondBeforeAKillIsOnDisk) {
  for (const auto age : {700ms, 1333ms, 2100ms}) {
    const TemporaryFolder folder;
    int64_t killed_ns = 0;
    {
      const Background program({beside("live_program"), "victim", folder.path().string()});
      ASSERT_EQ(program.first_line(), "ready");
      std::this_thread::sleep_for(age);
      killed_ns = base::monotonic_ns();
      kill(program.pid(), SIGKILL);
    }
    auto page = std::make_unique<KillPage>();
    std::ifstream file(folder.path() / "page", std::ios::binary);
    ASSERT_TRUE(file.read(reinterpret_cast<char*>(page.get()), sizeof(KillPage)));
    size_t owed = 0;
    for (int64_t group = 0; group < page->groups.load(); ++group) {
      if (page->end_ns[group] <= killed_ns - kPromiseNs) owed += KillPage::kLaunches;
    }
    ASSERT_GT(owed, 10'000u);
    const auto sessions = format::find_sessions(folder.path());
    ASSERT_EQ(sessions.size(), 1u);
    EXPECT_GE(rows(sessions[0], "kernel").size(), owed);
    const Outcome verify = run({beside("gpufl"), "verify", sessions[0].string()});
    EXPECT_EQ(verify.exit_code, 1) << "a killed session is not complete: " << verify.output;
  }
}

TEST_F(LiveDevice, WhatHangsIsInTheStatus) {
  const Background program({beside("live_program"), "hang", logs_.path().string()});
  ASSERT_EQ(program.first_line(), "ready");
  const auto is_stuck = [](const Json& call) {
    return call["scope_name"].as_string() == "stuck" &&
           call["function"].as_string().find("LaunchKernel") != std::string::npos;
  };
  // The two of the scope; the one before them has ended, but CUPTI may keep its record back while
  // a kernel in the same buffer runs.
  Json status;
  EXPECT_TRUE(base::eventually([&] {
    status = control(program, "status");
    const auto& pending = status["tracer"]["pending"].items();
    return pending.size() <= 3 && std::count_if(pending.begin(), pending.end(), is_stuck) == 2;
  })) << status.dump();
}

TEST_F(LiveDevice, WhatHungIsInTheLogAfterAKill) {
  {
    const Background program({beside("live_program"), "hang", logs_.path().string()});
    ASSERT_EQ(program.first_line(), "ready");
    EXPECT_TRUE(base::eventually([&] { return has_hung_launch(); }));
  }
  EXPECT_TRUE(has_hung_launch());
}

TEST_F(LiveDevice, DormantUntilToldAndOffAndOnAgain) {
  const std::string library = (bin_folder().parent_path() / "lib/libgpufl_inject.so").string();
  const Background program(
      {"env", "CUDA_INJECTION64_PATH=" + library, "GPUFL_LOG_PATH=" + logs_.path().string(),
       "GPUFL_PROFILING_ENGINE=Trace", "GPUFL_DORMANT=1", beside("live_program"), "paced"});
  ASSERT_EQ(program.first_line(), "ready");
  const auto is_mapped = [&](std::string_view name) {
    std::ifstream maps("/proc/" + std::to_string(program.pid()) + "/maps");
    std::string text(std::istreambuf_iterator<char>(maps), {});
    return text.find(name) != std::string::npos;
  };
  const auto kernels = [&] { return control(program, "status")["rows"]["kernel"].as_integer(); };
  std::this_thread::sleep_for(200ms);
  EXPECT_TRUE(is_mapped("libgpufl_inject"));
  EXPECT_FALSE(is_mapped("libcupti"));
  EXPECT_EQ(kernels(), 0);
  int64_t seen = 0;
  for (int round = 0; round < 2; ++round) {
    control(program, "start");
    EXPECT_TRUE(base::eventually([&] { return kernels() > seen + 10; }));
    control(program, "stop");
    control(program, "flush");
    seen = kernels();
    std::this_thread::sleep_for(300ms);
    EXPECT_EQ(kernels(), seen);
  }
}

TEST_F(LiveDevice, OnlyTheRangeThatTheProgramMarksIsRecorded) {
  const Outcome traced =
      run({beside("gpufl"), "trace", "--output", logs_.path().string(), "--capture-range",
           "cudaProfilerApi", "--", beside("live_program"), "ranges"});
  ASSERT_EQ(traced.exit_code, 0) << traced.output;
  const fs::path session = only_session();
  const auto kernels = rows(session, "kernel");
  EXPECT_EQ(kernels.size(), 20u);
  for (const Json& kernel : kernels) EXPECT_EQ(kernel["block"].dump(), "[64,1,1]");
  const Json ledger = rows(session, "ledger").at(0);
  EXPECT_EQ(ledger["launches_seen"].as_integer(), 60) << ledger.dump();
  EXPECT_EQ(ledger["launches_outside_range"].as_integer(), 40) << ledger.dump();
}

TEST_F(LiveDevice, TraceKeepsTheExitCodeAndTheProgramNeedsNothing) {
  const Outcome traced = run({beside("gpufl"), "trace", "--output", logs_.path().string(), "--",
                              beside("live_program"), "ranges"});
  EXPECT_EQ(traced.exit_code, 0) << traced.output;
  expect_exact(only_session(), 60);
  const Outcome misused = run(
      {beside("gpufl"), "trace", "--output", logs_.path().string(), "--", beside("live_program")});
  EXPECT_EQ(misused.exit_code, 64) << misused.output;
}

}  // namespace
}  // namespace gpufl::device_test
