// SPDX-License-Identifier: Apache-2.0
// PC sampling on a real GPU, of a program that knows nothing of it.

#include <future>
#include <map>
#include <thread>

#include "tests/device/traced.hpp"

namespace gpufl::device_test {
namespace {

using base::Json;
namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "smsp__pcsamp_warps_issue_stalled_";

class SamplingDevice : public Traced {
 protected:
  // Of a program run by `gpufl trace` with these options.
  fs::path sampled(std::vector<std::string> options, const std::vector<std::string>& program) {
    std::vector<std::string> command{beside("gpufl"), "trace", "-o", logs_.path().string()};
    command.insert(command.end(), options.begin(), options.end());
    command.emplace_back("--");
    command.push_back(beside("sampling_program"));
    command.insert(command.end(), program.begin(), program.end());
    const Outcome outcome = run(command);
    output_ = outcome.output;
    EXPECT_EQ(outcome.exit_code, 0) << output_;
    return session_of_run();
  }
  fs::path session_of_run() const {
    for (const auto& run : fs::directory_iterator(logs_.path())) {
      for (const auto& session : fs::directory_iterator(run)) {
        if (session.is_directory()) return session.path();
      }
    }
    return {};
  }
  Json ledger(const fs::path& session) const {
    const auto lines = rows(session, "ledger");
    EXPECT_EQ(lines.size(), 1u);
    return lines.empty() ? Json() : lines.front();
  }
  // Samples by kernel and reason, without those in which nothing was issued: these are among them.
  static std::map<std::string, std::map<std::string, int64_t>> stalls(const fs::path& session) {
    std::map<std::string, std::map<std::string, int64_t>> samples;
    for (const Json& row : rows(session, "pc_sample")) {
      const std::string& stall = row["stall"].as_string();
      if (!stall.starts_with(kPrefix) || stall.ends_with("_not_issued")) continue;
      samples[row["function"].as_string()][stall.substr(kPrefix.size())] +=
          row["samples"].as_integer();
    }
    return samples;
  }
};

std::string most_of(const std::map<std::string, int64_t>& reasons) {
  std::string most;
  int64_t samples = -1;
  for (const auto& [reason, count] : reasons) {
    if (reason == "selected" || count <= samples) continue;
    most = reason;
    samples = count;
  }
  return most;
}

TEST_F(SamplingDevice, EachKernelWaitsForWhatItWasMadeToWaitFor) {
  const fs::path session = sampled({"--engine", "PcSampling"}, {"stalls", "6"});
  const Json counts = ledger(session);
  EXPECT_GE(counts["sampling_windows"].as_integer(), 4) << output_;
  EXPECT_EQ(counts["launches_missing"].as_integer(), 0);
  EXPECT_EQ(counts["pc_samples_dropped"].as_integer(), 0);
  EXPECT_LT(counts["pc_samples_unlocated"].as_integer() * 10, counts["pc_samples"].as_integer());
  std::map<std::string, std::string> most;
  for (const auto& [function, reasons] : stalls(session)) {
    for (const char* name : {"latency", "bandwidth", "compute", "barrier"}) {
      if (function.find(name) != std::string::npos) most[name] = most_of(reasons);
    }
  }
  EXPECT_EQ(most["latency"], "long_scoreboard");
  EXPECT_EQ(most["bandwidth"], "long_scoreboard");
  EXPECT_EQ(most["barrier"], "barrier");
  EXPECT_TRUE(most.contains("compute"));
}

TEST_F(SamplingDevice, FourThreadsThatLaunchWithoutAPauseGoOn) {
  const fs::path session = sampled({"--engine", "PcSampling"}, {"threads", "4", "4"});
  const Json counts = ledger(session);
  EXPECT_GE(counts["sampling_windows"].as_integer(), 1) << output_;
  EXPECT_EQ(counts["launches_missing"].as_integer(), 0);
  EXPECT_LT(counts["longest_hold_ns"].as_integer(), 700'000'000);
}

// Forced out of CUPTI while a graph still ran, its records broke the graph's next launch, and with
// it the program.
TEST_F(SamplingDevice, GraphsSurviveThatRecordingIsGivenUpAndBegunAgain) {
  for (const char* engine : {"Trace", "PcSampling"}) {
    SCOPED_TRACE(engine);
    constexpr int kCycles = 8;
    auto ended = std::async(std::launch::async, [&] {
      return sampled({"--engine", engine}, {"threads", "2", "8", "graphs"});
    });
    while (session_of_run().empty()) std::this_thread::yield();
    for (int i = 0; i < kCycles; ++i) {
      for (const char* verb : {"stop", "start"}) {
        const Outcome told = run({beside("gpufl"), "control", session_of_run().string(), verb});
        EXPECT_EQ(told.exit_code, 0) << told.output;
      }
    }
    const fs::path session = ended.get();
    EXPECT_GT(ledger(session)["phases"].as_integer(), kCycles);
    EXPECT_EQ(ledger(session)["launches_missing"].as_integer(), 0);
    fs::remove_all(session.parent_path());
  }
}

}  // namespace
}  // namespace gpufl::device_test
