// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <utility>

#include "store/health.hpp"

// Questions about what is packed.
namespace gpufl::store {
namespace {

using base::Code;
using base::Status;

constexpr size_t kMostAnswered = 256;
constexpr int kTries = 5;

// Its place among the levels: fine enough, and kept for as long as is asked for where any is.
size_t level_for(const HealthQuestion& asked, const Retention& retention) {
  const int64_t range_s = asked.to_s - asked.from_s;
  const auto points = static_cast<int64_t>(asked.points);
  size_t best = kHealthLevels - 1;
  for (size_t level = kHealthLevels; level-- > 0;) {
    const int64_t kept_s = retention.health_days[level] * kDay_s;
    if (kept_s == 0) continue;
    if (best == kHealthLevels - 1 && retention.health_days[best] == 0) best = level;
    const bool is_kept = asked.from_s >= asked.now_s - kept_s;
    if (is_kept && range_s <= points * kHealthLevels_s[level]) best = level;
  }
  return best;
}

int64_t round_up(int64_t value, int64_t by) { return (value + by - 1) / by * by; }

}  // namespace

base::Result<HealthAnswer> Health::read(const HealthQuestion& question) {
  HealthAnswer answer;
  std::vector<HealthBlob> blobs;
  size_t level = 0;
  const auto find_blobs = [&]() -> Status {
    const std::lock_guard lock(catalogue_mutex_);
    auto device = catalogue_.health().find_device(question.workspace, question.device);
    if (!device) return device.status();
    if (!*device) return {Code::NotFound, "there is no such device"};
    answer.device = std::move(**device);
    const auto workspaces = catalogue_.workspaces();
    if (!workspaces) return workspaces.status();
    for (const Workspace& one : *workspaces) {
      if (one.id == question.workspace) level = level_for(question, one.retention);
    }
    auto found = catalogue_.health().blobs(question.device, kHealthLevels_s[level],
                                           question.from_s / kHour_s,
                                           round_up(question.to_s, kHour_s) / kHour_s);
    if (!found) return found.status();
    blobs = std::move(*found);
    return {};
  };
  if (Status found = find_blobs(); !found) return found;
  answer.level_s = kHealthLevels_s[level];
  const auto points = static_cast<int64_t>(std::max<size_t>(question.points, 2));
  for (answer.step_s = answer.level_s;; answer.step_s += answer.level_s) {
    answer.from_s = question.from_s / answer.step_s * answer.step_s;
    if (round_up(question.to_s - answer.from_s, answer.step_s) / answer.step_s <= points) break;
  }
  const auto is_wanted = [&](const SeriesName& name) {
    return question.metrics.empty() || std::find(question.metrics.begin(), question.metrics.end(),
                                                 name.metric) != question.metrics.end();
  };
  std::set<SeriesName> left_out;
  for (HealthBlob blob : blobs) {
    auto parts = parts_of(question.workspace, blob);
    for (int i = 0; i < kTries && parts.status().code() == Code::NotFound; ++i) {
      // It has been followed by another one since, or is gone.
      const std::lock_guard lock(catalogue_mutex_);
      const auto now = catalogue_.health().find_blob(blob.device, blob.level_s, blob.hour);
      if (!now) return now.status();
      if (!*now) break;
      blob = **now;
      parts = parts_of(question.workspace, blob);
    }
    // What is damaged is not shown; `gpufl store check` tells of it.
    if (!parts) continue;
    for (const auto& [source, readings] : *parts) {
      for (const auto& [name, series] : readings) {
        if (!is_wanted(name)) continue;
        if (!answer.series.contains(name) && answer.series.size() >= kMostAnswered) {
          left_out.insert(name);
          continue;
        }
        HealthSeries& all = answer.series[name];
        for (HealthBucket bucket : series) {
          const int64_t begin_s = blob.hour * kHour_s + bucket.at * blob.level_s;
          if (begin_s < answer.from_s || begin_s >= question.to_s) continue;
          bucket.at = static_cast<uint32_t>((begin_s - answer.from_s) / answer.step_s);
          add_to_series(all, bucket, name.has_bits());
        }
      }
    }
  }
  std::erase_if(answer.series, [](const auto& one) { return one.second.empty(); });
  answer.left_out = left_out.size();
  return answer;
}

}  // namespace gpufl::store
