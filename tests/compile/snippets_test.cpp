// SPDX-License-Identifier: Apache-2.0
#include "snippets.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <gpufl/gpufl.hpp>

#include "analysis/overview/overview.hpp"
#include "analysis/session/session_data.hpp"
#include "format/session_reader.hpp"

namespace gpufl::snippets {
namespace {

// Runs `body` in a session; what its log says.
analysis::SessionData record(const std::function<void()>& body, InitOptions options) {
  char pattern[] = "/tmp/gpufl_snippets_XXXXXX";
  const std::filesystem::path folder = mkdtemp(pattern);
  options.app_name = "snippets";
  options.log_path = folder;
  EXPECT_TRUE(init(options));
  body();
  shutdown();
  const auto sessions = format::find_sessions(folder);
  EXPECT_EQ(sessions.size(), 1u);
  auto session = analysis::load(sessions.at(0));
  EXPECT_TRUE(session);
  std::filesystem::remove_all(folder);
  return std::move(*session);
}

analysis::SessionData record(const std::function<void()>& body) {
  InitOptions options;
  options.backend = BackendKind::None;
  return record(body, options);
}

// "name/tag*N{children}" of every scope, in order of appearance.
std::string shape(const analysis::SessionData& session) {
  std::string text;
  uint32_t depth = 0;
  for (const analysis::ScopeWork& scope : analysis::analyze(session).scopes) {
    for (; depth > scope.depth; --depth) text += '}';
    if (depth < scope.depth) {
      text += '{';
    } else if (!text.empty()) {
      text += ' ';
    }
    depth = scope.depth;
    text += scope.name + (scope.tag.empty() ? "" : "/" + scope.tag);
    if (scope.duration_ns.count != 1) text += "*" + std::to_string(scope.duration_ns.count);
  }
  return text + std::string(depth, '}');
}

TEST(Snippets, NestedScopes) {
  EXPECT_EQ(shape(record(train_two_batches)),
            "batch*2{forward_pass*2 loss*2 backward_pass*2 optimizer_step*2}");
}

TEST(Snippets, ObjectScopes) {
  EXPECT_EQ(shape(record(object_scope)),
            "data_loading data_loading/batch_42{data_loading{data_loading/batch_43}}");
}

TEST(Snippets, LambdaScopes) {
  int value = 0;
  EXPECT_EQ(shape(record([&] { value = lambda_scope(); })), "inference inference/tagged");
  EXPECT_EQ(value, 42);
}

TEST(Snippets, BenchmarkLoop) {
  int iterations = 0;
  const auto session = record([&] { benchmark_loop(iterations); });
  EXPECT_EQ(iterations, 13);
  // The warm-up is a scope of its own, closed before the measured one opens.
  EXPECT_EQ(shape(session), "matmul_warmup matmul");
}

TEST(Snippets, BenchmarkWithoutRepeatIsAnEmptyScope) {
  int iterations = 0;
  EXPECT_EQ(shape(record([&] { benchmark_without_repeat(iterations); })), "never");
  EXPECT_EQ(iterations, 0);
}

TEST(Snippets, BenchmarkInsideALambda) {
  int iterations = 0;
  EXPECT_EQ(shape(record([&] { benchmark_inside_lambda(iterations); })), "from a lambda");
  EXPECT_EQ(iterations, 2);
}

TEST(Snippets, BestPractices) {
  EXPECT_EQ(shape(record(best_practices)),
            "data_preprocessing forward_pass backward_pass checkpoint_save");
}

TEST(Snippets, ReferenceScopes) { EXPECT_EQ(shape(record(reference_scopes)), "name*3"); }

TEST(Snippets, SystemPhase) {
  const analysis::SessionSummary summary = record(system_phase).summary;
  EXPECT_EQ(summary.event_counts.at("system_start"), 2u);
  EXPECT_EQ(summary.event_counts.at("system_stop"), 2u);
}

TEST(Snippets, UnrecordedPhase) {
  setenv("GPUFL_BACKEND", "synthetic", 1);
  InitOptions options;
  options.profiling_engine = ProfilingEngine::Trace;
  bool is_done = false;
  const analysis::SessionSummary summary =
      record([&] { is_done = unrecorded_phase(); }, options).summary;
  unsetenv("GPUFL_BACKEND");
  EXPECT_TRUE(is_done);
  EXPECT_EQ(summary.event_counts.at("recording_paused"), 1u);
  EXPECT_EQ(summary.event_counts.at("recording_resumed"), 1u);
}

// With the reason on stderr, as asked for.
TEST(Snippets, NoPauseWithoutARecordingOfTheGpu) {
  EXPECT_FALSE(pause());
  EXPECT_FALSE(resume());
  InitOptions options;
  options.backend = BackendKind::None;
  options.enable_debug_output = true;
  bool is_resumed = true;
  testing::internal::CaptureStderr();
  record([&] { is_resumed = resume(); }, options);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_FALSE(is_resumed);
  EXPECT_NE(said.find("gpufl: resume: engine_too_low: the session's engine is Monitor"),
            std::string::npos)
      << said;
  EXPECT_FALSE(pause());
}

TEST(Snippets, RemoteUploadLogsItsDeprecation) {
  InitOptions options;
  options.backend = BackendKind::None;
  options.remote_upload = true;
  options.enable_debug_output = true;
  testing::internal::CaptureStderr();
  const analysis::SessionSummary summary = record([] {}, options).summary;
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("deprecated: remote_upload: nothing is uploaded while the program runs"),
            std::string::npos)
      << said;
  EXPECT_EQ(summary.event_counts.at("option_warning"), 1u);
}

TEST(Snippets, ControlFlowMeansWhatItMeansWithoutScopes) {
  int steps = 0;
  const auto session = record([&] { control_flow(steps); });
  EXPECT_EQ(steps, 6);
  EXPECT_EQ(shape(session), "then iteration*4 a{b/tag} case returning");
}

TEST(Snippets, MonitorKeepsTypes) {
  bool kept = false;
  record([&] { kept = monitor_keeps_types(); });
  EXPECT_TRUE(kept);
}

TEST(Snippets, Counters) {
  const analysis::SessionSummary summary = record(counters).summary;
  ASSERT_EQ(summary.counters.size(), 2u);
  for (const auto& counter : summary.counters) {
    EXPECT_EQ(counter.last - counter.first, counter.name == "tokens" ? 523 : 1) << counter.name;
  }
}

}  // namespace
}  // namespace gpufl::snippets
