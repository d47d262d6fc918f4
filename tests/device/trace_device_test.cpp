// SPDX-License-Identifier: Apache-2.0
// The Trace engine on a real GPU: trace_program does work that is known beforehand, and the log has
// to tell it.

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "base/json.hpp"
#include "tests/device/programs.hpp"

namespace gpufl::device_test {
namespace {

namespace fs = std::filesystem;

std::string beside(const char* name) { return (bin_folder() / name).string(); }

std::vector<base::Json> rows(const fs::path& session, const char* kind) {
  const Outcome printed = run({beside("gpufl"), "cat", session.string(), kind});
  EXPECT_EQ(printed.exit_code, 0) << printed.output;
  std::vector<base::Json> rows;
  std::istringstream lines(printed.output);
  for (std::string line; std::getline(lines, line);) {
    auto row = base::Json::parse(line);
    EXPECT_TRUE(row.is_ok()) << line;
    if (row) rows.push_back(std::move(*row));
  }
  return rows;
}

class TraceDevice : public testing::Test {
 protected:
  // Runs a scenario; its sessions, oldest first.
  std::vector<fs::path> trace(const char* scenario) {
    const Outcome program = run({beside("trace_program"), logs_.path().string(), scenario});
    EXPECT_EQ(program.exit_code, 0) << program.output;
    output_ = program.output;
    std::vector<fs::path> sessions;
    for (const auto& entry : fs::recursive_directory_iterator(logs_.path())) {
      if (entry.path().filename() == "manifest.ndjson") {
        sessions.push_back(entry.path().parent_path());
      }
    }
    std::sort(sessions.begin(), sessions.end());
    return sessions;
  }

  TemporaryFolder logs_;
  std::string output_;
};

void expect_exact(const fs::path& session, int64_t launches) {
  const Outcome verify = run({beside("gpufl"), "verify", session.string()});
  EXPECT_EQ(verify.exit_code, 0) << verify.output;
  const auto ledgers = rows(session, "ledger");
  ASSERT_EQ(ledgers.size(), 1u);
  EXPECT_EQ(ledgers[0]["launches_seen"].as_integer(), launches) << ledgers[0].dump();
  EXPECT_EQ(
      ledgers[0]["kernel_records"].as_integer() - ledgers[0]["graph_kernel_records"].as_integer(),
      launches)
      << ledgers[0].dump();
  EXPECT_EQ(ledgers[0]["vendor_dropped"].as_integer(), 0);
  EXPECT_EQ(ledgers[0]["impossible_times"].as_integer(), 0);
}

TEST_F(TraceDevice, EverythingThatWasLaunchedIsThere) {
  const auto sessions = trace("mixed");
  ASSERT_EQ(sessions.size(), 1u);
  expect_exact(sessions[0], 20'000);
  const auto kernels = rows(sessions[0], "kernel");
  EXPECT_EQ(kernels.size(), 20'000u);
  std::map<int64_t, std::vector<std::pair<int64_t, int64_t>>> by_stream;
  for (const base::Json& kernel : kernels) {
    EXPECT_EQ(kernel["device"].as_integer(), 0);
    EXPECT_GE(kernel["start_ns"].as_integer(), kernel["api_start_ns"].as_integer());
    EXPECT_GT(kernel["api_duration_ns"].as_integer(), 0);
    EXPECT_GT(kernel["thread"].as_integer(), 0);
    by_stream[kernel["stream"].as_integer()].emplace_back(kernel["correlation"].as_integer(),
                                                          kernel["start_ns"].as_integer());
  }
  ASSERT_EQ(by_stream.size(), 2u);
  for (auto& [stream, launched] : by_stream) {
    std::sort(launched.begin(), launched.end());
    EXPECT_TRUE(std::is_sorted(launched.begin(), launched.end(),
                               [](const auto& a, const auto& b) { return a.second < b.second; }))
        << "kernels of stream " << stream << " out of order";
  }
  EXPECT_EQ(rows(sessions[0], "memcpy").size(), 20u);
  EXPECT_EQ(rows(sessions[0], "memset").size(), 5u);
  EXPECT_GE(rows(sessions[0], "sync").size(), 1u);
  int failed = 0;
  for (const base::Json& call : rows(sessions[0], "api")) {
    if (call["result"].as_integer() != 0) ++failed;
  }
  EXPECT_GE(failed, 1);
}

TEST_F(TraceDevice, DurationsAreThoseOfTheKernels) {
  const auto sessions = trace("spins");
  ASSERT_EQ(sessions.size(), 1u);
  expect_exact(sessions[0], 10);
  auto kernels = rows(sessions[0], "kernel");
  ASSERT_EQ(kernels.size(), 10u);
  std::sort(kernels.begin(), kernels.end(), [](const base::Json& a, const base::Json& b) {
    return a["start_ns"].as_integer() < b["start_ns"].as_integer();
  });
  // What a kernel takes beside its spin; the first run is cold.
  const int64_t constant = kernels[4]["duration_ns"].as_integer();
  int64_t spin_ns = 5'000;
  for (size_t i = 5; i < kernels.size(); ++i, spin_ns *= 10) {
    const auto taken = static_cast<double>(kernels[i]["duration_ns"].as_integer() - constant);
    // The GPU's timer ticks every 32 ns on some machines and every microsecond on others.
    EXPECT_NEAR(taken, static_cast<double>(spin_ns), 1'100.0 + static_cast<double>(spin_ns) / 1000);
  }
}

TEST_F(TraceDevice, KernelsOfAGraph) {
  const auto sessions = trace("graph");
  ASSERT_EQ(sessions.size(), 1u);
  expect_exact(sessions[0], 3);
  const auto ledger = rows(sessions[0], "ledger").at(0);
  EXPECT_EQ(ledger["graph_launches"].as_integer(), 7);
  EXPECT_EQ(ledger["graph_kernel_records"].as_integer(), 70);
}

TEST_F(TraceDevice, StopsAndStartsAgainInOneProcess) {
  const auto sessions = trace("again");
  ASSERT_EQ(sessions.size(), 3u);
  for (const fs::path& session : sessions) expect_exact(session, 20'000);
  std::printf("%s", output_.c_str());  // the cost of a launch, for the reader
}

}  // namespace
}  // namespace gpufl::device_test
