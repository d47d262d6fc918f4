// SPDX-License-Identifier: Apache-2.0
#include "format/warp/warp_rows.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

namespace gpufl::format {
namespace {

constexpr size_t kRowsPerBatch = 8192;
constexpr int64_t kPicosecondsInNs = 1000;

namespace column = warp_span_column;

struct WarpRow {
  uint32_t block, group, event;
  uint64_t start_ns, duration_ns;
  int64_t sm, payload;
  WarpEnding ending;

  auto order() const { return std::tie(block, group, start_ns); }
};

int64_t sm_of(uint16_t sm) { return sm != ws::kUnknownSm ? int64_t{sm} : -1; }

WarpRow row_of(const ws::Span& span) {
  return {span.block,
          span.group,
          span.event_id,
          span.start_ns,
          span.duration_ns,
          sm_of(span.sm),
          span.has_payload() ? int64_t{span.payload} : -1,
          WarpEnding::Normal};
}

WarpRow row_of(const ws::Instant& instant) {
  return {instant.block,
          instant.group,
          instant.event_id,
          instant.time_ns,
          0,
          sm_of(instant.sm),
          instant.has_payload() ? int64_t{instant.payload} : -1,
          WarpEnding::Instant};
}

// The log has the end that was recorded, not how far the other may have been away.
WarpRow unmatched_row(const ws::Span& span) {
  WarpRow row = row_of(span);
  const bool has_begin = span.ending == ws::Ending::NoEnd;
  row.ending = has_begin ? WarpEnding::NoEnd : WarpEnding::NoBegin;
  if (!has_begin) row.start_ns += span.duration_ns;
  row.duration_ns = 0;
  return row;
}

std::vector<WarpRow> sorted_others(const ws::Trace& trace) {
  std::vector<WarpRow> rows;
  rows.reserve(trace.instants.size() + trace.unmatched.size());
  for (const ws::Instant& instant : trace.instants) rows.push_back(row_of(instant));
  for (const ws::Span& span : trace.unmatched) rows.push_back(unmatched_row(span));
  std::sort(rows.begin(), rows.end(),
            [](const WarpRow& a, const WarpRow& b) { return a.order() < b.order(); });
  return rows;
}

class RowWriter {
 public:
  RowWriter(const ws::Trace& trace, const WarpPlace& place, int64_t launch, BatchSink& sink)
      : trace_(trace),
        place_(place),
        launch_(launch),
        sink_(sink),
        has_payloads_(trace.has_side_block && trace.layout.extension) {}
  ~RowWriter() = default;
  RowWriter(const RowWriter&) = delete;
  RowWriter& operator=(const RowWriter&) = delete;

  void add(const WarpRow& row) {
    const int64_t start_ns = place_.at(row.start_ns);
    push(column::kStart, start_ns);
    push(column::kDuration, place_.at(row.start_ns + row.duration_ns) - start_ns);
    if (place_.device >= 0) push(column::kDevice, place_.device);
    push(column::kLaunch, launch_);
    if (place_.correlation != 0) push(column::kCorrelation, place_.correlation);
    push(column::kSm, row.sm);
    push(column::kBlock, row.block);
    push(column::kGroup, row.group);
    push(column::kEvent, name_id(events_, row.event, &ws::Names::event));
    if (!trace_.names.groups.empty()) {
      push(column::kGroupName, name_id(groups_, row.group, &ws::Names::group));
    }
    if (has_payloads_) push(column::kPayload, row.payload);
    push(column::kEnding, static_cast<int64_t>(row.ending));
    if (place_.error_ns) push(column::kError, *place_.error_ns);
    batch_.set_rows(batch_.rows() + 1);
    if (batch_.rows() == kRowsPerBatch) submit();
  }
  void submit() {
    if (batch_.empty()) return;
    sink_.submit(batch_);
    batch_.clear();
  }

 private:
  void push(size_t number, int64_t value) { batch_.mutable_column(number).push_back(value); }
  int64_t name_id(std::map<uint32_t, int64_t>& ids, uint32_t id,
                  std::string (ws::Names::*name)(uint32_t) const) {
    const auto [known, is_new] = ids.try_emplace(id, 0);
    if (is_new) known->second = sink_.intern(Dict::Name, (trace_.names.*name)(id));
    return known->second;
  }

  const ws::Trace& trace_;
  const WarpPlace& place_;
  const int64_t launch_;
  BatchSink& sink_;
  const bool has_payloads_;
  std::map<uint32_t, int64_t> events_, groups_;  // ids of names
  Batch batch_{Kind::WarpSpan};
};

// How finely the capture's clock counts.
int64_t tick_ps(const ws::Trace& trace, int64_t tick_ns) {
  if (trace.layout.clock != ws::CaptureLayout::Clock::Cycles) return tick_ns * kPicosecondsInNs;
  for (const ws::Lane& lane : trace.lanes) {
    if (lane.cycles_per_ns > 0) return std::llround(kPicosecondsInNs / lane.cycles_per_ns);
  }
  return 0;
}

}  // namespace

uint64_t last_time(const ws::Trace& trace) {
  uint64_t last_ns = 0;
  for (const ws::Lane& lane : trace.lanes) last_ns = std::max(last_ns, lane.last_ns);
  return std::min(last_ns, WarpPlace::kMaxLengthNs);
}

WarpLaunch describe_launch(const ws::Trace& trace, const WarpPlace& place) {
  WarpLaunch launch;
  launch.time_ns = place.begin_ns;
  launch.duration_ns = place.at(last_time(trace)) - place.begin_ns;
  launch.kernel = trace.names.kernel;
  launch.device = place.device;
  launch.correlation = place.correlation;
  launch.join = place.join;
  launch.blocks = trace.num_blocks;
  launch.groups = trace.num_groups;
  for (const auto& [number, name] : trace.names.groups) {
    if (number >= WarpLaunch::kMaxNames) break;
    launch.group_names.resize(number + 1);
    launch.group_names[number] = name;
  }
  for (const uint32_t event : trace.names.waits) launch.waits.push_back(trace.names.event(event));
  for (const auto& [from, to] : trace.names.flows) {
    launch.flows.emplace_back(trace.names.event(from), trace.names.event(to));
  }
  if (trace.has_side_block) {
    launch.launch_id = trace.layout.launch_id;
    launch.max_records = trace.layout.max_records;
    if (trace.layout.event_cost_ps != 0) launch.event_cost_ps = trace.layout.event_cost_ps;
    if (trace.layout.clock == ws::CaptureLayout::Clock::Cycles) launch.clock = "cycles";
    int64_t offered = 0, dropped = 0;
    for (const ws::Lane& lane : trace.lanes) {
      // Lanes count in 32 bits; more is a damaged entry.
      offered += static_cast<int64_t>(std::min<uint64_t>(lane.offered, UINT32_MAX));
      dropped += static_cast<int64_t>(std::min<uint64_t>(lane.dropped, UINT32_MAX));
    }
    launch.offered = offered;
    launch.dropped = dropped;
  }
  if (const int64_t tick = tick_ps(trace, place.tick_ns); tick != 0) launch.tick_ps = tick;
  launch.error_ns = place.error_ns;
  for (const ws::Lane& lane : trace.lanes) launch.records += static_cast<int64_t>(lane.records);
  if (const ws::Problem* lost = trace.problem(ws::ProblemKind::PossiblyLost)) {
    launch.full_lanes = static_cast<int64_t>(lost->count);
  }
  for (const ws::Problem& problem : trace.problems) launch.problems.push_back(problem.text);
  return launch;
}

void account_for(const WarpLaunch& launch, Ledger& ledger) {
  Ledger of_launch;
  if (launch.dropped) of_launch.warp_records_dropped = static_cast<uint64_t>(*launch.dropped);
  if (launch.full_lanes > 0) of_launch.uncounted.insert("full_warp_lanes");
  ledger.add(of_launch);
}

void write_warp_rows(const ws::Trace& trace, const WarpPlace& place, int64_t launch,
                     BatchSink& sink) {
  RowWriter writer(trace, place, launch, sink);
  const std::vector<WarpRow> others = sorted_others(trace);
  auto other = others.begin();
  for (const ws::Span& span : trace.spans) {
    const WarpRow row = row_of(span);
    while (other != others.end() && other->order() < row.order()) writer.add(*other++);
    writer.add(row);
  }
  while (other != others.end()) writer.add(*other++);
  writer.submit();
}

}  // namespace gpufl::format
