// SPDX-License-Identifier: Apache-2.0
#include "client/session_config.hpp"

#include <gtest/gtest.h>

namespace gpufl::client {
namespace {

std::optional<std::string> nothing(const char*) { return std::nullopt; }

capture::SessionConfig configured(const InitOptions& options, const LaunchRequest& request = {}) {
  ResolvedOptions resolved;
  resolved.options = options;
  return session_config(resolved, request, nothing);
}

TEST(SessionConfig, DefaultsOfTheLibraryAreTheSessions) {
  const capture::SessionConfig config = configured({});
  const capture::SessionConfig defaults;
  EXPECT_EQ(config.engine, defaults.engine);
  EXPECT_EQ(config.stacks, defaults.stacks);
  EXPECT_EQ(config.sources, defaults.sources);
  EXPECT_EQ(config.dormant, defaults.dormant);
  EXPECT_EQ(config.run_id, "");
  EXPECT_EQ(config.trace.synchronization, defaults.trace.synchronization);
  EXPECT_EQ(config.trace.memory, defaults.trace.memory);
  EXPECT_EQ(config.trace.graphs, defaults.trace.graphs);
  EXPECT_EQ(config.trace.external_correlation, defaults.trace.external_correlation);
  EXPECT_EQ(config.trace.queue_times, defaults.trace.queue_times);
  EXPECT_TRUE(config.features.empty());
}

// Each option moves what it should, and nothing else.
TEST(SessionConfig, EveryOptionOfTheTraceReachesIt) {
  struct Case {
    bool InitOptions::* option;
    bool (*of)(const capture::SessionConfig&);
    const char* feature;  // named where the engine is too low; null: it is on by default
  };
  using Config = capture::SessionConfig;
  const Case cases[] = {
      {&InitOptions::enable_stack_trace, [](const Config& c) { return c.stacks; },
       "enable_stack_trace"},
      {&InitOptions::enable_source_collection, [](const Config& c) { return c.sources; }, nullptr},
      {&InitOptions::enable_synchronization,
       [](const Config& c) { return c.trace.synchronization; }, nullptr},
      {&InitOptions::enable_memory_tracking, [](const Config& c) { return c.trace.memory; },
       "enable_memory_tracking"},
      {&InitOptions::enable_cuda_graphs_tracking, [](const Config& c) { return c.trace.graphs; },
       "enable_cuda_graphs_tracking"},
      {&InitOptions::enable_external_correlation,
       [](const Config& c) { return c.trace.external_correlation; }, nullptr},
      {&InitOptions::enable_queue_times, [](const Config& c) { return c.trace.queue_times; },
       "enable_queue_times"},
  };
  for (const Case& changed : cases) {
    InitOptions options;
    options.*changed.option = !(options.*changed.option);
    const Config config = configured(options), defaults = configured({});
    for (const Case& one : cases) {
      EXPECT_EQ(one.of(config), (one.option == changed.option) != one.of(defaults));
    }
    const std::vector<std::string> features = changed.feature != nullptr
                                                  ? std::vector<std::string>{changed.feature}
                                                  : std::vector<std::string>{};
    EXPECT_EQ(config.features, features);
  }
}

TEST(SessionConfig, SamplesAreForEnginesThatTakeThem) {
  InitOptions options;
  options.pc_sampling_period = 20;
  options.pc_sampling_window_ms = 7;
  for (const auto engine : {ProfilingEngine::PcSampling, ProfilingEngine::Deep}) {
    options.profiling_engine = engine;
    const capture::SessionConfig config = configured(options);
    ASSERT_TRUE(config.trace.pc_sampling);
    EXPECT_TRUE(config.trace.code);
    EXPECT_EQ(config.trace.pc_sampling->period_exponent, 20);
    EXPECT_EQ(config.trace.pc_sampling->window_ns, 7'000'000);
    // Deep has fewer windows' time before its turn of counters.
    const bool is_deep = engine == ProfilingEngine::Deep;
    EXPECT_EQ(config.trace.pc_sampling->pause_ns, is_deep ? 95'000'000 : 995'000'000);
    EXPECT_EQ(config.trace.sass.has_value(), is_deep);
  }
  options.profiling_engine = ProfilingEngine::Trace;
  EXPECT_FALSE(configured(options).trace.pc_sampling);
  EXPECT_FALSE(configured(options).trace.code);
  const std::vector<std::string> features = {"pc_sampling_period", "pc_sampling_window_ms"};
  EXPECT_EQ(configured(options).features, features) << "named, where the engine is too low";
}

TEST(SessionConfig, CountersAreNamedWithCommasBetweenThem) {
  InitOptions options;
  options.profiling_engine = ProfilingEngine::SassMetrics;
  using Names = std::vector<std::string>;
  EXPECT_EQ(configured(options).trace.sass->metrics, Names{"efficiency"});
  EXPECT_TRUE(configured(options).trace.code);
  EXPECT_FALSE(configured(options).trace.pc_sampling);
  options.sass_metrics = " shared ,smsp__sass_inst_executed,, ";
  EXPECT_EQ(configured(options).trace.sass->metrics, (Names{"shared", "smsp__sass_inst_executed"}));
  options.profiling_engine = ProfilingEngine::PcSampling;
  EXPECT_FALSE(configured(options).trace.sass);
  EXPECT_EQ(configured(options).features, Names{"sass_metrics"});
  options.profiling_engine = ProfilingEngine::RangeProfiler;
  EXPECT_EQ(configured(options).trace.ranges->metrics, Names{"overview"});
  EXPECT_FALSE(configured(options).trace.sass);
  EXPECT_FALSE(configured(options).trace.code) << "nothing of it is by instruction";
  options.range_metrics = "memory, dram__bytes_read.sum";
  EXPECT_EQ(configured(options).trace.ranges->metrics, (Names{"memory", "dram__bytes_read.sum"}));
  options.profiling_engine = ProfilingEngine::Trace;
  EXPECT_FALSE(configured(options).trace.ranges);
  EXPECT_EQ(configured(options).features, (Names{"sass_metrics", "range_metrics"}));
}

TEST(SessionConfig, CountersOverTimeAreThoseOfAPresetOrAreNamed) {
  using Names = std::vector<std::string>;
  InitOptions options;
  EXPECT_FALSE(configured(options).trace.pm_sampling);
  options.profiling_engine = ProfilingEngine::PmSampling;
  const backend::PmSamplingOptions defaults = *configured(options).trace.pm_sampling;
  EXPECT_EQ(defaults.metrics, Names{"overview"});
  EXPECT_EQ(defaults.interval_ns, 100'000);
  EXPECT_EQ(defaults.max_samples, 4096u);
  EXPECT_TRUE(defaults.scope_only);
  EXPECT_FALSE(configured(options).trace.code);
  options.pm_sampling_preset = "memory";
  options.pm_sampling_interval_us = 250;
  options.pm_sampling_max_samples = 128;
  options.pm_sampling_scope_only = false;
  EXPECT_EQ(configured(options).trace.pm_sampling->metrics, Names{"memory"});
  options.pm_sampling_metrics = "a.sum, b.sum";
  const backend::PmSamplingOptions chosen = *configured(options).trace.pm_sampling;
  EXPECT_EQ(chosen.metrics, (Names{"a.sum", "b.sum"})) << "in place of the preset's";
  EXPECT_EQ(chosen.interval_ns, 250'000);
  EXPECT_EQ(chosen.max_samples, 128u);
  EXPECT_FALSE(chosen.scope_only);
  options.profiling_engine = ProfilingEngine::Trace;
  EXPECT_EQ(configured(options).features,
            (Names{"pm_sampling_interval_us", "pm_sampling_max_samples", "pm_sampling_preset",
                   "pm_sampling_metrics"}));
}

TEST(SessionConfig, ABudgetIsAShareAndSamplesMoreClosely) {
  InitOptions options;
  options.profiling_engine = ProfilingEngine::PcSampling;
  options.overhead_budget = 2;
  EXPECT_DOUBLE_EQ(configured(options).overhead_budget, 0.02);
  const auto pause_ns = [&](const char* variable) {
    const Environment env = [&](const char* name) -> std::optional<std::string> {
      if (variable == nullptr || std::string_view(name) != "GPUFL_PC_SAMPLING_PAUSE_MS") return {};
      return variable;
    };
    return session_config(resolve_options(options, env), {}, nothing).trace.pc_sampling->pause_ns;
  };
  EXPECT_EQ(pause_ns(nullptr), 95'000'000);
  EXPECT_EQ(pause_ns("300"), 300'000'000);
  EXPECT_EQ(pause_ns("995"), 995'000'000) << "asked for, though it is the default";
  options.pc_sampling_pause_ms = 200;
  EXPECT_EQ(pause_ns(nullptr), 200'000'000);
}

TEST(SessionConfig, WhatTheLauncherFoundWrongIsInTheLog) {
  LaunchRequest request;
  request.events.push_back(
      OptionWarning{"bad_value", "environment", "GPUFL_X", 0, "'a' is no b"}.to_event());
  const auto variables = request.to_variables();
  ASSERT_EQ(variables.size(), 1u);
  const Environment env = [&](const char* name) -> std::optional<std::string> {
    return variables[0].first == name ? std::optional(variables[0].second) : std::nullopt;
  };
  const capture::SessionConfig config = configured({}, LaunchRequest::from_environment(env));
  ASSERT_EQ(config.events.size(), 1u);
  EXPECT_EQ(config.events[0]["text"].as_string(), "environment: bad_value: GPUFL_X: 'a' is no b");
  EXPECT_TRUE(LaunchRequest::from_environment([](const char*) { return "{"; }).events.empty());
}

TEST(SessionConfig, APassOfSeveral) {
  LaunchRequest request;
  request.pass = 2;
  request.passes = {"Trace", "PcSampling"};
  const auto variables = request.to_variables();
  const Environment env = [&](const char* name) -> std::optional<std::string> {
    for (const auto& [variable, value] : variables) {
      if (variable == name) return value;
    }
    return std::nullopt;
  };
  const capture::SessionConfig config = configured({}, LaunchRequest::from_environment(env));
  EXPECT_EQ(config.pass, 2);
  EXPECT_EQ(config.passes, request.passes);
  const Environment none = [](const char*) { return std::nullopt; };
  EXPECT_FALSE(configured({}, LaunchRequest::from_environment(none)).pass);
}

TEST(SessionConfig, ALaunchersWishes) {
  LaunchRequest request;
  request.dormant = true;
  request.capture_range = "nvtx:step";
  const capture::SessionConfig config = configured({}, request);
  EXPECT_TRUE(config.dormant);
  EXPECT_EQ(config.capture_range, "nvtx:step");
  const auto run = [](const std::string& id) {
    const Environment env = [&](const char* name) -> std::optional<std::string> {
      if (std::string_view(name) == "GPUFL_RUN_ID") return id;
      return std::nullopt;
    };
    return session_config({}, {}, env).run_id;
  };
  EXPECT_EQ(run("slurm-4711.0"), "slurm-4711.0");
  EXPECT_EQ(run("../a b"), "_._a_b");  // it is the name of a folder
  EXPECT_EQ(run(""), "");
}

}  // namespace
}  // namespace gpufl::client
