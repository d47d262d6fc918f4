// SPDX-License-Identifier: Apache-2.0
// The Trace engine on a real GPU: trace_program does work that is known beforehand, and the log has
// to tell it.

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "format/session_reader.hpp"
#include "tests/device/traced.hpp"

namespace gpufl::device_test {
namespace {

namespace fs = std::filesystem;
using base::Json;

class TraceDevice : public Traced {};

void sort_by_start(std::vector<Json>& rows) {
  std::sort(rows.begin(), rows.end(), [](const Json& a, const Json& b) {
    return a["start_ns"].as_integer() < b["start_ns"].as_integer();
  });
}

TEST_F(TraceDevice, EverythingThatWasLaunchedIsThere) {
  const fs::path session = trace("trace_program", {"mixed"});
  expect_exact(session, 20'000);
  const auto kernels = rows(session, "kernel");
  EXPECT_EQ(kernels.size(), 20'000u);
  for (const Json& kernel : kernels) {
    ASSERT_EQ(kernel["device"].as_integer(-1), 0);
    ASSERT_GE(kernel["start_ns"].as_integer(), kernel["api_start_ns"].as_integer());
    ASSERT_GT(kernel["duration_ns"].as_integer(), 0);
    ASSERT_GT(kernel["api_duration_ns"].as_integer(), 0);
    ASSERT_GT(kernel["thread"].as_integer(), 0);
    ASSERT_EQ(kernel["block"].dump(), "[32,1,1]");
  }
  EXPECT_EQ(rows(session, "memcpy").size(), 20u);
  EXPECT_EQ(rows(session, "memset").size(), 5u);
  EXPECT_GE(rows(session, "sync").size(), 1u);
  const auto calls = rows(session, "api");
  EXPECT_TRUE(std::any_of(calls.begin(), calls.end(), [](const Json& call) {
    return call["name"].as_string().starts_with("cudaLaunchKernel") &&
           call["result"].as_integer() != 0;
  })) << "the launch that failed is not there";
}

TEST_F(TraceDevice, KernelsOfAStreamFollowEachOther) {
  auto kernels = rows(trace("trace_program", {"mixed"}), "kernel");
  sort_by_start(kernels);
  struct Last {
    int64_t correlation = 0, end_ns = 0;
    size_t kernels = 0;
  };
  std::map<int64_t, Last> streams;
  for (const Json& kernel : kernels) {
    Last& last = streams[kernel["stream"].as_integer()];
    ASSERT_GT(kernel["correlation"].as_integer(), last.correlation);
    ASSERT_GE(kernel["start_ns"].as_integer(), last.end_ns);
    last.correlation = kernel["correlation"].as_integer();
    last.end_ns = kernel["start_ns"].as_integer() + kernel["duration_ns"].as_integer();
    ++last.kernels;
  }
  ASSERT_EQ(streams.size(), 2u);
  for (const auto& [stream, last] : streams) EXPECT_EQ(last.kernels, 10'000u);
}

TEST_F(TraceDevice, DurationsAreThoseOfTheKernels) {
  auto kernels = rows(trace("trace_program", {"spins"}), "kernel");
  sort_by_start(kernels);
  std::istringstream lines(output_);
  // What the record says beyond what the kernel says of itself, by the length that was asked for.
  std::map<double, std::vector<double>> beyond;
  double asked = 0, spun = 0;
  std::map<double, double> typical;
  size_t row = 0;
  for (; lines >> asked >> spun; ++row) {
    ASSERT_LT(row, kernels.size());
    beyond[asked].push_back(static_cast<double>(kernels[row]["duration_ns"].as_integer()) - spun);
    typical[asked] = spun;
  }
  ASSERT_EQ(row, kernels.size());
  ASSERT_EQ(beyond.size(), 5u);
  const auto median = [](std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
    return values[values.size() / 2];
  };
  // What launching costs a kernel beside its work; known from the many short ones.
  const double constant = median(beyond[5'000]);
  EXPECT_GT(constant, 0);
  EXPECT_LT(constant, 3'000);
  for (const auto& [length, differences] : beyond) {
    EXPECT_NEAR(median(differences), constant, 100 + typical[length] / 1000)
        << "of kernels that spin " << length << " ns";
  }
}

TEST_F(TraceDevice, KernelsOfAGraph) {
  const fs::path session = trace("trace_program", {"graph"});
  expect_exact(session, 3);
  const Json ledger = rows(session, "ledger").at(0);
  EXPECT_EQ(ledger["graph_launches"].as_integer(), 7);
  EXPECT_EQ(ledger["graph_kernel_records"].as_integer(), 70);
  EXPECT_EQ(ledger["graph_kernels_missing"].as_integer(-1), 0);
  std::map<int64_t, std::set<std::string>> nodes_by_launch;
  for (const Json& kernel : rows(session, "kernel")) {
    if (kernel["graph"].as_integer() == 0) continue;
    nodes_by_launch[kernel["correlation"].as_integer()].insert(kernel["graph_node"].as_string());
  }
  EXPECT_EQ(nodes_by_launch.size(), 7u);
  for (const auto& [launch, nodes] : nodes_by_launch) EXPECT_EQ(nodes.size(), 10u);
}

// A chain of a fill, twenty kernels and a copy, launched twelve times.
TEST_F(TraceDevice, TheTopologyOfAGraph) {
  const Outcome traced = run({beside("gpufl"), "trace", "--output", logs_.path().string(),
                              "--graphs", "--", beside("fixture_program"), "graphs"});
  ASSERT_EQ(traced.exit_code, 0) << traced.output;
  const fs::path session = only_session();
  expect_exact(session, 10);
  const Json ledger = rows(session, "ledger").at(0);
  EXPECT_EQ(ledger["graph_kernel_records"].as_integer(), 240);
  EXPECT_EQ(ledger["graph_kernels_missing"].as_integer(-1), 0);
  EXPECT_EQ(ledger["uncounted"].items().size(), 0u) << ledger.dump();
  Json graph;
  for (const Json& event : rows(session, "event")) {
    if (event["name"].as_string() == "graph_instantiated") graph = event;
  }
  EXPECT_EQ(graph["kernels"].as_integer(), 20) << graph.dump();
  EXPECT_EQ(graph["node_count"].as_integer(), 22);
  EXPECT_EQ(graph["edge_count"].as_integer(), 21);
  EXPECT_EQ(graph["kernel_names"].items().size(), 2u);
  // What the topology calls graph and nodes is what rows call them.
  std::set<std::string> nodes;
  for (const Json& node : graph["node"].items()) nodes.insert(node.as_string());
  for (const Json& kernel : rows(session, "kernel")) {
    if (kernel["graph"].as_integer() == 0) continue;
    // CUPTI before 12.3 does not say which graph was instantiated.
    if (graph["graph"].as_integer() != 0) {
      EXPECT_EQ(kernel["graph"].as_integer(), graph["graph"].as_integer());
    }
    EXPECT_EQ(nodes.count(kernel["graph_node"].as_string()), 1u) << kernel.dump();
  }
  EXPECT_EQ(rows(session, "graph").size(), 12u);
}

TEST_F(TraceDevice, CopiesTellTheirDirectionSizeAndMemory) {
  constexpr int64_t kToDevice = 1, kToHost = 2, kOnDevice = 8;
  constexpr int64_t kPageable = 1, kPinned = 2, kDevice = 3;
  struct Copy {
    int64_t direction, source, target;
    bool operator==(const Copy&) const = default;
  };
  std::map<int64_t, Copy> expected = {{3000, {kOnDevice, kDevice, kDevice}}};
  for (const auto& [first, host] : {std::pair(1000, kPageable), std::pair(2000, kPinned)}) {
    for (int i = 0; i < 2; ++i) {
      expected[first + i] = {kToDevice, host, kDevice};
      expected[first + 2 + i] = {kToHost, kDevice, host};
    }
  }
  const auto copies = rows(trace("trace_program", {"copies"}), "memcpy");
  EXPECT_EQ(copies.size(), expected.size());
  for (const Json& copy : copies) {
    const auto found = expected.find(copy["bytes"].as_integer());
    ASSERT_NE(found, expected.end()) << copy.dump();
    EXPECT_EQ(copy["route"].as_integer(), found->second.direction) << copy.dump();
    EXPECT_EQ(copy["source_memory"].as_integer(), found->second.source) << copy.dump();
    EXPECT_EQ(copy["target_memory"].as_integer(), found->second.target) << copy.dump();
    EXPECT_GT(copy["api_duration_ns"].as_integer(), 0) << copy.dump();
  }
}

TEST_F(TraceDevice, ContextsAreToldApart) {
  const fs::path session = trace("trace_program", {"contexts"});
  expect_exact(session, 600);
  std::map<int64_t, int> by_context;
  for (const Json& kernel : rows(session, "kernel")) {
    EXPECT_EQ(kernel["device"].as_integer(-1), 0);
    ++by_context[kernel["context"].as_integer()];
  }
  std::vector<int> counts;
  for (const auto& [context, count] : by_context) counts.push_back(count);
  std::sort(counts.begin(), counts.end());
  EXPECT_EQ(counts, (std::vector<int>{100, 200, 300}));
}

TEST_F(TraceDevice, StopsAndStartsAgainInOneProcessAtItsOldSpeed) {
  const Outcome program = run({beside("trace_program"), logs_.path().string(), "again"});
  ASSERT_EQ(program.exit_code, 0) << program.output;
  const auto sessions = format::find_sessions(logs_.path());
  ASSERT_EQ(sessions.size(), 3u);
  for (const fs::path& session : sessions) expect_exact(session, 20'000);
  std::istringstream lines(program.output);
  // The best of three windows each, by nanoseconds a launch: the benchmarks measure it well, this
  // notices what does not let go. The first window alone is of a process that was never traced.
  double before = 0, during = 0, after = 0, first = 0, best_after = 1e9;
  while (lines >> before >> during >> after) {
    if (first == 0) first = before;
    best_after = std::min(best_after, after);
  }
  ASSERT_GT(first, 0);
  EXPECT_LT(best_after, first * 1.15) << program.output;
}

TEST_F(TraceDevice, SessionsOfAnIdleProgramLetGoOfItAtOnce) {
  const Outcome program = run({beside("trace_program"), logs_.path().string(), "idle"});
  ASSERT_EQ(program.exit_code, 0) << program.output;
  const auto sessions = format::find_sessions(logs_.path());
  ASSERT_EQ(sessions.size(), 3u);
  for (const fs::path& session : sessions) {
    for (const Json& event : rows(session, "event")) {
      EXPECT_NE(event["name"].as_string(), "detach_deferred") << session;
    }
  }
  expect_exact(sessions[2], 20'000);
  double before = 0, after_rest = 0, after_wait = 0;
  std::istringstream(program.output) >> before >> after_rest >> after_wait;
  ASSERT_GT(before, 0);
  EXPECT_LT(after_rest, before * 1.15) << program.output;
  EXPECT_LT(after_wait, before * 1.15) << program.output;
}

}  // namespace
}  // namespace gpufl::device_test
