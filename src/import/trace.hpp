// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/json.hpp"

// What one process did, as another tool recorded it: read by a source (torch_trace, nsight_export),
// written by session_writer. Plain rows in memory, some 64 bytes each, names once. Times are whole
// nanoseconds of the source's clock; kUnknown stands for what the source does not tell. One thread.
namespace gpufl::importing {

inline constexpr int64_t kUnknown = -1;

// Whether a row may have these times. Clocks count from a boot or from 1970, so sums of a start and
// a duration that are possible do not overflow; no recording lasts ten years.
inline constexpr int64_t kLatestStartNs = INT64_MAX / 4;
inline constexpr int64_t kLongestNs = int64_t{10} * 365 * 24 * 3600 * 1'000'000'000;
constexpr bool is_possible(int64_t start, int64_t duration) {
  return start >= -kLatestStartNs && start <= kLatestStartNs && duration >= 0 &&
         duration <= kLongestNs;
}

// Sizes that no GPU's memory has are no sizes; sums of those that are do not overflow.
constexpr int64_t possible_bytes(int64_t bytes) {
  constexpr int64_t kMost = int64_t{1} << 44;
  return bytes < 0 || bytes > kMost ? kUnknown : bytes;
}

// Texts or small values by content: each has one number, from 0 in the order of arrival.
template <typename Value, typename Hash = std::hash<Value>>
class Pool {
 public:
  Pool() = default;
  Pool(Pool&&) = default;
  Pool& operator=(Pool&&) = default;
  Pool(const Pool&) = delete;  // values_ would point into the other one
  Pool& operator=(const Pool&) = delete;

  uint32_t add(const Value& value) {
    const auto [found, is_new] = numbers_.try_emplace(value, static_cast<uint32_t>(values_.size()));
    if (is_new) values_.push_back(&found->first);
    return found->second;
  }
  const Value& operator[](uint32_t number) const { return *values_[number]; }
  size_t size() const { return values_.size(); }

 private:
  std::unordered_map<Value, uint32_t, Hash> numbers_;
  std::vector<const Value*> values_;  // keys of the map, which do not move
};

class NamePool {
 public:
  uint32_t add(std::string_view text) {
    scratch_.assign(text);
    return texts_.add(scratch_);
  }
  const std::string& operator[](uint32_t number) const { return texts_[number]; }

 private:
  Pool<std::string> texts_;
  std::string scratch_;
};

// Where work ran.
struct Lane {
  int64_t device = kUnknown, context = kUnknown, stream = kUnknown;
  bool operator==(const Lane&) const = default;
};
struct LaneHash {
  size_t operator()(const Lane& lane) const {
    return static_cast<size_t>(lane.device * 1'000'003 + lane.context * 10'007 + lane.stream);
  }
};

// How a kernel was launched.
struct Launch {
  using Size = std::array<int64_t, 3>;
  uint32_t name = 0;
  Size grid{kUnknown}, block{kUnknown}, cluster{kUnknown};  // x is kUnknown: not told
  int64_t registers = kUnknown;
  int64_t shared_static = kUnknown, shared_dynamic = kUnknown;
  int64_t shared_total = kUnknown;  // where only the sum is told
  int64_t local_per_thread = kUnknown, local_total = kUnknown;
  int64_t cache = kUnknown;  // CUfunc_cache
  bool operator==(const Launch&) const = default;
};
struct LaunchHash {
  size_t operator()(const Launch& launch) const;
};

struct Work {
  int64_t start = 0, duration = 0;
  int64_t correlation = kUnknown;  // of the API call behind it
  uint32_t lane = 0;               // of Trace::lanes
};
struct Kernel : Work {
  uint32_t launch = 0;  // of Trace::launches
  int64_t external = kUnknown;
  int64_t graph = kUnknown, graph_node = kUnknown;
};
// Directions, memory kinds and waits are the log's numbers (format/kinds.def).
struct Copy : Work {
  int64_t bytes = kUnknown;
  int64_t graph_node = kUnknown;
  int32_t peer_device = kUnknown;
  int8_t direction = kUnknown, source_kind = kUnknown, target_kind = kUnknown;
};
struct Fill : Work {
  int64_t bytes = kUnknown;
  int64_t value = kUnknown, graph_node = kUnknown;
  int8_t memory_kind = kUnknown;
};
struct Wait : Work {
  int64_t event_id = kUnknown;
  int64_t made_of = kUnknown;  // number of the call, where that alone tells of it
  int8_t call = kUnknown;      // format::WaitKind
};
struct Allocation : Work {  // `duration` has no meaning
  int64_t bytes = kUnknown, address = kUnknown;
  int8_t operation = 1;  // format::MemoryOperation
  int8_t memory_kind = kUnknown;
};
struct GraphRun : Work {  // of a graph as a whole, where its nodes have no records
  int64_t graph = 0;
};
struct Call {
  int64_t start = 0, duration = 0;
  int64_t correlation = kUnknown;
  int64_t thread = kUnknown;
  uint32_t name = 0;
  int32_t result = kUnknown;
};
// Something on a thread of the host that has a beginning and an end: a scope, a Python function.
struct Span {
  int64_t start = 0, duration = 0;
  int64_t thread = kUnknown;
  uint32_t name = 0;
};
struct Marker : Span {  // one that is of no thread of the host has none
  uint32_t domain = 0;
  uint8_t shape = 1;              // format::MarkerShape
  int64_t end_thread = kUnknown;  // of ranges that start and end
  int64_t range_id = kUnknown;    // likewise
  int64_t category = kUnknown, color = kUnknown;
};

// What the source cannot tell, or the session lacks: a capability line.
struct Shortfall {
  std::string feature, reason, detail, hint;
};

struct Trace {
  std::string source;  // "torch_profiler", "nsight_systems"
  std::string backend = "nvidia";
  int64_t wall_of_zero_ns = 0;  // Unix time at time 0 of the source's clock
  int64_t pid = 0;
  std::string process, host, os;
  std::optional<int64_t> rank, world_size;
  std::map<int64_t, base::Json> devices;  // fields of `device` lines, by number
  std::map<int64_t, std::string> thread_names;

  NamePool names;
  Pool<Lane, LaneHash> lanes;
  Pool<Launch, LaunchHash> launches;
  std::vector<Kernel> kernels;
  std::vector<Copy> copies;
  std::vector<Fill> fills;
  std::vector<Wait> waits;
  std::vector<Allocation> allocations;
  std::vector<GraphRun> graphs;
  std::vector<Call> calls;
  std::vector<Span> scopes;
  std::vector<Span> python;  // functions, as they nest on their threads
  std::vector<Marker> markers;

  std::vector<Shortfall> shortfalls;
  std::map<std::string, uint64_t> not_imported;  // events without a place in a session, by kind
  uint64_t impossible_times = 0;                 // rows left out: their times are no times
  std::optional<uint64_t> overhead_ns;           // what the tool says recording took
  std::string truncated;                         // why it ends early; empty: it does not

  bool is_empty() const {
    return kernels.empty() && copies.empty() && fills.empty() && graphs.empty() && waits.empty() &&
           calls.empty() && scopes.empty() && markers.empty();
  }
  // Whether it tells anything of what the GPU did; a tool that watched only the CPU does not.
  bool has_gpu_activity() const {
    return !(kernels.empty() && copies.empty() && fills.empty() && graphs.empty() &&
             waits.empty() && allocations.empty() && calls.empty());
  }
};

// Calls `visit` with the rows of each kind.
template <typename AnyTrace, typename Visit>
void for_each_rows(AnyTrace& trace, Visit visit) {
  visit(trace.kernels);
  visit(trace.copies);
  visit(trace.fills);
  visit(trace.waits);
  visit(trace.allocations);
  visit(trace.graphs);
  visit(trace.calls);
  visit(trace.scopes);
  visit(trace.python);
  visit(trace.markers);
}

// From the first start to the last end; of no rows, `begin` is after `end`.
struct TimeSpan {
  int64_t begin = INT64_MAX, end = INT64_MIN;
};
TimeSpan span_of(const Trace& trace);

// Of a trace without GPU activity, a shortfall that says so: reports then call the GPU's work
// unknown, not none. `hint` is what makes the tool record it.
void note_missing_gpu_work(Trace& trace, std::string hint);

// Leaves out, and counts, rows that would make it last longer than kLongestNs: those far away from
// where most are.
void drop_far_times(Trace& trace);

}  // namespace gpufl::importing
