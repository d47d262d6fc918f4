// SPDX-License-Identifier: Apache-2.0
#include "client/option_table.hpp"

#include <algorithm>
#include <limits>

#include "capture/deep_windows.hpp"

namespace gpufl::client {

namespace {

using Options = InitOptions;

constexpr int kHourMs = 3'600'000;
constexpr int kNoLimit = std::numeric_limits<int>::max();

static_assert(capture::DeepWindows::kShortest_ns == 10'000'000 &&
                  capture::DeepWindows::kLongest_ns == 60'000'000'000,
              "the bounds of deep_window_ms below");

constexpr std::string_view kNoLiveUpload =
    "nothing is uploaded while the program runs; upload the logs after shutdown()";
constexpr std::string_view kEveryKernel = "has no effect: every kernel is recorded";

constexpr OptionField kFields[] = {
    {"app_name", &Options::app_name},
    {"log_path", &Options::log_path},
    {"backend_url", &Options::backend_url},
    {"api_key", &Options::api_key},
    {"api_path", &Options::api_path},
    {"remote_upload", &Options::remote_upload, kNoLiveUpload},
    {"enable_stack_trace", &Options::enable_stack_trace},
    {"enable_source_collection", &Options::enable_source_collection},
    {"enable_external_correlation", &Options::enable_external_correlation},
    {"enable_synchronization", &Options::enable_synchronization},
    {"enable_memory_tracking", &Options::enable_memory_tracking},
    {"enable_cuda_graphs_tracking", &Options::enable_cuda_graphs_tracking},
    {"enable_queue_times", &Options::enable_queue_times},
    {"system_sample_rate_ms", IntField{&Options::system_sample_rate_ms, 0, kHourMs}},
    {"kernel_sample_rate_ms", IntField{&Options::kernel_sample_rate_ms, 0, kHourMs}, kEveryKernel},
    {"continuous_system_sampling", &Options::continuous_system_sampling},
    {"backend", &Options::backend},
    {"profiling_engine", &Options::profiling_engine},
    {"overhead_budget", PercentField{&Options::overhead_budget, 0.1, 50, true}},
    {"pc_sampling_period", IntField{&Options::pc_sampling_period, 5, 31, true}},
    {"pc_sampling_window_ms", IntField{&Options::pc_sampling_window_ms, 1, 1000}},
    {"pc_sampling_pause_ms", IntField{&Options::pc_sampling_pause_ms, 0, kHourMs}},
    {"sass_metrics", &Options::sass_metrics},
    {"range_metrics", &Options::range_metrics},
    {"pm_sampling_interval_us", IntField{&Options::pm_sampling_interval_us, 50, 1'000'000}},
    {"pm_sampling_max_samples", IntField{&Options::pm_sampling_max_samples, 64, 65536}},
    {"pm_sampling_preset", &Options::pm_sampling_preset},
    {"pm_sampling_metrics", &Options::pm_sampling_metrics},
    {"pm_sampling_scope_only", &Options::pm_sampling_scope_only},
    {"deep_window_only", &Options::deep_window_only},
    {"deep_after_ms", IntField{&Options::deep_after_ms, 0, kNoLimit}},
    {"deep_when", ConditionField{&Options::deep_when}},
    {"deep_window_ms", IntField{&Options::deep_window_ms, 10, 60000}},
    {"deep_window_max_launches", IntField{&Options::deep_window_max_launches, 0, kNoLimit}},
    {"deep_window_cooldown_ms", IntField{&Options::deep_window_cooldown_ms, 0, kHourMs}},
    {"config_file", &Options::config_file},
    {"flush_logs_always", &Options::flush_logs_always},
    {"enable_debug_output", &Options::enable_debug_output},
    {"enabled", &Options::enabled},
    {"enable_control", &Options::enable_control},
    {"log_window_mb", IntField{&Options::log_window_mb, 1, 4096}},
    {"log_window_s", IntField{&Options::log_window_s, 1, kNoLimit}},
    {"log_spool_mb", IntField{&Options::log_spool_mb, 0, kNoLimit}},
    {"log_disk_floor_mb", IntField{&Options::log_disk_floor_mb, 0, kNoLimit}},
    {"log_keep_last_s", IntField{&Options::log_keep_last_s, 0, kNoLimit}},
};

// Calls `visit` with the pointer to the member itself, whatever its type.
template <typename Visit>
auto with_member(const FieldMember& member, Visit&& visit) {
  return std::visit(
      [&](const auto& m) {
        if constexpr (std::is_class_v<std::decay_t<decltype(m)>>) {
          return visit(m.member);
        } else {
          return visit(m);
        }
      },
      member);
}

}  // namespace

std::string OptionField::variable() const {
  std::string text = "GPUFL_";
  for (const char c : name) text += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

bool OptionField::is_default(const InitOptions& options) const {
  static const InitOptions defaults;
  return with_member(member, [&](auto m) { return options.*m == defaults.*m; });
}

void OptionField::copy(const InitOptions& from, InitOptions& to) const {
  with_member(member, [&](auto m) { to.*m = from.*m; });
}

std::span<const OptionField> option_fields() { return kFields; }

const OptionField* find_field(std::string_view name) {
  const auto found = std::find_if(std::begin(kFields), std::end(kFields),
                                  [&](const OptionField& field) { return field.name == name; });
  return found != std::end(kFields) ? found : nullptr;
}

}  // namespace gpufl::client
