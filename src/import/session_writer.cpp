// SPDX-License-Identifier: Apache-2.0
#include "import/session_writer.hpp"

#include <algorithm>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "format/log_writer.hpp"
#include "import/api_names.hpp"
#include "import/python_stacks.hpp"
#include "import/row_batches.hpp"
#include "import/thread_spans.hpp"

namespace gpufl::importing {
namespace {

namespace fs = std::filesystem;
using base::Json;
using base::Status;
using format::Dict;
using format::Kind;

struct TimeSpan {
  int64_t begin = INT64_MAX, end = INT64_MIN;
  void cover(int64_t from, int64_t to) {
    begin = std::min(begin, from);
    end = std::max(end, to);
  }
};

TimeSpan span_of(const Trace& trace) {
  TimeSpan span;
  const auto cover_all = [&](const auto& rows) {
    for (const auto& row : rows) span.cover(row.start, row.start + row.duration);
  };
  cover_all(trace.kernels);
  cover_all(trace.copies);
  cover_all(trace.fills);
  cover_all(trace.waits);
  cover_all(trace.allocations);
  cover_all(trace.graphs);
  cover_all(trace.calls);
  cover_all(trace.scopes);
  cover_all(trace.python);
  cover_all(trace.markers);
  return span;
}

// The columns that all kinds of work have, found by their names.
struct WorkColumns {
  explicit WorkColumns(Kind kind) {
    const auto find = [&](std::string_view name) {
      const auto& columns = format::spec(kind).columns;
      for (size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].name == name) return i;
      }
      return format::kNoColumn;
    };
    device = find("device");
    context = find("context");
    stream = find("stream");
    correlation = find("correlation");
    api_start = find("api_start");
    api_duration = find("api_dur");
    thread = find("thread");
    scope = find("scope");
    inherited = find("inherited");
    stack = find("stack");
  }
  size_t device, context, stream, correlation, api_start, api_duration, thread, scope, inherited,
      stack;
};

class SessionWriter {
 public:
  SessionWriter(Trace& trace, format::LogWriter& log, TimeSpan span)
      : trace_(trace),
        log_(log),
        origin_(span.begin),
        end_(span.end - span.begin),
        rows_(log),
        scopes_(trace.scopes),
        python_(trace.python),
        stacks_(trace, python_, log) {}

  void write_opening(const SessionPlace& place);
  Status write_rows();
  Status close();

 private:
  int64_t name(uint32_t number);
  int64_t config(uint32_t number);
  const Call* claim(int64_t correlation);
  void put_caller(Row& row, const WorkColumns& columns, int64_t thread, int64_t time);
  const Call* put_work(Row& row, const WorkColumns& columns, const Work& work);
  Status write_kernels();
  Status write_copies();
  Status write_fills();
  Status write_waits();
  Status write_allocations();
  Status write_graphs();
  Status write_calls();
  Status write_scopes();
  Status write_markers();

  Trace& trace_;
  format::LogWriter& log_;
  const int64_t origin_, end_;
  RowBatches rows_;
  const ThreadSpans scopes_, python_;
  PythonStacks stacks_;
  std::vector<std::pair<int64_t, uint32_t>> by_correlation_;  // and number of the call
  std::vector<bool> is_claimed_;                              // by the number of the call
  std::vector<int64_t> name_ids_, config_ids_;                // 0: not interned yet
};

int64_t SessionWriter::name(uint32_t number) {
  if (name_ids_.size() <= number) name_ids_.resize(number + 1);
  int64_t& id = name_ids_[number];
  if (id == 0) id = log_.intern(Dict::Name, trace_.names[number]);
  return id;
}

Json to_json(const Launch::Size& size) {
  Json list = Json::array();
  for (const int64_t value : size) list.push(value);
  return list;
}

int64_t SessionWriter::config(uint32_t number) {
  if (config_ids_.size() <= number) config_ids_.resize(number + 1);
  int64_t& id = config_ids_[number];
  if (id != 0) return id;
  const Launch& launch = trace_.launches[number];
  Json value = Json::object();
  value.set("name", name(launch.name));
  const auto set_size = [&](std::string_view key, const Launch::Size& size) {
    if (size[0] != kUnknown) value.set(key, to_json(size));
  };
  const auto set_known = [&](std::string_view key, int64_t number_or_unknown) {
    if (number_or_unknown != kUnknown) value.set(key, number_or_unknown);
  };
  set_size("grid", launch.grid);
  set_size("block", launch.block);
  set_size("cluster", launch.cluster);
  set_known("registers", launch.registers);
  set_known("shared_static", launch.shared_static);
  set_known("shared_dynamic", launch.shared_dynamic);
  set_known("shared_total", launch.shared_total);
  set_known("local_per_thread", launch.local_per_thread);
  set_known("local_total", launch.local_total);
  constexpr std::string_view kCaches[] = {"none", "shared", "l1", "equal"};
  if (launch.cache >= 0 && launch.cache < std::ssize(kCaches)) {
    value.set("cache", kCaches[launch.cache]);
  }
  return id = log_.intern(Dict::Config, value.dump());
}

const Call* SessionWriter::claim(int64_t correlation) {
  if (correlation == kUnknown) return nullptr;
  const auto found = std::lower_bound(by_correlation_.begin(), by_correlation_.end(),
                                      std::pair(correlation, uint32_t{0}));
  if (found == by_correlation_.end() || found->first != correlation) return nullptr;
  is_claimed_[found->second] = true;
  return &trace_.calls[found->second];
}

void SessionWriter::put_caller(Row& row, const WorkColumns& columns, int64_t thread, int64_t time) {
  row.put(columns.thread, thread);
  if (!trace_.scopes.empty()) {
    uint32_t scope = scopes_.at(thread, time);
    const bool is_inherited = scope == ThreadSpans::kNone;
    if (is_inherited) scope = scopes_.only_at(time);
    // Ids count from 1; kNone wraps to 0, which means none.
    row.put(columns.scope, static_cast<uint32_t>(scope + 1));
    row.put(columns.inherited, is_inherited && scope != ThreadSpans::kNone ? 1 : 0);
  }
  if (!trace_.python.empty()) row.put(columns.stack, stacks_.id_of(python_.at(thread, time)));
}

const Call* SessionWriter::put_work(Row& row, const WorkColumns& columns, const Work& work) {
  const Lane& lane = trace_.lanes[work.lane];
  row.put_known(columns.device, lane.device);
  row.put_known(columns.context, lane.context);
  row.put_known(columns.stream, lane.stream);
  row.put_known(columns.correlation, work.correlation);
  const Call* call = claim(work.correlation);
  if (call != nullptr) {
    row.put(columns.api_start, call->start - origin_).put(columns.api_duration, call->duration);
    put_caller(row, columns, call->thread, call->start);
  }
  return call;
}

template <typename Rows>
void sort_by_start(Rows& rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.start < b.start; });
}

Status SessionWriter::write_kernels() {
  namespace column = format::kernel_column;
  const WorkColumns columns(Kind::Kernel);
  sort_by_start(trace_.kernels);
  for (const Kernel& kernel : trace_.kernels) {
    Row row;
    row.put(column::kStart, kernel.start - origin_).put(column::kDuration, kernel.duration);
    row.put(column::kConfig, config(kernel.launch));
    put_work(row, columns, kernel);
    row.put_known(column::kExternal, kernel.external);
    row.put_known(column::kGraph, kernel.graph);
    row.put_known(column::kGraphNode, kernel.graph_node);
    if (Status added = rows_.add(Kind::Kernel, row, kernel.start - origin_); !added) return added;
  }
  return Status::ok();
}

Status SessionWriter::write_copies() {
  namespace column = format::memcpy_column;
  const WorkColumns columns(Kind::Memcpy);
  sort_by_start(trace_.copies);
  for (const Copy& copy : trace_.copies) {
    Row row;
    row.put(column::kStart, copy.start - origin_).put(column::kDuration, copy.duration);
    row.put(column::kBytes, copy.bytes);
    row.put_known(column::kDirection, copy.direction);
    row.put_known(column::kSourceKind, copy.source_kind);
    row.put_known(column::kTargetKind, copy.target_kind);
    row.put_known(column::kPeerDevice, copy.peer_device);
    row.put_known(column::kGraphNode, copy.graph_node);
    if (const Call* call = put_work(row, columns, copy)) {
      const bool is_async = trace_.names[call->name].find("Async") != std::string::npos;
      row.put(column::kAsync, is_async ? 1 : 0);
    }
    if (Status added = rows_.add(Kind::Memcpy, row, copy.start - origin_); !added) return added;
  }
  return Status::ok();
}

Status SessionWriter::write_fills() {
  namespace column = format::memset_column;
  const WorkColumns columns(Kind::Memset);
  sort_by_start(trace_.fills);
  for (const Fill& fill : trace_.fills) {
    Row row;
    row.put(column::kStart, fill.start - origin_).put(column::kDuration, fill.duration);
    row.put(column::kBytes, fill.bytes);
    row.put_known(column::kValue, fill.value);
    row.put_known(column::kMemoryKind, fill.memory_kind);
    row.put_known(column::kGraphNode, fill.graph_node);
    put_work(row, columns, fill);
    if (Status added = rows_.add(Kind::Memset, row, fill.start - origin_); !added) return added;
  }
  return Status::ok();
}

Status SessionWriter::write_waits() {
  namespace column = format::sync_column;
  const WorkColumns columns(Kind::Sync);
  for (const Wait& wait : trace_.waits) claim(wait.correlation);
  // A call that waits and has no record of its own: what it took is what the host waited.
  const uint32_t nowhere = trace_.lanes.add({});
  for (size_t i = 0; i < trace_.calls.size(); ++i) {
    const Call& call = trace_.calls[i];
    const int8_t kind = wait_of(plain_api_name(trace_.names[call.name]));
    if (is_claimed_[i] || kind == kUnknown || call.correlation == kUnknown) continue;
    Wait wait;
    static_cast<Work&>(wait) = {call.start, call.duration, call.correlation, nowhere};
    wait.call = kind;
    trace_.waits.push_back(wait);
  }
  sort_by_start(trace_.waits);
  for (const Wait& wait : trace_.waits) {
    Row row;
    row.put(column::kStart, wait.start - origin_).put(column::kDuration, wait.duration);
    row.put_known(column::kCall, wait.call);
    row.put_known(column::kEventId, wait.event_id);
    put_work(row, columns, wait);
    if (Status added = rows_.add(Kind::Sync, row, wait.start - origin_); !added) return added;
  }
  return Status::ok();
}

Status SessionWriter::write_allocations() {
  namespace column = format::memory_column;
  const WorkColumns columns(Kind::Memory);
  sort_by_start(trace_.allocations);
  for (const Allocation& one : trace_.allocations) {
    Row row;
    row.put(column::kTime, one.start - origin_).put(column::kOperation, one.operation);
    row.put_known(column::kMemoryKind, one.memory_kind);
    row.put_known(column::kAddress, one.address);
    row.put_known(column::kBytes, one.bytes);
    put_work(row, columns, one);
    if (Status added = rows_.add(Kind::Memory, row, one.start - origin_); !added) return added;
  }
  return Status::ok();
}

Status SessionWriter::write_graphs() {
  namespace column = format::graph_column;
  const WorkColumns columns(Kind::Graph);
  sort_by_start(trace_.graphs);
  for (const GraphRun& run : trace_.graphs) {
    Row row;
    row.put(column::kStart, run.start - origin_).put(column::kDuration, run.duration);
    row.put(column::kGraph, run.graph);
    put_work(row, columns, run);
    if (Status added = rows_.add(Kind::Graph, row, run.start - origin_); !added) return added;
  }
  return Status::ok();
}

// Those that no other row tells of, and those that failed.
Status SessionWriter::write_calls() {
  namespace column = format::api_column;
  const WorkColumns columns(Kind::Api);
  std::vector<const Call*> left;
  for (size_t i = 0; i < trace_.calls.size(); ++i) {
    if (!is_claimed_[i] || trace_.calls[i].result > 0) left.push_back(&trace_.calls[i]);
  }
  std::stable_sort(left.begin(), left.end(),
                   [](const Call* a, const Call* b) { return a->start < b->start; });
  for (const Call* call : left) {
    Row row;
    row.put(column::kStart, call->start - origin_).put(column::kDuration, call->duration);
    row.put(column::kName, name(call->name));
    row.put_known(column::kCorrelation, call->correlation);
    row.put_known(column::kResult, call->result);
    put_caller(row, columns, call->thread, call->start);
    if (Status added = rows_.add(Kind::Api, row, call->start - origin_); !added) return added;
  }
  return Status::ok();
}

Status SessionWriter::write_scopes() {
  namespace column = format::scope_column;
  std::vector<uint32_t> order(trace_.scopes.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return trace_.scopes[a].start < trace_.scopes[b].start;
  });
  for (const uint32_t i : order) {
    const Span& scope = trace_.scopes[i];
    int64_t depth = 0;
    for (uint32_t up = scopes_.parent(i); up != ThreadSpans::kNone; up = scopes_.parent(up)) {
      ++depth;
    }
    Row row;
    row.put(column::kId, int64_t{i} + 1).put(column::kParent, uint32_t{scopes_.parent(i) + 1});
    row.put(column::kThread, scope.thread).put(column::kDepth, depth);
    row.put(column::kName, name(scope.name));
    row.put(column::kStart, scope.start - origin_).put(column::kDuration, scope.duration);
    if (Status added = rows_.add(Kind::Scope, row, scope.start - origin_); !added) return added;
  }
  return Status::ok();
}

Status SessionWriter::write_markers() {
  namespace column = format::marker_column;
  sort_by_start(trace_.markers);
  for (const Marker& marker : trace_.markers) {
    Row row;
    row.put(column::kShape, marker.shape);
    row.put(column::kStart, marker.start - origin_).put(column::kDuration, marker.duration);
    row.put(column::kDomain, name(marker.domain)).put(column::kName, name(marker.name));
    row.put_known(column::kId, marker.range_id);
    row.put_known(column::kEndThread, marker.end_thread);
    row.put_known(column::kCategory, marker.category);
    row.put_known(column::kColor, marker.color);
    if (marker.has_thread) {
      row.put(column::kThread, marker.thread);
      if (!trace_.scopes.empty()) {
        const uint32_t scope = scopes_.at(marker.thread, marker.start);
        row.put(column::kScope, static_cast<uint32_t>(scope + 1));
      }
    }
    if (Status added = rows_.add(Kind::Marker, row, marker.start - origin_); !added) return added;
  }
  return Status::ok();
}

Json capability(std::string_view feature, std::string_view asked, std::string_view got,
                const Shortfall& why) {
  Json line = Json::object();
  line.set("feature", feature).set("asked", asked).set("got", got).set("reason", why.reason);
  line.set("detail", why.detail);
  if (!why.hint.empty()) line.set("hint", why.hint);
  return line;
}

void SessionWriter::write_opening(const SessionPlace& place) {
  const std::string file = place.file.filename().string();
  log_.write(Kind::Capability, capability("recording", "gpufl", trace_.source,
                                          {{}, "imported", "imported from " + file, {}}));
  log_.write(Kind::Capability, capability("launch_count", "on", "off",
                                          {{},
                                           "imported",
                                           "the trace tells which kernels ran; how many were "
                                           "launched nobody counted",
                                           {}}));
  log_.write(Kind::Capability,
             capability("occupancy", "on", "off",
                        {{}, "imported", "the trace does not tell the theoretical occupancy", {}}));
  for (const Shortfall& one : trace_.shortfalls) {
    log_.write(Kind::Capability, capability(one.feature, "on", "off", one));
  }
  if (!trace_.truncated.empty()) {
    log_.write(Kind::Capability, capability("whole_trace", "on", "off",
                                            {{},
                                             "truncated",
                                             trace_.truncated,
                                             "what follows is missing: record or copy it again"}));
  }
  std::map<int64_t, const Json*> devices;
  static const Json kNoFacts = Json::object();
  for (uint32_t lane = 0; lane < trace_.lanes.size(); ++lane) {
    const int64_t device = trace_.lanes[lane].device;
    if (device == kUnknown) continue;
    const auto facts = trace_.devices.find(device);
    devices[device] = facts == trace_.devices.end() ? &kNoFacts : &facts->second;
  }
  for (const auto& [number, facts] : devices) {
    Json line = Json::object();
    line.set("device", number);
    for (const auto& [key, value] : facts->members()) line.set(key, value);
    log_.write(Kind::Device, line);
  }
  Json event = Json::object();
  event.set("time", 0).set("name", "imported").set("text", file).set("source", trace_.source);
  if (!trace_.source_detail.empty()) event.set("detail", trace_.source_detail);
  if (!trace_.not_imported.empty()) {
    Json left = Json::object();
    for (const auto& [kind, count] : trace_.not_imported) left.set(kind, count);
    event.set("not_imported", std::move(left));
  }
  log_.write(Kind::Event, event);
  for (const auto& [thread, text] : trace_.thread_names) {
    Json named = Json::object();
    named.set("time", 0).set("name", "thread_name").set("thread", thread).set("text", text);
    log_.write(Kind::Event, named);
  }
}

Status SessionWriter::write_rows() {
  is_claimed_.resize(trace_.calls.size());
  for (size_t i = 0; i < trace_.calls.size(); ++i) {
    const int64_t correlation = trace_.calls[i].correlation;
    if (correlation != kUnknown) by_correlation_.emplace_back(correlation, i);
  }
  std::sort(by_correlation_.begin(), by_correlation_.end());
  using Step = Status (SessionWriter::*)();
  for (const Step step :
       {&SessionWriter::write_scopes, &SessionWriter::write_markers, &SessionWriter::write_kernels,
        &SessionWriter::write_copies, &SessionWriter::write_fills, &SessionWriter::write_waits,
        &SessionWriter::write_allocations, &SessionWriter::write_graphs,
        &SessionWriter::write_calls}) {
    if (Status written = (this->*step)(); !written) return written;
  }
  return rows_.write_all(end_);
}

Status SessionWriter::close() {
  format::Ledger ledger;
  ledger.kernel_records = trace_.kernels.size();
  for (const Kernel& kernel : trace_.kernels) {
    auto& records = ledger.by_device[trace_.lanes[kernel.lane].device].kernel_records;
    records = records.value_or(0) + 1;
  }
  ledger.impossible_times = trace_.impossible_times;
  ledger.cupti_overhead_ns = trace_.overhead_ns;
  if (!trace_.truncated.empty()) ledger.uncounted.insert("truncated_trace");
  if (Status closed = log_.close(end_, ledger); !closed) return closed;
  const format::WriterCounts counts = log_.counts();
  if (counts.dropped.empty()) return Status::ok();
  const auto& [reason, rows] = *counts.dropped.begin();
  return {base::Code::IoError, std::to_string(rows) + " rows could not be written: " + reason +
                                   "; make room there, or choose another folder"};
}

}  // namespace

int64_t start_wall_ns(const Trace& trace) {
  // Traces that tell no date count from zero or somewhat before.
  return std::max<int64_t>(0, trace.wall_of_zero_ns + span_of(trace).begin);
}

base::Result<WrittenSession> write_session(Trace& trace, const SessionPlace& place) {
  const TimeSpan span = span_of(trace);
  format::SessionHeader header;
  header.session_id = place.session_id;
  header.run_id = place.run_id;
  header.app_name = place.app_name;
  header.gpufl_version = place.gpufl_version;
  header.engine = "Trace";
  header.backend = trace.backend;
  header.start_wall_ns = start_wall_ns(trace);
  header.pid = trace.pid;
  header.process = trace.process;
  header.host = trace.host;
  header.os = trace.os;
  header.rank = trace.rank;
  header.world_size = trace.world_size;

  format::LogOptions options;
  options.session_dir = place.folder / place.session_id;
  options.spool_bytes = 0;
  auto log = format::LogWriter::create(options, header);
  if (!log) return log.status();
  WrittenSession written{options.session_dir, span.end - span.begin, {}};
  Status status;
  {
    SessionWriter writer(trace, **log, span);
    writer.write_opening(place);
    status = writer.write_rows();
    const Status closed = writer.close();
    if (status) status = closed;
  }
  if (!status) {
    log->reset();
    std::error_code ignored;
    fs::remove_all(written.dir, ignored);
    return status;
  }
  written.rows = (*log)->counts().rows;
  return written;
}

}  // namespace gpufl::importing
