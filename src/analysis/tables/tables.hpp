// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/math/narrow_column.hpp"
#include "analysis/math/saturating.hpp"
#include "format/batch.hpp"
#include "format/former_names.hpp"
#include "format/warp_launch.hpp"

// The rows of one session as typed columns: what every figure, export and comparison is made from.
// Filled by load() (session_data.hpp); constant afterwards, so any thread may read. Rows of each
// table are in order of their start. Times are session times in nanoseconds. Most columns follow
// from format/kinds.def. A column that no row of the log had is empty, but for those marked
// "always"; rows that lacked it in a log where others had it hold what kinds.def says stands for
// that (in a column of bytes 255 is -1). Indices and ids of names and configurations are within
// bounds, whatever the log holds. A kernel takes at most 64 bytes.
namespace gpufl::analysis {

inline constexpr uint32_t kNoRow = UINT32_MAX;
using format::kNoTime;
inline constexpr int64_t kNoDuration = -1;

// A byte that the log does not tell; of columns whose -1 says so.
inline constexpr uint8_t kNoByte = UINT8_MAX;

// Where work ran. -1: the log does not say.
struct Lane {
  int64_t device = -1, context = -1, stream = -1;
  bool operator==(const Lane&) const = default;
};

// Who asked for it.
struct Caller {
  int64_t thread = 0;       // 0: unknown
  uint32_t scope = kNoRow;  // row of Tables::scopes; kNoRow: in none
  bool inherited = false;   // the scope is another thread's
  bool operator==(const Caller&) const = default;
};

// What all rows of work have.
struct Work {
  std::vector<int64_t> start;  // always, as are the next three
  NarrowColumn duration;
  std::vector<uint32_t> lane;      // index into Tables::lanes
  std::vector<uint32_t> caller;    // index into Tables::callers
  std::vector<int64_t> api_start;  // of the API call behind it; read them by the functions below
  NarrowColumn api_duration;
  NarrowColumn correlation;     // 0: none
  std::vector<uint32_t> stack;  // of that call: id for CodeMap; 0: none

  size_t rows() const { return start.size(); }
  int64_t end(size_t row) const { return saturating_add(start[row], duration[row]); }
  // When the API call behind it began, and how long it took: each may be unknown by itself.
  int64_t call_start(size_t row) const { return api_start.empty() ? kNoTime : api_start[row]; }
  int64_t call_duration(size_t row) const {
    return api_duration.empty() ? kNoDuration : std::max(api_duration[row], kNoDuration);
  }
  // When it was asked for; where that is unknown, when it began.
  int64_t asked_at(size_t row) const {
    const int64_t call_ns = call_start(row);
    return call_ns != kNoTime ? call_ns : start[row];
  }
};

// What kinds.def says is kept, of each kind: columns::Kernel has `queued`, `graph`, ...
namespace columns {

#define GPUFL_KEPT_Byte(name) std::vector<uint8_t> name;
#define GPUFL_KEPT_UInt32(name) std::vector<uint32_t> name;
#define GPUFL_KEPT_Int64(name) std::vector<int64_t> name;
#define GPUFL_KEPT_UInt64(name) std::vector<uint64_t> name;
#define GPUFL_KEPT_Narrow(name) NarrowColumn name;
#define GPUFL_KEPT_Own(name)
#define GPUFL_KEPT_None(name)

#define GPUFL_KIND(Id, ...) \
  struct Id {               \
    static constexpr format::Kind kKind = format::Kind::Id;
#define GPUFL_COLUMN(Id, name, kept, ...) GPUFL_KEPT_##kept(name)
#define GPUFL_END_KIND(Id) \
  }                        \
  ;
#include "format/kinds.def"

#undef GPUFL_KEPT_Byte
#undef GPUFL_KEPT_UInt32
#undef GPUFL_KEPT_Int64
#undef GPUFL_KEPT_UInt64
#undef GPUFL_KEPT_Narrow
#undef GPUFL_KEPT_Own
#undef GPUFL_KEPT_None

}  // namespace columns

// Whether a row of such a column says yes.
inline bool is_set(const std::vector<uint8_t>& flags, size_t row) {
  return !flags.empty() && flags[row] != 0 && flags[row] != kNoByte;
}

struct Kernels : Work, columns::Kernel {
  std::vector<uint32_t> config;  // index of Tables::configs; always
};
struct Copies : Work, columns::Memcpy {};
struct Fills : Work, columns::Memset {};
// Synchronisations: `start` and `duration` are how long the host was blocked.
struct Waits : Work, columns::Sync {};
// Allocations and releases; `duration` is 0, `api_duration` what the call took.
struct Allocations : Work, columns::Memory {};
struct GraphLaunches : Work, columns::Graph {};
// API calls that have rows of their own: those that allocate, release or failed. `lane` tells the
// context alone; api_start and api_duration are empty.
struct ApiCalls : Work, columns::Api {
  bool has_failed(size_t row) const {
    return !result.empty() && result[row] != 0 && result[row] != kUnknownResult;
  }
  static constexpr int64_t kUnknownResult = -1;
};

// Ended and open ones; a parent is always there unless the log lost it, and its row comes before
// its children's. All columns, always; those of markers, but for their stacks, and samples too.
struct Scopes : columns::Scope {
  std::vector<int64_t> start;
  NarrowColumn duration;                 // of open ones until the log's end
  std::vector<uint32_t> parent;          // row; kNoRow: none
  static constexpr uint8_t kOpen = 255;  // an `ending` that the log does not have

  size_t rows() const { return start.size(); }
  int64_t end(size_t row) const { return saturating_add(start[row], duration[row]); }
};

struct Markers : columns::Marker {
  std::vector<int64_t> start;
  NarrowColumn duration;        // 0: a mark
  std::vector<double> payload;  // NaN: none

  size_t rows() const { return start.size(); }
};

struct Samples {  // of counters (no device, index 0), GPUs or the host (device -1)
  std::vector<int64_t> time;
  std::vector<int32_t> device, index;
  std::vector<uint32_t> metric;  // of Tables::metrics; of counters: of Tables::names
  std::vector<int64_t> value;

  size_t rows() const { return time.size(); }
};

// A launch configuration. Absent facts are unknown.
struct LaunchConfig {
  uint32_t name = 0;  // of Tables::names, as the log has it: mangled
  std::array<int64_t, 3> grid{}, block{};
  std::optional<std::array<int64_t, 3>> cluster;
  std::optional<int64_t> registers, shared_static, shared_dynamic, local_per_thread, local_total;
  std::string cache;
  std::optional<double> occupancy;  // theoretical, 0 to 1
  std::string occupancy_bound;  // "waves", "registers", "shared_memory", "groups"; empty: unknown
  std::map<std::string, int64_t> occupancy_bounds;

  int64_t blocks() const { return product(grid); }
  int64_t threads() const { return product(block); }
  // The bound in CUDA's words, which reports show.
  std::string_view occupancy_limit() const {
    return format::former_name(format::kFormerOccupancyBounds, occupancy_bound);
  }

 private:
  static int64_t product(const std::array<int64_t, 3>& size) {
    return saturating_multiply(saturating_multiply(size[0], size[1]), size[2]);
  }
};

struct Tables {
  Kernels kernels;
  Copies copies;
  Fills fills;
  Waits waits;
  Allocations allocations;
  GraphLaunches graphs;
  ApiCalls api_calls;
  Scopes scopes;
  Markers markers;
  Samples counters, device_metrics, host_metrics;
  // Kinds that have no table of their own (samples of the deeper engines, warp spans, ...), as the
  // log's columns; ids of dictionaries are those of `names` and `metrics`.
  std::map<format::Kind, format::Batch> others;
  std::vector<format::WarpLaunch> warp_launches;  // whose spans are among `others`

  std::vector<Lane> lanes;
  std::vector<Caller> callers;

  // By the log's ids; 0 is the empty string. What an id stands for that nothing defines is "?".
  std::vector<std::string> names, texts, metrics;
  std::vector<LaunchConfig> configs;  // by Kernels::config; 0 is the one that nothing defines

  const std::string& name(uint32_t id) const { return text_at(names, id); }
  const std::string& text(uint32_t id) const { return text_at(texts, id); }
  const std::string& metric(uint32_t id) const { return text_at(metrics, id); }
  const LaunchConfig& config(uint32_t id) const;
  // The kernel's name as the log has it.
  const std::string& kernel_name(size_t kernel_row) const {
    return name(config(kernels.config[kernel_row]).name);
  }

 private:
  static const std::string& text_at(const std::vector<std::string>& texts, uint32_t id);
};

}  // namespace gpufl::analysis
