// SPDX-License-Identifier: Apache-2.0
// Whose a kernel is, on a real GPU: its scope, its thread, the line that launched it or waited.

#include <algorithm>
#include <map>
#include <sstream>

#include "tests/device/traced.hpp"

namespace gpufl::device_test {
namespace {

namespace fs = std::filesystem;
using base::Json;

class AttributionDevice : public Traced {};

// Names of scopes by id; "" for none.
std::map<int64_t, std::string> scope_names(const fs::path& session) {
  std::map<int64_t, std::string> names;
  for (const Json& scope : rows(session, "scope")) {
    names[scope["id"].as_integer()] = scope["name"].as_string();
  }
  return names;
}

// How many kernels have each scope and each size of block: "outer 64".
std::map<std::string, int> kernels_by_scope(const fs::path& session) {
  auto names = scope_names(session);
  std::map<std::string, int> counts;
  for (const Json& kernel : rows(session, "kernel")) {
    const std::string scope = names[kernel["scope"].as_integer()];
    ++counts[scope + (kernel["inherited"].as_integer() != 0 ? " inherited " : " ") +
             std::to_string(kernel["block"].items().at(0).as_integer())];
  }
  return counts;
}

TEST_F(AttributionDevice, ScopesHoldTheirOwnKernels) {
  const fs::path session = trace("scope_program", {"nested"});
  expect_exact(session, 14);
  EXPECT_EQ(kernels_by_scope(session),
            (std::map<std::string, int>{
                {" 32", 4}, {"outer 64", 5}, {"inner 96", 5}, {"replay 128", 6}}));
}

TEST_F(AttributionDevice, ThreadsAreTheSystemsAndHaveTheirOwnScopes) {
  const fs::path session = trace("scope_program", {"threads"});
  expect_exact(session, 2000);
  std::map<int64_t, std::string> expected;
  std::istringstream lines(output_);
  int64_t thread = 0;
  for (std::string name; lines >> thread && std::getline(lines >> std::ws, name);) {
    expected[thread] = name;
  }
  ASSERT_EQ(expected.size(), 4u) << output_;
  auto names = scope_names(session);
  std::map<int64_t, int> kernels;
  for (const Json& kernel : rows(session, "kernel")) {
    const int64_t launched_by = kernel["thread"].as_integer();
    ASSERT_EQ(names[kernel["scope"].as_integer()], expected[launched_by]) << kernel.dump();
    ASSERT_EQ(kernel["inherited"].as_integer(), 0) << kernel.dump();
    ++kernels[launched_by];
  }
  EXPECT_EQ(kernels.size(), 4u);
  for (const auto& [launched_by, count] : kernels) EXPECT_EQ(count, 500);
}

TEST_F(AttributionDevice, AThreadWithoutAScopeInheritsTheOnlyOne) {
  const fs::path session = trace("scope_program", {"inherited"});
  expect_exact(session, 16);
  EXPECT_EQ(kernels_by_scope(session),
            (std::map<std::string, int>{{"step inherited 32", 7}, {" 64", 9}}));
}

TEST_F(AttributionDevice, TheLineThatWaitsInALoop) {
  const fs::path session = trace("sync_in_loop");
  const std::string expected = "sync_in_loop.cu:" + std::to_string(std::stoi(output_));
  int waits = 0;
  for (const Json& wait : rows(session, "sync")) {
    const std::string& at = wait["at"].as_string();
    waits += at.find(expected + " in ") != std::string::npos && at.find("train") != at.npos;
  }
  EXPECT_EQ(waits, 50) << expected;
  const Outcome report = run({beside("gpufl"), "report", session.string()});
  EXPECT_NE(report.output.find(expected), std::string::npos) << report.output;
}

TEST_F(AttributionDevice, CodeWithoutFramePointersUnwindsFully) {
  const auto kernels = rows(trace("deep_stack"), "kernel", {"--stacks"});
  ASSERT_EQ(kernels.size(), 1u);
  const auto& frames = kernels[0]["stack"].items();
  const auto count = [&](std::string_view function) {
    return std::count_if(frames.begin(), frames.end(), [&](const Json& frame) {
      return frame.as_string().find(function) != std::string::npos;
    });
  };
  EXPECT_EQ(count("descend("), 60) << kernels[0].dump();
  EXPECT_GE(count("main"), 1) << kernels[0].dump();
}

}  // namespace
}  // namespace gpufl::device_test
