// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/transfers.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>

#include "analysis/figures/gaps.hpp"
#include "analysis/figures/missing.hpp"
#include "analysis/math/rate.hpp"
#include "analysis/math/saturating.hpp"
#include "analysis/session/selection.hpp"
#include "analysis/session/work_rows.hpp"
#include "format/work_words.hpp"

namespace gpufl::analysis {

namespace {

constexpr int64_t kKib = 1024, kMib = 1024 * kKib;
struct SizeClass {
  int64_t min_bytes, max_bytes;
  std::string_view label;
};
constexpr std::array kSizeClasses = {
    SizeClass{0, 4 * kKib, "under 4 KiB"},
    SizeClass{4 * kKib, 64 * kKib, "4 KiB to 64 KiB"},
    SizeClass{64 * kKib, kMib, "64 KiB to 1 MiB"},
    SizeClass{kMib, 16 * kMib, "1 MiB to 16 MiB"},
    SizeClass{16 * kMib, 256 * kMib, "16 MiB to 256 MiB"},
    SizeClass{256 * kMib, std::numeric_limits<int64_t>::max(), "256 MiB and more"},
};

template <class Enum>
Enum as_enum(const std::vector<uint8_t>& column, size_t row, Enum last) {
  const uint8_t value = column.empty() ? 0 : column[row];
  return value <= static_cast<uint8_t>(last) ? static_cast<Enum>(value) : Enum::Unknown;
}

// How long kernels had run on a row's device before its start and before its end: the difference
// is how long they ran while it did.
struct Moment {
  int64_t time_ns;
  size_t row;
  bool is_end;
};

// For each row that is included, how much of its time a kernel ran on the same device. Memory grows
// with the rows, not with the kernels.
std::vector<int64_t> overlaps(const Tables& tables, const Work& work, const Selection& selection) {
  const DeviceIndex index(tables);
  std::vector<std::vector<Moment>> moments(index.devices.size());
  for (size_t row = 0; row < work.rows(); ++row) {
    const Interval span = selection.span(work, row);
    if (!selection.includes(work, row) || span.end <= span.start) continue;
    std::vector<Moment>& of_device = moments[index.of(work, row)];
    of_device.push_back({span.start, row, false});
    of_device.push_back({span.end, row, true});
  }
  for (std::vector<Moment>& of_device : moments) {
    std::sort(of_device.begin(), of_device.end(),
              [](const Moment& a, const Moment& b) { return a.time_ns < b.time_ns; });
  }
  std::vector<int64_t> overlapped(work.rows());
  std::vector<CoveredTime> covered(index.devices.size());
  std::vector<size_t> next(index.devices.size());
  // All kernels that begin before `time_ns` have been seen, so what is covered after it is one
  // piece.
  const auto pass = [&](uint32_t device, int64_t time_ns) {
    const std::vector<Moment>& of_device = moments[device];
    for (; next[device] < of_device.size() && of_device[next[device]].time_ns <= time_ns;
         ++next[device]) {
      const Moment& moment = of_device[next[device]];
      const CoveredTime& kernels = covered[device];
      const int64_t before =
          kernels.total_ns() - std::max<int64_t>(kernels.end_ns() - moment.time_ns, 0);
      if (kernels.total_ns() == 0) continue;
      overlapped[moment.row] += moment.is_end ? before : -before;
    }
  };
  const Selection everything(tables, {});
  const Kernels& kernels = tables.kernels;
  for (size_t row = 0; row < kernels.rows(); ++row) {
    const uint32_t device = index.of(kernels, row);
    pass(device, kernels.start[row]);
    covered[device].add(everything.span(kernels, row),
                        {WorkKind::Kernel, static_cast<uint32_t>(row)});
  }
  for (uint32_t device = 0; device < index.devices.size(); ++device) {
    pass(device, std::numeric_limits<int64_t>::max());
  }
  return overlapped;
}

// One group as its rows come.
struct Gathering {
  TransferGroup group;
  std::vector<int64_t> durations, sizes;
  int64_t sized_ns = 0;  // of those that tell a size

  void add(int64_t duration_ns, int64_t bytes, int64_t overlapped_ns, bool is_async) {
    durations.push_back(duration_ns);
    if (bytes > 0) {
      sizes.push_back(bytes);
      sized_ns = saturating_add(sized_ns, duration_ns);
    }
    group.overlapped_ns += overlapped_ns;
    group.asynchronous += is_async ? 1 : 0;
  }

  TransferGroup finish(int64_t all_ns) {
    group.duration_ns = stats_of(std::span<int64_t>(durations));
    group.bytes = stats_of(std::span<int64_t>(sizes));
    const auto total_ns = static_cast<double>(group.duration_ns.total);
    group.bytes_per_second =
        per_second(static_cast<double>(group.bytes.total), static_cast<double>(sized_ns));
    if (all_ns > 0) group.share = total_ns / static_cast<double>(all_ns);
    return std::move(group);
  }
};

template <class Key>
std::vector<TransferGroup> finish_all(std::map<Key, Gathering>& groups, int64_t all_ns) {
  std::vector<TransferGroup> out;
  for (auto& [key, gathering] : groups) out.push_back(gathering.finish(all_ns));
  return out;
}

void sort_by_time(std::vector<TransferGroup>& groups) {
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return a.duration_ns.total > b.duration_ns.total;
  });
}

Transfers copies_of(const Tables& tables, const Selection& selection) {
  const Copies& copies = tables.copies;
  const std::vector<int64_t> overlapped = overlaps(tables, copies, selection);
  Gathering all;
  all.group.label = "all copies";
  std::map<CopyDirection, Gathering> by_direction;
  std::map<std::tuple<CopyDirection, MemoryKind, MemoryKind>, Gathering> by_memory;
  std::map<size_t, Gathering> by_size;
  for (size_t row = 0; row < copies.rows(); ++row) {
    if (!selection.includes(copies, row)) continue;
    const int64_t bytes = copies.bytes[row];
    const auto direction = as_enum(copies.route, row, CopyDirection::PeerToPeer);
    const auto source = as_enum(copies.source_memory, row, MemoryKind::ManagedStatic);
    const auto target = as_enum(copies.target_memory, row, MemoryKind::ManagedStatic);
    size_t size = bytes > 0 ? 0 : kSizeClasses.size();
    while (size + 1 < kSizeClasses.size() && bytes >= kSizeClasses[size].max_bytes) ++size;
    const bool is_async = is_set(copies.async, row);
    for (Gathering* gathering : {&all, &by_direction[direction],
                                 &by_memory[{direction, source, target}], &by_size[size]}) {
      gathering->add(copies.duration[row], bytes, overlapped[row], is_async);
    }
  }
  for (auto& [direction, gathering] : by_direction) {
    gathering.group.direction = direction;
    gathering.group.label = to_string(direction);
  }
  for (auto& [key, gathering] : by_memory) {
    TransferGroup& group = gathering.group;
    std::tie(group.direction, group.source, group.target) = key;
    group.label = std::string(to_string(group.direction)) + ", " +
                  std::string(to_string(group.source)) + " to " +
                  std::string(to_string(group.target));
  }
  for (auto& [size, gathering] : by_size) {
    gathering.group.label = "size unknown";
    if (size == kSizeClasses.size()) continue;
    gathering.group.label = kSizeClasses[size].label;
    gathering.group.min_bytes = kSizeClasses[size].min_bytes;
    gathering.group.max_bytes = kSizeClasses[size].max_bytes;
  }
  int64_t all_ns = 0;
  for (const int64_t duration_ns : all.durations) all_ns = saturating_add(all_ns, duration_ns);
  Transfers transfers{all.finish(all_ns), finish_all(by_direction, all_ns),
                      finish_all(by_memory, all_ns), finish_all(by_size, all_ns)};
  sort_by_time(transfers.by_direction);
  sort_by_time(transfers.by_memory);
  return transfers;
}

TransferGroup fills_of(const Tables& tables, const Selection& selection) {
  const Fills& fills = tables.fills;
  const std::vector<int64_t> overlapped = overlaps(tables, fills, selection);
  Gathering all;
  all.group.label = "all fills";
  int64_t all_ns = 0;
  for (size_t row = 0; row < fills.rows(); ++row) {
    if (!selection.includes(fills, row)) continue;
    all.add(fills.duration[row], fills.bytes[row], overlapped[row], false);
    all_ns = saturating_add(all_ns, fills.duration[row]);
  }
  return all.finish(all_ns);
}

}  // namespace

std::string_view to_string(CopyDirection direction) {
  return format::copy_direction_name(static_cast<int64_t>(direction));
}

std::string_view to_string(MemoryKind kind) {
  const auto word = format::word_of(format::kMemoryKindWords, static_cast<int64_t>(kind));
  return word.empty() ? "unknown" : word;
}

TransferFigures transfers(const SessionData& session, const AnalysisOptions& options) {
  if (!records_gpu_work(session)) {
    return {missing_gpu_work(session.summary), missing_gpu_work(session.summary)};
  }
  const Selection selection(session.tables, options);
  return {copies_of(session.tables, selection), fills_of(session.tables, selection)};
}

}  // namespace gpufl::analysis
