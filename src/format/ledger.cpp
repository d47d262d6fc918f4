// SPDX-License-Identifier: Apache-2.0
#include "format/ledger.hpp"

#include <algorithm>
#include <vector>

namespace gpufl::format {
namespace {

constexpr const char* kFullWarpLanes = "full_warp_lanes";  // in `uncounted`

using base::Json;
using Count = std::optional<uint64_t>;

constexpr std::string_view kCollectorTime = "collector_cpu_ns";

Json counts_to_json(const std::map<std::string, uint64_t>& counts) {
  Json object = Json::object();
  for (const auto& [name, count] : counts) object.set(name, count);
  return object;
}

std::map<std::string, uint64_t> counts_from_json(const Json& object) {
  std::map<std::string, uint64_t> counts;
  for (const auto& [name, count] : object.members()) {
    if (count.is_integer() && count.as_integer() >= 0) {
      counts[name] = static_cast<uint64_t>(count.as_integer());
    }
  }
  return counts;
}

Count known(const Json& value) {
  if (!value.is_integer() || value.as_integer() < 0) return {};
  return static_cast<uint64_t>(value.as_integer());
}

// Fields of one name in the struct and in the line, listed once for all that is done with them.
template <typename L, typename Visit>
void for_each_sum(L& ledger, Visit visit) {
  visit("launches_seen", ledger.launches_seen);
  visit("kernel_records", ledger.kernel_records);
  visit("launches_missing", ledger.launches_missing);
  visit("launches_unfinished", ledger.launches_unfinished);
  visit("launches_outside_range", ledger.launches_outside_range);
  visit("kernels_unclaimed", ledger.kernels_unclaimed);
  visit("graph_launches", ledger.graph_launches);
  visit("graph_kernels_missing", ledger.graph_kernels_missing);
  visit("graph_kernel_records", ledger.graph_kernel_records);
  visit("vendor_dropped", ledger.vendor_dropped);
  visit("impossible_times", ledger.impossible_times);
  visit("kernels_overlapping", ledger.kernels_overlapping);
  visit("notes_dropped", ledger.notes_dropped);
  visit("tracings_refused", ledger.tracings_refused);
  visit("markers_dropped", ledger.markers_dropped);
  visit("markers_unclosed", ledger.markers_unclosed);
  visit("markers_unmatched", ledger.markers_unmatched);
  visit("stacks_dropped", ledger.stacks_dropped);
  visit("warp_records_dropped", ledger.warp_records_dropped);
  visit("activity_buffers", ledger.activity_buffers);
  visit("activity_bytes", ledger.activity_bytes);
  visit("callback_ns", ledger.callback_ns);
  visit("vendor_overhead_ns", ledger.vendor_overhead_ns);
  visit("cupti_overhead_ns", ledger.cupti_overhead_ns);
}

// Likewise, of what only some engines count: one that does not has nothing to add.
template <typename L, typename Visit>
void for_each_engine_sum(L& ledger, Visit visit) {
  visit("phases", ledger.phases);
  visit("attached_ns", ledger.attached_ns);
  visit("sampling_windows", ledger.sampling_windows);
  visit("sampling_windows_skipped", ledger.sampling_windows_skipped);
  visit("pc_samples", ledger.pc_samples);
  visit("pc_samples_dropped", ledger.pc_samples_dropped);
  visit("pc_samples_unlocated", ledger.pc_samples_unlocated);
  visit("sampling_buffers_full", ledger.sampling_buffers_full);
  visit("launches_counted", ledger.launches_counted);
  visit("graph_launches_uncounted", ledger.graph_launches_uncounted);
  visit("sass_values", ledger.sass_values);
  visit("sass_values_dropped", ledger.sass_values_dropped);
  visit("ranges", ledger.ranges);
  visit("ranges_skipped", ledger.ranges_skipped);
  visit("pm_samples", ledger.pm_samples);
  visit("pm_samples_dropped", ledger.pm_samples_dropped);
  visit("pm_buffers_full", ledger.pm_buffers_full);
  visit("launches_held", ledger.launches_held);
  visit("launches_held_ns", ledger.launches_held_ns);
  visit("modules_kept", ledger.modules_kept);
  visit("modules_over_cap", ledger.modules_over_cap);
  visit("modules_not_found", ledger.modules_not_found);
}

// Of several parts the largest counts.
template <typename L, typename Visit>
void for_each_maximum(L& ledger, Visit visit) {
  visit("most_overlap_ns", ledger.most_overlap_ns);
}

template <typename L, typename Visit>
void for_each_optional(L& ledger, Visit visit) {
  for_each_sum(ledger, visit);
  for_each_engine_sum(ledger, visit);
  for_each_maximum(ledger, visit);
  visit("longest_hold_ns", ledger.longest_hold_ns);
  visit("longest_window_hold_ns", ledger.longest_window_hold_ns);
}

template <typename L, typename Visit>
void for_each_optional_of_device(L& device, Visit visit) {
  visit("launches", device.launches);
  visit("kernel_records", device.kernel_records);
  visit("launches_missing", device.launches_missing);
}

template <typename L, typename Visit>
void for_each_count(L& ledger, Visit visit) {
  visit("scopes_dropped", ledger.scopes_dropped);
  visit("scopes_unclosed", ledger.scopes_unclosed);
  visit("scopes_forgotten", ledger.scopes_forgotten);
  visit("names_overflowed", ledger.names_overflowed);
  visit("samples_taken", ledger.samples_taken);
  visit("samples_missed", ledger.samples_missed);
  visit("samplers_stuck", ledger.samplers_stuck);
  visit("rounds_lost", ledger.rounds_lost);
  visit("events_dropped", ledger.events_dropped);
  visit("counters_overflowed", ledger.counters_overflowed);
  visit("raw_bytes", ledger.writer.raw_bytes);
  visit("sealed_bytes", ledger.writer.sealed_bytes);
  visit("windows_sealed", ledger.writer.windows_sealed);
  visit("windows_deleted", ledger.writer.windows_deleted);
  visit("rows_deleted", ledger.writer.rows_deleted);
  visit("dictionary_overflows", ledger.writer.dictionary_overflows);
}

Json devices_to_json(const std::map<int64_t, DeviceLedger>& devices) {
  Json list = Json::array();
  for (const auto& [number, device] : devices) {
    Json item = Json::object();
    item.set("device", number);
    for_each_optional_of_device(device, [&](std::string_view name, const Count& value) {
      if (value) item.set(name, *value);
    });
    list.push(std::move(item));
  }
  return list;
}

std::map<int64_t, DeviceLedger> devices_from_json(const Json& list) {
  std::map<int64_t, DeviceLedger> devices;
  for (const Json& item : list.items()) {
    if (!item["device"].is_integer()) continue;
    for_each_optional_of_device(
        devices[item["device"].as_integer()],
        [&](std::string_view name, Count& value) { value = known(item[name]); });
  }
  return devices;
}

void add_known(Count& total, const Count& part) {
  if (part) total = total.value_or(0) + *part;
}

void keep_larger(Count& total, const Count& part) {
  if (part) total = std::max(total.value_or(0), *part);
}

void forget_if_unknown(Count& total, const Count& part) {
  if (!part) total.reset();
}

// Calls `combine` with every count of `total` and the same one of `part`.
template <typename T, typename ForEach>
void for_each_pair(T& total, const T& part, ForEach for_each,
                   void (*combine)(Count&, const Count&)) {
  std::vector<const Count*> of_part;
  for_each(part, [&](std::string_view, const Count& count) { of_part.push_back(&count); });
  size_t i = 0;
  for_each(total, [&](std::string_view, Count& count) { combine(count, *of_part[i++]); });
}

constexpr auto kSums = [](auto& ledger, auto visit) { for_each_sum(ledger, visit); };
constexpr auto kEngineSums = [](auto& ledger, auto visit) { for_each_engine_sum(ledger, visit); };
constexpr auto kMaxima = [](auto& ledger, auto visit) { for_each_maximum(ledger, visit); };
constexpr auto kDeviceCounts = [](auto& device, auto visit) {
  for_each_optional_of_device(device, visit);
};

}  // namespace

std::map<std::string, uint64_t> Ledger::losses() const {
  std::map<std::string, uint64_t> losses = writer.dropped;
  // A missed sampler tick is a reading that was never taken: told, but nothing recorded was lost.
  losses["scopes_dropped"] = scopes_dropped;
  losses["scopes_forgotten"] = scopes_forgotten;
  losses["names_overflowed"] = names_overflowed;
  losses["counters_overflowed"] = counters_overflowed;
  losses["samplers_stuck"] = samplers_stuck;
  losses["rounds_lost"] = rounds_lost;
  losses["events_dropped"] = events_dropped;
  losses["windows_deleted"] = writer.windows_deleted;
  losses["dictionary_overflows"] = writer.dictionary_overflows;
  losses["launches_missing"] = launches_missing.value_or(0);
  losses["graph_kernels_missing"] = graph_kernels_missing.value_or(0);
  losses["vendor_dropped"] = vendor_dropped.value_or(0);
  losses["impossible_times"] = impossible_times.value_or(0);
  losses["notes_dropped"] = notes_dropped.value_or(0);
  losses["tracings_refused"] = tracings_refused.value_or(0);
  losses["markers_dropped"] = markers_dropped.value_or(0);
  losses["stacks_dropped"] = stacks_dropped.value_or(0);
  losses["pc_samples_dropped"] = pc_samples_dropped.value_or(0);
  losses["sampling_buffers_full"] = sampling_buffers_full.value_or(0);
  losses["sass_values_dropped"] = sass_values_dropped.value_or(0);
  losses["pm_samples_dropped"] = pm_samples_dropped.value_or(0);
  losses["pm_buffers_full"] = pm_buffers_full.value_or(0);
  losses["modules_over_cap"] = modules_over_cap.value_or(0);
  losses["warp_records_dropped"] = warp_records_dropped.value_or(0);
  losses[kTruncatedTrace] = uncounted.contains(kTruncatedTrace) ? 1 : 0;
  std::erase_if(losses, [](const auto& loss) { return loss.second == 0; });
  return losses;
}

uint64_t Ledger::launches_without_record() const {
  if (!launches_seen || !kernel_records) return 0;
  const uint64_t owed = *launches_seen + graph_kernel_records.value_or(0);
  const uint64_t found = *kernel_records + launches_unfinished.value_or(0) +
                         launches_outside_range.value_or(0) + launches_counted.value_or(0);
  return owed > found ? owed - found : 0;
}

Completeness Ledger::completeness() const {
  // Whose records are missing may be unknown; how many are is not.
  if (!losses().empty() || launches_without_record() > 0) return Completeness::Incomplete;
  // Lanes that are full may hold all that there was; nobody counted whether they do.
  const bool is_unproven = lacks_launch_count() || uncounted.contains(kFullWarpLanes);
  return is_unproven ? Completeness::NotProven : Completeness::Complete;
}

Completeness Ledger::completeness_of_trace() const {
  Ledger rest = *this;
  rest.warp_records_dropped.reset();
  rest.pc_samples_dropped.reset();
  rest.sampling_buffers_full.reset();
  rest.sass_values_dropped.reset();
  rest.pm_samples_dropped.reset();
  rest.pm_buffers_full.reset();
  rest.modules_over_cap.reset();
  rest.uncounted.erase(kFullWarpLanes);
  return rest.completeness();
}

void Ledger::add(const Ledger& part) {
  for_each_pair(*this, part, kSums, add_known);
  for_each_pair(*this, part, kEngineSums, add_known);
  for_each_pair(*this, part, kMaxima, keep_larger);
  keep_larger(longest_hold_ns, part.longest_hold_ns);
  keep_larger(longest_window_hold_ns, part.longest_window_hold_ns);
  for (const auto& [number, device] : part.by_device) {
    for_each_pair(by_device[number], device, kDeviceCounts, add_known);
  }
  uncounted.insert(part.uncounted.begin(), part.uncounted.end());
}

void Ledger::add_later(const Ledger& later) {
  const Ledger before = *this;
  add(later);
  for (const Ledger* part : {&before, &later}) {
    for_each_pair(*this, *part, kSums, forget_if_unknown);
    for_each_pair(*this, *part, kMaxima, forget_if_unknown);
  }
  for (auto& [number, device] : by_device) {
    forget_if_unknown(device.launches, launches_seen);
    forget_if_unknown(device.launches_missing, launches_missing);
  }
}

void add_account(const Ledger& account, std::optional<Ledger>& accounts) {
  if (accounts) {
    accounts->add_later(account);
  } else {
    accounts = account;
  }
}

Json Ledger::to_json() const {
  Json line = Json::object();
  for_each_optional(*this, [&](std::string_view name, const Count& value) {
    if (value) line.set(name, *value);
  });
  if (!by_device.empty()) line.set("by_device", devices_to_json(by_device));
  if (!uncounted.empty()) {
    Json names = Json::array();
    for (const std::string& name : uncounted) names.push(name);
    line.set("uncounted", std::move(names));
  }
  for_each_count(*this, [&](std::string_view name, uint64_t value) {
    if (knows(name)) line.set(name, value);
  });
  if (knows(kCollectorTime)) line.set(kCollectorTime, collector_cpu_ns);
  line.set("rows", counts_to_json(writer.rows));
  line.set("dropped", counts_to_json(writer.dropped));
  return line;
}

Ledger Ledger::from_json(const Json& line) {
  Ledger ledger;
  for_each_optional(ledger,
                    [&](std::string_view name, Count& value) { value = known(line[name]); });
  if (!ledger.vendor_overhead_ns) ledger.vendor_overhead_ns = ledger.cupti_overhead_ns;
  ledger.by_device = devices_from_json(line["by_device"]);
  for (const Json& name : line["uncounted"].items()) {
    if (name.is_string()) ledger.uncounted.insert(name.as_string());
  }
  for_each_count(ledger, [&](std::string_view name, uint64_t& value) {
    const std::optional<uint64_t> count = known(line[name]);
    if (count) {
      value = *count;
    } else {
      ledger.unknown.emplace(name);
    }
  });
  ledger.collector_cpu_ns = line[kCollectorTime].as_integer();
  if (!line[kCollectorTime].is_integer()) ledger.unknown.emplace(kCollectorTime);
  ledger.writer.rows = counts_from_json(line["rows"]);
  ledger.writer.dropped = counts_from_json(line["dropped"]);
  return ledger;
}

}  // namespace gpufl::format
