// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/insights/rules.hpp"
#include "text/units.hpp"

namespace gpufl::analysis {
namespace {

constexpr std::string_view kNotAboutTime = "None: it is about correct results, not about time.";

const MetricSeries* series_of(const SessionView& view, int64_t device, std::string_view metric) {
  for (const MetricFigures& series : view.overview.metrics) {
    if (series.device == device && series.metric == metric) return &series;
  }
  return nullptr;
}

// What a counter grew by while it was sampled.
int64_t growth(const SessionView& view, int64_t device, std::string_view metric) {
  const MetricSeries* series = series_of(view, device, metric);
  return series == nullptr ? 0 : saturating_subtract(series->last, series->first);
}

int64_t last_value(const SessionView& view, int64_t device, std::string_view metric) {
  const MetricSeries* series = series_of(view, device, metric);
  return series == nullptr ? 0 : series->last;
}

Evidence at_device(int64_t device, std::string text) {
  Evidence evidence;
  evidence.text = std::move(text);
  evidence.device = device;
  return evidence;
}

}  // namespace

void find_memory_nearly_full(const SessionView& view, std::vector<Insight>& found) {
  const auto& limits = view.thresholds.memory_nearly_full;
  for (const DeviceBusy& device : view.overview.devices) {
    const MetricSeries* used = series_of(view, device.device, "memory_used_bytes");
    const MetricSeries* total = series_of(view, device.device, "memory_total_bytes");
    const double capacity =
        total != nullptr
            ? total->values.max
            : static_cast<double>(view.fact(device.device, "memory_bytes").value_or(0));
    if (used == nullptr || capacity <= 0) continue;
    const double share = used->values.max / capacity;
    if (share < limits.min_used_share) continue;
    Insight insight;
    insight.severity = share >= limits.high_used_share ? Severity::High : Severity::Medium;
    insight.title =
        fmt::format("Memory of GPU {} nearly full · {} of {} ({})", device.device,
                    text::bytes(used->values.max), text::bytes(capacity), text::percent(share));
    insight.detail =
        fmt::format("at the peak, {} was left", text::bytes(capacity - used->values.max));
    insight.advice =
        "Use a smaller batch, recompute activations, or move optimizer state off the GPU. If more "
        "is needed, allocations fail, and caching allocators have to return memory and request it "
        "again, which is slow. Memory of other processes on the GPU counts too.";
    insight.estimate = "None: the risk is a failure, not lost time.";
    insight.confidence = Confidence::High;
    insight.evidence.push_back(at_device(device.device, insight.detail));
    found.push_back(std::move(insight));
  }
}

void find_ecc_errors(const SessionView& view, std::vector<Insight>& found) {
  for (const DeviceBusy& device : view.overview.devices) {
    const int64_t number = device.device;
    const int64_t uncorrected = growth(view, number, "ecc_uncorrected_volatile_count");
    const int64_t corrected = growth(view, number, "ecc_corrected_volatile_count");
    const bool has_failed = last_value(view, number, "remapped_rows_failed") > 0;
    const bool is_pending = last_value(view, number, "remapped_rows_pending") > 0 ||
                            last_value(view, number, "retired_pages_pending") > 0;
    const bool are_many =
        corrected > 0 && static_cast<double>(corrected) >= view.thresholds.ecc_errors.min_corrected;
    if (uncorrected <= 0 && !has_failed && !is_pending && !are_many) continue;
    Insight insight;
    std::vector<std::string> seen;
    if (uncorrected > 0) seen.push_back(text::plural(uncorrected, "uncorrected error"));
    if (are_many) seen.push_back(text::plural(corrected, "corrected error"));
    if (has_failed) seen.emplace_back("a row could not be remapped");
    if (is_pending) seen.emplace_back("faulty memory will be replaced at the next reset");
    insight.severity = uncorrected > 0 || has_failed ? Severity::High
                       : is_pending                  ? Severity::Medium
                                                     : Severity::Low;
    insight.title = fmt::format("Memory errors on GPU {}: {}", number, fmt::join(seen, ", "));
    insight.detail = "reported by the GPU's error correction during the session";
    insight.advice =
        uncorrected > 0 || has_failed
            ? "Do not trust the results of this session. Take the GPU out of use and reset it; "
              "have it replaced if a row could not be remapped."
            : "Reset the GPU when it is free, and check whether the number grows. Results are "
              "correct.";
    insight.estimate = kNotAboutTime;
    insight.confidence = Confidence::High;
    insight.evidence.push_back(at_device(number, insight.title));
    found.push_back(std::move(insight));
  }
}

void find_xid_errors(const SessionView& view, std::vector<Insight>& found) {
  struct Seen {
    uint64_t count = 0;
    int64_t first_ns = 0;
    std::string text;
  };
  std::map<std::pair<int64_t, int64_t>, Seen> by_code;  // by device and code; -1: it was lost
  constexpr int64_t kLost = -1;
  for (const base::Json& event : view.session.summary.events) {
    const std::string& name = event["name"].as_string();
    if (name != "xid" && name != "device_lost") continue;
    const int64_t code = name == "xid" ? event["code"].as_integer() : kLost;
    Seen& seen = by_code[{event["device"].as_integer(-1), code}];
    if (seen.count++ > 0) continue;
    seen.first_ns = event["time"].as_integer();
    seen.text = event["text"].as_string();
  }
  for (const auto& [key, seen] : by_code) {
    const auto& [device, code] = key;
    const std::string what =
        code == kLost ? "stopped answering" : fmt::format("reported Xid {}", code);
    Insight insight;
    insight.severity = Severity::High;
    insight.title = fmt::format("GPU {} {}{}", device, what,
                                seen.count > 1 ? fmt::format(" × {}", seen.count) : "");
    insight.detail = seen.text.empty() ? "reported by the driver" : seen.text;
    insight.advice =
        "Look this number up in the driver's list of Xid errors. 13, 31 and 43 are usually errors "
        "of the program (compute-sanitizer finds them); 48, 63, 64, 74, 79, 94 and 95 are "
        "hardware errors.";
    insight.estimate = kNotAboutTime;
    insight.confidence = Confidence::High;
    insight.evidence.push_back(at_device(device, insight.detail));
    insight.evidence.back().start_ns = seen.first_ns;
    found.push_back(std::move(insight));
  }
}

}  // namespace gpufl::analysis
