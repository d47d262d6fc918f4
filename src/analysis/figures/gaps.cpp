// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/gaps.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "analysis/figures/recorded_time.hpp"
#include "analysis/session/selection.hpp"

namespace gpufl::analysis {

namespace {

constexpr std::array<int64_t, 8> kClassEnds = {
    1'000,      10'000,      100'000,       1'000'000,
    10'000'000, 100'000'000, 1'000'000'000, std::numeric_limits<int64_t>::max()};

// Longest first, then by time.
bool is_longer(const Gap& a, const Gap& b) {
  return a.span.length() != b.span.length() ? a.span.length() > b.span.length()
                                            : a.span.start < b.span.start;
}

}  // namespace

GapCollector::GapCollector(const AnalysisOptions& options)
    : top_(options.top), minimum_ns_(options.minimum_gap_ns) {
  int64_t from = 0;
  for (size_t i = 0; i < kClassEnds.size(); ++i) {
    idle_.classes[i].from_ns = std::exchange(from, kClassEnds[i]);
    idle_.classes[i].to_ns = kClassEnds[i];
  }
}

void GapCollector::add(const Gap& gap) {
  const int64_t length = gap.span.length();
  size_t place = 0;
  while (length >= kClassEnds[place] && place + 1 < kClassEnds.size()) ++place;
  ++idle_.classes[place].count;
  idle_.classes[place].total_ns += length;
  if (length < minimum_ns_) {
    idle_.short_ns += length;
    return;
  }
  ++idle_.count;
  idle_.total_ns += length;
  std::vector<Gap>& longest = idle_.longest;
  if (longest.size() == top_) {
    if (top_ == 0 || !is_longer(gap, longest.front())) return;
    std::pop_heap(longest.begin(), longest.end(), is_longer);
    longest.pop_back();
  }
  longest.push_back(gap);
  std::push_heap(longest.begin(), longest.end(), is_longer);
}

IdleTime GapCollector::finish() {
  std::sort_heap(idle_.longest.begin(), idle_.longest.end(), is_longer);
  return std::move(idle_);
}

GapList::GapList(const Tables& tables, int64_t device, Interval window)
    : tables_(work_tables(tables)), device_(device), window_(window) {}

void GapList::reserve(size_t gaps) {
  before_.reserve(gaps);
  after_.reserve(gaps);
  kinds_.reserve(gaps);
}

void GapList::push_back(const Gap& gap) {
  before_.push_back(gap.before.row);
  after_.push_back(gap.after.row);
  kinds_.push_back(static_cast<uint8_t>(static_cast<unsigned>(gap.before.kind) |
                                        static_cast<unsigned>(gap.after.kind) << kKindBits));
}

std::map<int64_t, GapList> idle_gaps_by_device(const SessionData& session,
                                               const AnalysisOptions& options) {
  const Tables& tables = session.tables;
  const Selection selection(tables, options);
  const DeviceIndex index(tables);
  std::vector<Intervals> unrecorded;
  for (const int64_t device : index.devices) {
    unrecorded.push_back(spans_without_rows(session, device));
  }
  std::vector<GapFinder> finders(unrecorded.begin(), unrecorded.end());
  // There are no more gaps than rows. What is not used of such room takes no memory, while a list
  // that grows has to be there twice.
  std::vector<size_t> rows(index.devices.size());
  for (const Work* work : work_tables(tables)) {
    for (size_t row = 0; row < work->rows(); ++row) ++rows[index.of(*work, row)];
  }
  std::vector<GapList> gaps;
  for (size_t i = 0; i < index.devices.size(); ++i) {
    gaps.emplace_back(tables, index.devices[i], selection.window()).reserve(rows[i]);
  }
  visit_in_order(work_tables(tables), [&](WorkRow row, const Work& work) {
    if (!selection.has_device(work, row.row)) return;
    const uint32_t device = index.of(work, row.row);
    const std::optional<Gap> gap = finders[device].add(selection.span(work, row.row), row);
    if (!gap || gap->span.length() < options.minimum_gap_ns) return;
    if (!selection.concerns(work, row.row)) return;
    gaps[device].push_back(*gap);
  });
  std::map<int64_t, GapList> by_device;
  for (size_t i = 0; i < gaps.size(); ++i) {
    if (!gaps[i].empty()) by_device[index.devices[i]] = std::move(gaps[i]);
  }
  return by_device;
}

std::vector<Gap> idle_gaps(const SessionData& session, const AnalysisOptions& options) {
  std::vector<Gap> all;
  for (const auto& [device, gaps] : idle_gaps_by_device(session, options)) {
    for (const Gap& gap : gaps) all.push_back(gap);
  }
  return all;
}

}  // namespace gpufl::analysis
