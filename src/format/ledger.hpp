// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/json.hpp"

// What a session says of its own completeness: written last, printed by every report. An absent
// number means "unknown", never zero.
namespace gpufl::format {

// Kept by the log writer.
struct WriterCounts {
  std::map<std::string, uint64_t> rows;  // by kind name, rows accepted for writing
  std::map<std::string, uint64_t>
      dropped;  // by reason ("spool_full", "disk_floor", "io_error", ...)
  uint64_t raw_bytes = 0;
  uint64_t sealed_bytes = 0;
  uint64_t windows_sealed = 0;
  uint64_t windows_deleted = 0;       // by keep_last or DropOldest
  uint64_t rows_deleted = 0;          // of batches, in those windows; `rows` still counts them
  uint64_t dictionary_overflows = 0;  // values that a full dictionary refused
  std::string paused;  // why batches are dropped now, else empty; not part of the ledger's line
};

// Why a session that nobody writes any more has no ledger and no end; "it" is the session.
inline constexpr std::string_view kUnclosed =
    "its process ended without closing it (killed, crashed, or left by _exit)";

// What a ledger says of the recording as a whole.
enum class Completeness : uint8_t {
  Complete,    // no loss is known, and launches were counted where kernels were recorded
  NotProven,   // no loss is known, but nobody counted what should be there
  Incomplete,  // something is known to be missing or wrong
};

// Of one GPU. An absent number is unknown.
struct DeviceLedger {
  std::optional<uint64_t> launches;
  std::optional<uint64_t> kernel_records;
  std::optional<uint64_t> launches_missing;
};

struct Ledger {
  // Counted independently of records. Every launch seen has its record, is missing, had not
  // finished, was outside the capture range, or was counted by instruction in its place.
  std::optional<uint64_t> launches_seen;
  std::optional<uint64_t> kernel_records;
  std::optional<uint64_t> launches_missing;        // their records never came
  std::optional<uint64_t> launches_unfinished;     // still running when recording stopped
  std::optional<uint64_t> launches_outside_range;  // not wanted
  std::optional<uint64_t> kernels_unclaimed;       // records, not of graphs, of no launch seen
  // A graph launch owes the kernels of the graph, where their number is known: kept apart.
  std::optional<uint64_t> graph_launches;         // not among launches_seen
  std::optional<uint64_t> graph_kernels_missing;  // their records never came
  std::optional<uint64_t> graph_kernel_records;   // among kernel_records
  std::optional<uint64_t> vendor_dropped;         // records the vendor's library says it dropped
  std::optional<uint64_t> impossible_times;       // zero, inverted, outside the session, left over
  // Kernels that begin before the one before on their stream has ended, or run at its time where
  // the order of the two is not known; and the most by which one does. Nothing is lost by them.
  std::optional<uint64_t> kernels_overlapping;
  std::optional<uint64_t> most_overlap_ns;
  std::optional<uint64_t> notes_dropped;         // calls that the counting itself lost
  std::optional<uint64_t> tracings_refused;      // the GPU was to be traced and could not be
  std::optional<uint64_t> markers_dropped;       // marks and ranges lost to a full ring
  std::optional<uint64_t> markers_unclosed;      // ranges still open at the end
  std::optional<uint64_t> markers_unmatched;     // ends of ranges that did not begin here
  std::optional<uint64_t> stacks_dropped;        // stacks that found no room
  std::optional<uint64_t> warp_records_dropped;  // found no room in captures of warpscope
  std::optional<uint64_t> activity_buffers;      // taken from the vendor, and what was in them
  std::optional<uint64_t> activity_bytes;
  std::optional<uint64_t> callback_ns;         // in callbacks, on the program's threads
  std::optional<uint64_t> vendor_overhead_ns;  // what the vendor's own overhead records sum up to
  std::optional<uint64_t> cupti_overhead_ns;   // the same of NVIDIA's, under its former name
  // Phases in which the GPUs were traced, and how long they took together. Absent: not counted.
  std::optional<uint64_t> phases;
  std::optional<uint64_t> attached_ns;
  // PC sampling: windows taken and given up, samples (those without a row and dropped ones
  // included), buffers that were found full, and launches that the gate held up.
  std::optional<uint64_t> sampling_windows;
  std::optional<uint64_t> sampling_windows_skipped;
  std::optional<uint64_t> pc_samples;
  std::optional<uint64_t> pc_samples_dropped;     // by the hardware
  std::optional<uint64_t> pc_samples_unlocated;   // of code that the vendor shows nobody
  std::optional<uint64_t> sampling_buffers_full;  // windows that brought nothing for this reason
  // Counters: launches made while they were in the place of records. By instruction: values read,
  // and those that were lost.
  std::optional<uint64_t> launches_counted;
  std::optional<uint64_t> graph_launches_uncounted;  // their kernels are neither
  std::optional<uint64_t> sass_values;
  std::optional<uint64_t> sass_values_dropped;
  // Counters by scope: ranges that were measured, and those that could not be.
  std::optional<uint64_t> ranges;
  std::optional<uint64_t> ranges_skipped;
  // Counters over time: samples that were kept and those that were lost, and the times when the
  // GPU's buffer was found full, which brought nothing.
  std::optional<uint64_t> pm_samples;
  std::optional<uint64_t> pm_samples_dropped;
  std::optional<uint64_t> pm_buffers_full;
  std::optional<uint64_t> launches_held;
  std::optional<uint64_t> launches_held_ns;
  std::optional<uint64_t> longest_hold_ns;
  std::optional<uint64_t> longest_window_hold_ns;  // at a window, and not while attaching
  // Code of the GPU: modules kept, and those of sampled kernels that were not.
  std::optional<uint64_t> modules_kept;
  std::optional<uint64_t> modules_over_cap;   // no room
  std::optional<uint64_t> modules_not_found;  // their image was found nowhere
  std::map<int64_t, DeviceLedger> by_device;  // by number within the session; -1: not known which
  // Names of what the session had and nobody can count: "device_side_launches". One of them is a
  // loss besides: an imported trace that ends early.
  std::set<std::string, std::less<>> uncounted;
  static constexpr const char* kTruncatedTrace = "truncated_trace";
  uint64_t scopes_dropped = 0;  // scope events lost to a full ring
  uint64_t scopes_unclosed = 0;
  uint64_t scopes_forgotten = 0;  // calls whose scope was asked for too late
  uint64_t names_overflowed = 0;  // names beyond the interner's bound
  uint64_t samples_taken = 0;     // sampler ticks
  uint64_t samples_missed = 0;
  uint64_t samplers_stuck = 0;       // sampling threads still inside the driver at the end
  uint64_t rounds_lost = 0;          // rounds of the collector cut short, out of memory
  uint64_t events_dropped = 0;       // events beyond the bound of those that wait
  uint64_t counters_overflowed = 0;  // counters beyond the bound
  int64_t collector_cpu_ns = 0;      // what recording cost
  WriterCounts writer;
  // The names of counts above that a line from a log lacks: those are unknown, whatever they hold.
  std::set<std::string, std::less<>> unknown;

  bool knows(std::string_view name) const { return unknown.find(name) == unknown.end(); }
  // Every count above that tells of something lost and is not zero, by its name in the line; rows
  // that the writer dropped by their reason; of a trace that ends early, 1.
  std::map<std::string, uint64_t> losses() const;
  // Launches that have neither a record nor an excuse; 0 also where nobody counted.
  uint64_t launches_without_record() const;
  Completeness completeness() const;
  bool is_complete() const { return completeness() == Completeness::Complete; }
  // The same of all but the insides of kernels: what captures of warpscope or samples lost takes
  // nothing from any other record.
  Completeness completeness_of_trace() const;
  // Kernels were recorded, and nobody counted launches.
  bool lacks_launch_count() const { return kernel_records && !launches_seen; }

  // Adds what a part of the recorder has counted and nobody else counts.
  void add(const Ledger& part);
  // Adds the account of the same part at a later time: what either does not know is unknown.
  void add_later(const Ledger& later);

  base::Json to_json() const;
  static Ledger from_json(const base::Json& line);
};

// Adds the account of a tracer to those of others, of the same backend before it or of another one:
// what one of them does not know is unknown.
void add_account(const Ledger& account, std::optional<Ledger>& accounts);

}  // namespace gpufl::format
