// SPDX-License-Identifier: Apache-2.0
#include "import/session_rows.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>

#include "base/json.hpp"
#include "import/api_names.hpp"

namespace gpufl::importing {

using base::Json;
using base::Status;
using format::Dict;
using format::Kind;

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

namespace {

Json to_json(const Launch::Size& size) {
  Json list = Json::array();
  for (const int64_t value : size) list.push(value);
  return list;
}

// For columns that every row of a log has: the bytes of a copy, the thread of a scope. None of
// these is ever 0, so 0 is what nobody told.
int64_t or_zero(int64_t value) { return value == kUnknown ? 0 : value; }

template <typename Rows>
void sort_by_start(Rows& rows) {
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.start, a.duration) < std::tuple(b.start, b.duration);
  });
}

}  // namespace

int64_t SessionRows::name(uint32_t number) {
  if (name_ids_.size() <= number) name_ids_.resize(number + 1);
  int64_t& id = name_ids_[number];
  if (id == 0) id = log_.intern(Dict::Name, trace_.names[number]);
  return id;
}

int64_t SessionRows::config(uint32_t number) {
  if (config_ids_.size() <= number) config_ids_.resize(number + 1);
  int64_t& id = config_ids_[number];
  if (id != 0) return id;
  const Launch& launch = trace_.launches[number];
  Json value = Json::object();
  value.set("name", name(launch.name));
  const auto set_size = [&](std::string_view key, const Launch::Size& size) {
    const bool is_size = std::all_of(size.begin(), size.end(), [](int64_t n) { return n > 0; });
    if (is_size) value.set(key, to_json(size));
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

// Traces of several processes in one file have ids twice. Only where a call is made inside of
// another both are one; else nobody can tell whose the work is.
void SessionRows::index_calls() {
  std::vector<std::pair<int64_t, uint32_t>> all;
  for (uint32_t i = 0; i < trace_.calls.size(); ++i) {
    if (trace_.calls[i].correlation != kUnknown) all.emplace_back(trace_.calls[i].correlation, i);
  }
  std::sort(all.begin(), all.end());
  for (size_t from = 0, to = 0; from < all.size(); from = to) {
    size_t outer = from;
    for (to = from; to < all.size() && all[to].first == all[from].first; ++to) {
      if (trace_.calls[all[to].second].duration > trace_.calls[all[outer].second].duration) {
        outer = to;
      }
    }
    const Call& around = trace_.calls[all[outer].second];
    const auto is_inside = [&](const std::pair<int64_t, uint32_t>& one) {
      const Call& call = trace_.calls[one.second];
      return call.thread == around.thread && call.start >= around.start &&
             call.start + call.duration <= around.start + around.duration;
    };
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(from);
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(to);
    if (std::all_of(begin, end, is_inside)) by_correlation_.push_back(all[outer]);
  }
}

const Call* SessionRows::claim(int64_t correlation) {
  if (correlation == kUnknown) return nullptr;
  const auto found = std::lower_bound(by_correlation_.begin(), by_correlation_.end(),
                                      std::pair(correlation, uint32_t{0}));
  if (found == by_correlation_.end() || found->first != correlation) return nullptr;
  is_claimed_[found->second] = true;
  return &trace_.calls[found->second];
}

void SessionRows::put_caller(Row& row, const WorkColumns& columns, int64_t thread, int64_t time) {
  row.put_known(columns.thread, thread);
  if (!trace_.scopes.empty()) {
    uint32_t scope = thread == kUnknown ? ThreadSpans::kNone : scopes_.at(thread, time);
    const bool is_inherited = scope == ThreadSpans::kNone;
    if (is_inherited) scope = scopes_.only_at(time);
    // Ids count from 1; kNone wraps to 0, which means none.
    row.put(columns.scope, static_cast<uint32_t>(scope + 1));
    row.put(columns.inherited, is_inherited && scope != ThreadSpans::kNone ? 1 : 0);
  }
  if (!trace_.python.empty() && thread != kUnknown) {
    row.put(columns.stack, stacks_.id_of(python_.at(thread, time)));
  }
}

void SessionRows::put_call(Row& row, const WorkColumns& columns, const Call& call) {
  row.put(columns.api_start, call.start - origin_).put(columns.api_duration, call.duration);
  put_caller(row, columns, call.thread, call.start);
}

void SessionRows::put_lane(Row& row, const WorkColumns& columns, const Work& work) {
  const Lane& lane = trace_.lanes[work.lane];
  row.put_known(columns.device, lane.device);
  row.put_known(columns.context, lane.context);
  row.put_known(columns.stream, lane.stream);
  row.put_known(columns.correlation, work.correlation);
}

const Call* SessionRows::put_work(Row& row, const WorkColumns& columns, const Work& work) {
  put_lane(row, columns, work);
  const Call* call = claim(work.correlation);
  if (call != nullptr) put_call(row, columns, *call);
  return call;
}

Status SessionRows::write_kernels() {
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

Status SessionRows::write_copies() {
  namespace column = format::memcpy_column;
  const WorkColumns columns(Kind::Memcpy);
  sort_by_start(trace_.copies);
  for (const Copy& copy : trace_.copies) {
    Row row;
    row.put(column::kStart, copy.start - origin_).put(column::kDuration, copy.duration);
    row.put(column::kBytes, or_zero(copy.bytes));
    row.put_known(column::kRoute, copy.direction);
    row.put_known(column::kSourceMemory, copy.source_kind);
    row.put_known(column::kTargetMemory, copy.target_kind);
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

Status SessionRows::write_fills() {
  namespace column = format::memset_column;
  const WorkColumns columns(Kind::Memset);
  sort_by_start(trace_.fills);
  for (const Fill& fill : trace_.fills) {
    Row row;
    row.put(column::kStart, fill.start - origin_).put(column::kDuration, fill.duration);
    row.put(column::kBytes, or_zero(fill.bytes));
    row.put_known(column::kValue, fill.value);
    row.put_known(column::kMemory, fill.memory_kind);
    row.put_known(column::kGraphNode, fill.graph_node);
    put_work(row, columns, fill);
    if (Status added = rows_.add(Kind::Memset, row, fill.start - origin_); !added) return added;
  }
  return Status::ok();
}

Status SessionRows::write_waits() {
  namespace column = format::sync_column;
  const WorkColumns columns(Kind::Sync);
  for (const Wait& wait : trace_.waits) claim(wait.correlation);
  // A call that waits and has no record of its own: what it took is what the host waited.
  const uint32_t nowhere = trace_.lanes.add({});
  for (size_t i = 0; i < trace_.calls.size(); ++i) {
    const Call& call = trace_.calls[i];
    const int8_t kind = wait_of(plain_api_name(trace_.names[call.name]));
    if (is_claimed_[i] || kind == kUnknown) continue;
    Wait wait;
    static_cast<Work&>(wait) = {call.start, call.duration, call.correlation, nowhere};
    wait.call = kind;
    wait.made_of = static_cast<int64_t>(i);
    is_claimed_[i] = true;
    trace_.waits.push_back(wait);
  }
  sort_by_start(trace_.waits);
  for (const Wait& wait : trace_.waits) {
    Row row;
    row.put(column::kStart, wait.start - origin_).put(column::kDuration, wait.duration);
    row.put_known(column::kWaitKind, wait.call);
    row.put_known(column::kEventId, wait.event_id);
    if (wait.made_of == kUnknown) {
      put_work(row, columns, wait);
    } else {
      put_lane(row, columns, wait);
      put_call(row, columns, trace_.calls[static_cast<size_t>(wait.made_of)]);
    }
    if (Status added = rows_.add(Kind::Sync, row, wait.start - origin_); !added) return added;
  }
  return Status::ok();
}

Status SessionRows::write_allocations() {
  namespace column = format::memory_column;
  const WorkColumns columns(Kind::Memory);
  sort_by_start(trace_.allocations);
  for (const Allocation& one : trace_.allocations) {
    Row row;
    row.put(column::kTime, one.start - origin_).put(column::kOperation, one.operation);
    row.put_known(column::kMemory, one.memory_kind);
    row.put_known(column::kAddress, one.address);
    row.put_known(column::kBytes, one.bytes);
    put_work(row, columns, one);
    if (Status added = rows_.add(Kind::Memory, row, one.start - origin_); !added) return added;
  }
  return Status::ok();
}

Status SessionRows::write_graphs() {
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
Status SessionRows::write_calls() {
  namespace column = format::api_column;
  const WorkColumns columns(Kind::Api);
  std::vector<const Call*> left;
  for (size_t i = 0; i < trace_.calls.size(); ++i) {
    if (!is_claimed_[i] || trace_.calls[i].result > 0) left.push_back(&trace_.calls[i]);
  }
  std::sort(left.begin(), left.end(), [](const Call* a, const Call* b) {
    return std::tuple(a->start, a->correlation) < std::tuple(b->start, b->correlation);
  });
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

Status SessionRows::write_scopes() {
  namespace column = format::scope_column;
  std::vector<uint32_t> order(trace_.scopes.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(trace_.scopes[a].start, a) < std::tuple(trace_.scopes[b].start, b);
  });
  for (const uint32_t i : order) {
    const Span& scope = trace_.scopes[i];
    Row row;
    row.put(column::kId, int64_t{i} + 1).put(column::kParent, uint32_t{scopes_.parent(i) + 1});
    row.put(column::kThread, or_zero(scope.thread)).put(column::kDepth, scopes_.depth(i));
    row.put(column::kName, name(scope.name));
    row.put(column::kStart, scope.start - origin_).put(column::kDuration, scope.duration);
    if (Status added = rows_.add(Kind::Scope, row, scope.start - origin_); !added) return added;
  }
  return Status::ok();
}

Status SessionRows::write_markers() {
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
    if (marker.thread != kUnknown) {
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

Status SessionRows::write(int64_t end_ns) {
  is_claimed_.resize(trace_.calls.size());
  index_calls();
  using Step = Status (SessionRows::*)();
  for (const Step step :
       {&SessionRows::write_scopes, &SessionRows::write_markers, &SessionRows::write_kernels,
        &SessionRows::write_copies, &SessionRows::write_fills, &SessionRows::write_waits,
        &SessionRows::write_allocations, &SessionRows::write_graphs, &SessionRows::write_calls}) {
    if (Status written = (this->*step)(); !written) return written;
  }
  return rows_.write_all(end_ns);
}

}  // namespace gpufl::importing
