// SPDX-License-Identifier: Apache-2.0
#include "import/trace.hpp"

#include <algorithm>

namespace gpufl::importing {

size_t LaunchHash::operator()(const Launch& launch) const {
  uint64_t hash = launch.name;
  const auto mix = [&](int64_t value) {
    constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;
    hash = (hash ^ static_cast<uint64_t>(value)) * kOdd;
    hash ^= hash >> 29;
  };
  for (const int64_t value : launch.grid) mix(value);
  for (const int64_t value : launch.block) mix(value);
  mix(launch.registers);
  mix(launch.shared_dynamic);
  mix(launch.shared_total);
  return hash;
}

TimeSpan span_of(const Trace& trace) {
  TimeSpan span;
  for_each_rows(trace, [&](const auto& rows) {
    for (const auto& row : rows) {
      span.begin = std::min(span.begin, row.start);
      span.end = std::max(span.end, row.start + row.duration);
    }
  });
  return span;
}

void note_missing_gpu_work(Trace& trace, std::string hint) {
  if (trace.has_gpu_activity()) return;
  trace.shortfalls.push_back({"gpu_work", "not_in_trace",
                              "the GPU's work is not in the trace: it has no CUDA activity",
                              std::move(hint)});
}

void drop_far_times(Trace& trace) {
  const TimeSpan span = span_of(trace);
  if (span.begin > span.end || span.end - span.begin <= kLongestNs) return;
  std::vector<int64_t> starts;
  for_each_rows(trace, [&](const auto& rows) {
    for (const auto& row : rows) starts.push_back(row.start);
  });
  const auto middle = starts.begin() + static_cast<std::ptrdiff_t>(starts.size() / 2);
  std::nth_element(starts.begin(), middle, starts.end());
  const int64_t most = *middle;
  for_each_rows(trace, [&](auto& rows) {
    trace.impossible_times += std::erase_if(rows, [&](const auto& row) {
      return row.start < most - kLongestNs / 2 || row.start > most + kLongestNs / 2;
    });
  });
}

}  // namespace gpufl::importing
