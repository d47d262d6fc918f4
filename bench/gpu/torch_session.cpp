// SPDX-License-Identifier: Apache-2.0
// libgpufl_torch_session.so: sessions, scopes, bare CUPTI and the report of a benchmark, for Python
// programs that call it through ctypes (torch_session.py). A text that is returned is an error and
// lives until the next call; null is success. One thread at a time, but for scopes.

#include <gpufl/gpufl.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/gpu/bare_cupti.hpp"
#include "bench/gpu/session_figures.hpp"
#include "bench/report.hpp"

namespace {

namespace bench = gpufl::bench;

std::unique_ptr<bench::BareCupti> bare;
std::string error;

const char* failure(std::string text) {
  error = std::move(text);
  return error.c_str();
}

// Bars come as "<=", ">=" or "" and a number.
std::optional<bench::Bar> bar_of(const char* kind, double value) {
  if (std::string_view(kind) == "<=") return bench::at_most(value);
  if (std::string_view(kind) == ">=") return bench::at_least(value);
  return {};
}

}  // namespace

extern "C" {

// What torch_session.py reads of a session.
struct TorchSessionFigures {
  uint64_t kernels, at_user_line, at_inherited_line, raw_bytes, sealed_bytes, launches_seen,
      kernel_records, vendor_dropped, impossible_times;
  uint32_t is_exact;
};

GPUFL_API const char* torch_session_start(const char* log_path, bool stacks) {
  gpufl::InitOptions options;
  options.app_name = "torch_session";
  options.log_path = log_path;
  options.profiling_engine = gpufl::ProfilingEngine::Trace;
  options.enable_stack_trace = stacks;
  return gpufl::init(options) ? nullptr : failure("no session could be started");
}

GPUFL_API void torch_session_stop() { gpufl::shutdown(); }

GPUFL_API void* torch_scope_begin(const char* name) { return new gpufl::ScopedMonitor(name); }

GPUFL_API void torch_scope_end(void* scope) { delete static_cast<gpufl::ScopedMonitor*>(scope); }

GPUFL_API const char* torch_bare_start() {
  bare = std::make_unique<bench::BareCupti>();
  return bare->is_running() ? nullptr : failure("no CUPTI: " + bare->error());
}

GPUFL_API void torch_bare_stop() { bare.reset(); }

GPUFL_API const char* torch_session_figures(const char* logs, const char* user_file,
                                            TorchSessionFigures* out) {
  const auto read = bench::read_session(logs, user_file);
  if (!read) return failure(read.status().message());
  const gpufl::format::Ledger& ledger = read->ledger;
  *out = {read->kernels,
          read->at_user_line,
          read->at_inherited_line,
          read->raw_bytes,
          read->sealed_bytes,
          ledger.launches_seen.value_or(0),
          ledger.kernel_records.value_or(0),
          ledger.vendor_dropped.value_or(0),
          ledger.impossible_times.value_or(0),
          ledger.launches_seen && read->is_exact(*ledger.launches_seen)};
  return out->is_exact != 0 ? nullptr : failure(read->losses + ledger.to_json().dump());
}

GPUFL_API void* torch_report_begin(const char* name, const char* json_path) {
  std::vector<std::string> words = {name};
  if (json_path != nullptr) words.insert(words.end(), {"--json", json_path});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  return new bench::Report(name, static_cast<int>(arguments.size()), arguments.data());
}

GPUFL_API void torch_report_note(void* report, const char* key, const char* value) {
  static_cast<bench::Report*>(report)->note(key, value);
}

GPUFL_API void torch_report_value(void* report, const char* figure, double value, const char* unit,
                                  const char* bar_kind, double bar) {
  static_cast<bench::Report*>(report)->value(figure, value, unit, bar_of(bar_kind, bar));
}

GPUFL_API void torch_report_ratio(void* report, const char* figure, const double* ratios,
                                  size_t count, const char* bar_kind, double bar) {
  static_cast<bench::Report*>(report)->ratio(
      figure, bench::summarize_ratios({ratios, ratios + count}), bar_of(bar_kind, bar));
}

GPUFL_API int torch_report_finish(void* report) {
  const std::unique_ptr<bench::Report> last(static_cast<bench::Report*>(report));
  return last->finish();
}

}  // extern "C"
