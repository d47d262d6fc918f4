// SPDX-License-Identifier: Apache-2.0
// The API reference's table of options, in the order in which it stands there: every field by its
// name, with its type and its default.
#include <gtest/gtest.h>

#include <gpufl/gpufl.hpp>
#include <type_traits>

namespace gpufl {
namespace {

TEST(Reference, EveryOptionHasItsDefault) {
  const InitOptions opts;
  EXPECT_EQ(opts.app_name, "gpufl");
  EXPECT_EQ(opts.log_path, "");
  EXPECT_EQ(opts.backend_url, "");
  EXPECT_EQ(opts.api_key, "");
  EXPECT_EQ(opts.api_path, "");
  EXPECT_FALSE(opts.remote_upload);
  EXPECT_FALSE(opts.enable_stack_trace);
  EXPECT_TRUE(opts.enable_source_collection);
  EXPECT_TRUE(opts.enable_external_correlation);
  EXPECT_TRUE(opts.enable_synchronization);
  EXPECT_FALSE(opts.enable_memory_tracking);
  EXPECT_FALSE(opts.enable_cuda_graphs_tracking);
  EXPECT_EQ(opts.system_sample_rate_ms, 0);
  EXPECT_EQ(opts.kernel_sample_rate_ms, 0);
  EXPECT_FALSE(opts.continuous_system_sampling);
  EXPECT_EQ(opts.backend, BackendKind::Auto);
  EXPECT_EQ(opts.profiling_engine, ProfilingEngine::Monitor);
  EXPECT_FALSE(opts.deep_window_only);
  EXPECT_EQ(opts.deep_after_ms, 0);
  EXPECT_EQ(opts.deep_when, "");
  EXPECT_EQ(opts.deep_window_ms, 2000);
  EXPECT_EQ(opts.deep_window_max_launches, 0);
  EXPECT_EQ(opts.deep_window_cooldown_ms, 10000);
  EXPECT_EQ(opts.config_file, "");
  EXPECT_FALSE(opts.flush_logs_always);
  EXPECT_FALSE(opts.enable_debug_output);
  EXPECT_TRUE(opts.enabled);
}

TEST(Reference, EveryFieldOfADeepWindowHasItsDefault) {
  const DeepWindowSpec spec;
  EXPECT_EQ(spec.max_duration_ms, 0);
  EXPECT_EQ(spec.max_launches, 0);
  EXPECT_EQ(spec.cooldown_ms, 0);
  EXPECT_EQ(spec.name, "");
  EXPECT_FALSE(deepWindow(DeepWindowSpec{500, 100, 1000, "no session"}));
  EXPECT_FALSE(deepWindow(500));
  EXPECT_FALSE(deepWindow(500, 100));
  deepWindowClose();
  EXPECT_FALSE(deepWindowActive());
}

TEST(Reference, EveryOptionOfAnUploadHasItsDefault) {
  const UploadOptions opts;
  EXPECT_EQ(opts.log_path + opts.backend_url + opts.api_key + opts.api_path, "");
  EXPECT_EQ(opts.total_timeout_ms, 300000);
  EXPECT_EQ(opts.connect_timeout_ms, 10000);
  EXPECT_EQ(opts.read_timeout_ms, 30000);
  EXPECT_EQ(opts.max_retries, 1);
  EXPECT_EQ(opts.retry_delay_ms, 1000);
  EXPECT_EQ(opts.cursor_filename, ".gpufl-upload-cursor.json");
  EXPECT_EQ(opts.session_id_filter, "");
  EXPECT_FALSE(opts.all_sessions);
  EXPECT_FALSE(opts.force);
  EXPECT_FALSE(opts.report_progress);
  EXPECT_EQ(opts.progress_log_interval_ms, 5000);
  EXPECT_EQ(opts.progress_log_interval_bytes, 50 * 1024 * 1024);
}

TEST(Reference, FunctionsHaveTheirSignatures) {
  static_assert(
      std::is_same_v<decltype(&uploadLogs), UploadResult (*)(const UploadOptions&) noexcept>);
  static_assert(std::is_same_v<decltype(&init), bool (*)(const InitOptions&)>);
  static_assert(std::is_same_v<decltype(&status), SessionStatus (*)()>);
  static_assert(std::is_same_v<decltype(&shutdown), void (*)()>);
  static_assert(std::is_same_v<decltype(&pause), bool (*)()>);
  static_assert(std::is_same_v<decltype(&resume), bool (*)()>);
  static_assert(std::is_same_v<decltype(&generateReport), void (*)(const std::string&)>);
  static_assert(std::is_same_v<decltype(&systemStart), void (*)(const std::string&)>);
  static_assert(std::is_same_v<decltype(&systemStop), void (*)(const std::string&)>);
}

TEST(Reference, EnumsHaveTheirOrder) {
  EXPECT_LT(BackendKind::Auto, BackendKind::Nvidia);
  EXPECT_LT(BackendKind::Nvidia, BackendKind::Amd);
  EXPECT_LT(BackendKind::Amd, BackendKind::None);
  const ProfilingEngine ladder[] = {
      ProfilingEngine::Monitor,       ProfilingEngine::Trace,
      ProfilingEngine::PcSampling,    ProfilingEngine::SassMetrics,
      ProfilingEngine::RangeProfiler, ProfilingEngine::Deep,
      ProfilingEngine::PmSampling,    ProfilingEngine::RangeProfilerKernelReplay};
  for (size_t i = 0; i < std::size(ladder); ++i) EXPECT_EQ(static_cast<size_t>(ladder[i]), i);
}

}  // namespace
}  // namespace gpufl
