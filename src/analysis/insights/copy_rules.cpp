// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/figures/transfers.hpp"
#include "analysis/insights/rules.hpp"
#include "text/units.hpp"

namespace gpufl::analysis {
namespace {

bool crosses_the_bus(const Copies& copies, size_t row) {
  if (copies.route.empty()) return false;
  const auto direction = static_cast<CopyDirection>(copies.route[row]);
  return direction == CopyDirection::HostToDevice || direction == CopyDirection::DeviceToHost;
}

bool has_kind(const Copies& copies, size_t row, MemoryKind kind) {
  const auto wanted = static_cast<uint8_t>(kind);
  return (!copies.source_memory.empty() && copies.source_memory[row] == wanted) ||
         (!copies.target_memory.empty() && copies.target_memory[row] == wanted);
}

std::string_view direction_text(const Copies& copies, size_t row) {
  return to_string(static_cast<CopyDirection>(copies.route[row]));
}

// What the bus does for pinned memory.
struct Bandwidth {
  double bytes_per_ns = 0;
  std::string source;
  Confidence confidence = Confidence::Low;
};

Bandwidth bus_bandwidth(const SessionView& view, int64_t device, uint8_t direction) {
  if (view.thresholds.pageable_copies.pinned_gb_per_s > 0) {
    return {view.thresholds.pageable_copies.pinned_gb_per_s, "set by a threshold",
            Confidence::Medium};
  }
  // Small copies tell of latency.
  constexpr int64_t kLargeEnough = int64_t{1} << 20;
  const Copies& copies = view.tables.copies;
  std::vector<double> measured;
  for (size_t row = 0; row < copies.rows(); ++row) {
    if (crosses_the_bus(copies, row) && copies.route[row] == direction &&
        has_kind(copies, row, MemoryKind::Pinned) && !has_kind(copies, row, MemoryKind::Pageable) &&
        copies.bytes[row] >= kLargeEnough && copies.duration[row] > 0) {
      measured.push_back(static_cast<double>(copies.bytes[row]) /
                         static_cast<double>(copies.duration[row]));
    }
  }
  if (!measured.empty()) {
    const auto middle = measured.begin() + static_cast<std::ptrdiff_t>(measured.size() / 2);
    std::nth_element(measured.begin(), middle, measured.end());
    return {*middle, "measured with pinned copies of this session", Confidence::High};
  }
  // What pinned copies reach on a link of sixteen lanes, by PCIe generation.
  constexpr std::array kOfGeneration = {0.0, 3.2, 6.4, 12.8, 25.6, 55.0, 110.0};
  const int64_t generation = view.fact(device, "pcie_generation_max").value_or(0);
  const int64_t lanes = view.fact(device, "pcie_width_max").value_or(16);
  if (generation > 0 && generation < static_cast<int64_t>(kOfGeneration.size()) && lanes > 0) {
    return {kOfGeneration[static_cast<size_t>(generation)] * static_cast<double>(lanes) / 16,
            fmt::format("usual for PCIe {} with {} lanes", generation, lanes), Confidence::Medium};
  }
  return {25.6, "usual for PCIe 4 with 16 lanes; the session does not record its link",
          Confidence::Low};
}

// Copies that have a device and a direction in common.
struct CopyGroup {
  std::vector<uint32_t> rows;
  int64_t bytes = 0, duration_ns = 0;
  Intervals spans;  // in order of their starts
};
using CopyGroups = std::map<std::pair<int64_t, uint8_t>, CopyGroup>;  // by device and direction

template <typename Wanted, typename Span>
CopyGroups gather(const SessionView& view, Wanted wanted, Span span_of) {
  CopyGroups groups;
  const Copies& copies = view.tables.copies;
  for (size_t row = 0; row < copies.rows(); ++row) {
    // Without a size, nothing tells how long a copy has to take.
    if (!view.selection.includes(copies, row) || !crosses_the_bus(copies, row) ||
        copies.bytes[row] == 0 || !wanted(row)) {
      continue;
    }
    CopyGroup& group = groups[{view.device_of(copies, row), copies.route[row]}];
    group.rows.push_back(static_cast<uint32_t>(row));
    group.bytes += copies.bytes[row];
    group.duration_ns += copies.duration[row];
    group.spans.push_back(span_of(row));
  }
  for (auto& [key, group] : groups) {
    std::sort(group.spans.begin(), group.spans.end(),
              [](const Interval& a, const Interval& b) { return a.start < b.start; });
    Intervals merged;
    for (const Interval& span : group.spans) add_in_order(merged, span.start, span.end);
    group.spans = std::move(merged);
  }
  return groups;
}

// How much of `window` the set covers.
int64_t covered_ns(const Intervals& set, Interval window) {
  int64_t covered = 0;
  auto next = std::partition_point(set.begin(), set.end(), [&](const Interval& interval) {
    return interval.end <= window.start;
  });
  for (; next != set.end() && next->start < window.end; ++next) {
    covered += std::min(next->end, window.end) - std::max(next->start, window.start);
  }
  return covered;
}

Interval copy_span(const Copies& copies, size_t row) {
  return {copies.start[row], copies.end(row)};
}

// The lines, or else scopes, with the most bytes.
void add_places(const SessionView& view, const CopyGroup& group, int64_t device, Insight& insight) {
  struct Place {
    uint32_t row = 0;  // of its longest copy
    uint64_t count = 0;
    int64_t bytes = 0, duration_ns = 0;
  };
  const Copies& copies = view.tables.copies;
  std::map<std::pair<std::string, std::string>, Place> places;
  for (const uint32_t row : group.rows) {
    Place& place = places[{view.site_of(copies, row).text, view.scope_of(copies, row)}];
    if (place.count++ == 0 || copies.duration[row] > copies.duration[place.row]) place.row = row;
    place.bytes += copies.bytes[row];
    place.duration_ns += copies.duration[row];
  }
  std::vector<Place> list;
  for (const auto& [key, place] : places) list.push_back(place);
  std::stable_sort(list.begin(), list.end(),
                   [](const Place& a, const Place& b) { return a.duration_ns > b.duration_ns; });
  constexpr size_t kMaxPlaces = 3;
  list.resize(std::min(list.size(), kMaxPlaces));
  for (const Place& place : list) {
    Evidence evidence =
        at_site(view.site_of(copies, place.row),
                fmt::format("{}, {}, {}", text::plural(place.count, "copy"),
                            text::bytes(static_cast<double>(place.bytes)),
                            text::duration(static_cast<double>(place.duration_ns))));
    evidence.scope = view.scope_of(copies, place.row);
    evidence.device = device;
    evidence.start_ns = copies.start[place.row];
    evidence.end_ns = copies.end(place.row);
    insight.evidence.push_back(std::move(evidence));
  }
}

bool is_worth(const SessionView& view, double gain_ns, double min_share) {
  return gain_ns > 0 && gain_ns >= min_share * static_cast<double>(view.wall_ns);
}

}  // namespace

void find_pageable_copies(const SessionView& view, std::vector<Insight>& found) {
  const auto& limits = view.thresholds.pageable_copies;
  const Copies& copies = view.tables.copies;
  const auto is_pageable = [&](size_t row) { return has_kind(copies, row, MemoryKind::Pageable); };
  // The call counts as well: in it the host moves the data through a buffer of the driver's.
  const auto span_of = [&](size_t row) {
    const auto call = view.call_of(copies, row);
    const Interval copy = copy_span(copies, row);
    if (!call) return copy;
    return Interval{std::min(call->span.start, copy.start), std::max(call->span.end, copy.end)};
  };
  for (const auto& [key, group] : gather(view, is_pageable, span_of)) {
    const auto& [device, direction] = key;
    const Bandwidth bus = bus_bandwidth(view, device, direction);
    const auto exposed =
        static_cast<double>(total_length(subtract(group.spans, view.kernel_spans(device))));
    const double needed = static_cast<double>(group.bytes) / bus.bytes_per_ns +
                          static_cast<double>(group.rows.size()) * limits.fixed_us * 1e3;
    const double gain = exposed - needed;
    if (!is_worth(view, gain, limits.min_share)) continue;
    const double measured = static_cast<double>(group.bytes) /
                            static_cast<double>(std::max<int64_t>(1, group.duration_ns));
    Insight insight;
    set_gain(insight, gain, view.wall_ns, view.thresholds);
    insight.title = fmt::format("Pageable copies × {}, {} · {} at {:.1f} GB/s", group.rows.size(),
                                direction_text(copies, group.rows.front()),
                                text::bytes(static_cast<double>(group.bytes)), measured);
    insight.detail =
        fmt::format("{} of them while no kernel ran; pinned memory would reach {:.1f} GB/s ({})",
                    text::duration(exposed), bus.bytes_per_ns, bus.source);
    insight.advice =
        "Keep the data on the host in pinned memory (cudaMallocHost, cudaHostRegister; PyTorch: "
        "pin_memory=True and non_blocking=True). The copy is then faster, and the host does not "
        "have to wait for it.";
    insight.estimate = fmt::format(
        "The time from each call to the end of the call or of its copy, without the time in which "
        "kernels ran ({}), minus the time of pinned copies: the same bytes at {:.1f} GB/s and {} "
        "for each copy ({}).",
        text::duration(exposed), bus.bytes_per_ns, text::duration(limits.fixed_us * 1e3),
        text::duration(needed));
    insight.confidence = bus.confidence;
    add_places(view, group, device, insight);
    found.push_back(std::move(insight));
  }
}

void find_small_copies(const SessionView& view, std::vector<Insight>& found) {
  const auto& limits = view.thresholds.small_copies;
  const Copies& copies = view.tables.copies;
  const auto is_small = [&](size_t row) {
    return static_cast<double>(copies.bytes[row]) < limits.max_kib * 1024;
  };
  const auto span_of = [&](size_t row) { return copy_span(copies, row); };
  for (const auto& [key, group] : gather(view, is_small, span_of)) {
    if (static_cast<double>(group.rows.size()) < limits.min_copies) continue;
    const auto& [device, direction] = key;
    const double per_ns = bus_bandwidth(view, device, direction).bytes_per_ns;
    // Copies that no kernel separates could be one.
    const Intervals& kernels = view.kernel_spans(device);
    const auto kernel_after = [&](int64_t time_ns) {
      return std::lower_bound(kernels.begin(), kernels.end(), time_ns,
                              [](const Interval& k, int64_t t) { return k.start < t; });
    };
    double gain = 0;
    uint64_t joined = 0, runs = 0;
    for (size_t first = 0; first < group.rows.size();) {
      const auto next_kernel = kernel_after(copies.start[group.rows[first]]);
      size_t last = first;
      int64_t bytes = copies.bytes[group.rows[first]];
      while (last + 1 < group.rows.size() &&
             (next_kernel == kernels.end() ||
              copies.start[group.rows[last + 1]] < next_kernel->start)) {
        bytes += copies.bytes[group.rows[++last]];
      }
      const Interval run{copies.start[group.rows[first]], copies.end(group.rows[last])};
      const double one = static_cast<double>(bytes) / per_ns +
                         static_cast<double>(copies.duration[group.rows[first]]);
      const auto exposed = static_cast<double>(run.length() - covered_ns(kernels, run));
      if (last > first && exposed > one) {
        gain += exposed - one;
        joined += last - first + 1;
        ++runs;
      }
      first = last + 1;
    }
    if (!is_worth(view, gain, limits.min_share)) continue;
    Insight insight;
    set_gain(insight, gain, view.wall_ns, view.thresholds);
    insight.title = fmt::format(
        "Small copies × {}, {} · {} on average", group.rows.size(),
        direction_text(copies, group.rows.front()),
        text::bytes(static_cast<double>(group.bytes) / static_cast<double>(group.rows.size())));
    insight.detail = fmt::format(
        "{} copies under {} take {}; {} of them follow each other with no kernel in between, in "
        "{}",
        text::count(group.rows.size()), text::bytes(limits.max_kib * 1024),
        text::duration(static_cast<double>(group.duration_ns)), text::count(joined),
        text::plural(runs, "run"));
    insight.advice =
        "Pack them into one buffer and copy that, or let a kernel read them from pinned memory.";
    insight.estimate =
        "For copies that follow each other: from the start of the first to the end of the last, "
        "without the time in which kernels ran, minus the time of a single copy with all the "
        "bytes.";
    insight.confidence = Confidence::Medium;
    add_places(view, group, device, insight);
    found.push_back(std::move(insight));
  }
}

void find_unoverlapped_copies(const SessionView& view, std::vector<Insight>& found) {
  const Copies& copies = view.tables.copies;
  // Pageable ones cannot overlap anything: pageable_copies tells of those.
  const auto is_wanted = [&](size_t row) { return !has_kind(copies, row, MemoryKind::Pageable); };
  const auto span_of = [&](size_t row) { return copy_span(copies, row); };
  for (const auto& [key, group] : gather(view, is_wanted, span_of)) {
    const int64_t device = key.first;
    const Intervals& kernels = view.kernel_spans(device);
    const auto copying = static_cast<double>(total_length(group.spans));
    const auto hidden = static_cast<double>(total_length(intersect(group.spans, kernels)));
    const double exposed = copying - hidden;
    const double room = static_cast<double>(total_length(kernels)) - hidden;
    const double gain = std::min(exposed, room);
    if (!is_worth(view, gain, view.thresholds.unoverlapped_copies.min_share)) continue;
    Insight insight;
    set_gain(insight, gain, view.wall_ns, view.thresholds);
    insight.title = fmt::format("Copies not overlapped × {}, {} · {} of {} with no kernel running",
                                group.rows.size(), direction_text(copies, group.rows.front()),
                                text::duration(exposed), text::duration(copying));
    insight.detail =
        fmt::format("{} in {}; kernels ran during {} of the time",
                    text::bytes(static_cast<double>(group.bytes)),
                    text::plural(group.rows.size(), "copy"), text::percent(hidden / copying));
    insight.advice =
        "Copy the data for the next step on a separate stream while this step computes (double "
        "buffering; PyTorch: a prefetching loader with non_blocking=True).";
    insight.estimate = fmt::format(
        "Copies that no kernel overlaps ({}), or kernel time that no copy overlaps ({}), "
        "whichever is shorter.",
        text::duration(exposed), text::duration(room));
    insight.confidence = Confidence::Low;
    add_places(view, group, device, insight);
    found.push_back(std::move(insight));
  }
}

}  // namespace gpufl::analysis
