// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

// What a decoded warpscope capture is made of: spans, instants, lanes, and everything that was
// wrong with it. Plain values, owned by the caller. Times count from the earliest record of the
// trace.
namespace ws {

inline constexpr uint16_t kUnknownSm = 0xffff;

// What an extension word adds to a record; Span::flags and Instant::flags.
inline constexpr uint8_t kHasPayload = 1;
inline constexpr uint8_t kHasEndPayload = 2;
inline constexpr uint8_t kHasToken = 4;

// How a span's two ends were found.
enum class Ending : uint8_t {
  Complete,
  NoEnd,   // reaches to the last record of its lane: its duration is a lower bound
  NoBegin  // reaches from the first record of its lane: its duration is a lower bound
};

// A begin and an end in one lane. The first five members are those that programs for wire format v1
// know; the rest has 64 bits where they have 32.
struct Span {
  uint32_t block = 0;
  uint32_t group = 0;
  uint32_t event_id = 0;
  uint32_t begin_ns = 0;  // low half of start_ns
  uint32_t dur_ns = 0;    // duration_ns, at most 0xffffffff

  uint32_t payload = 0;  // of the begin record
  uint64_t start_ns = 0;
  uint64_t duration_ns = 0;
  uint32_t end_payload = 0;
  uint32_t token = 0;
  uint32_t cycles = 0;  // cycle clock: the duration as it was counted, at most 0xffffffff
  uint16_t sm = kUnknownSm;
  Ending ending = Ending::Complete;
  uint8_t flags = 0;

  bool has_payload() const { return (flags & kHasPayload) != 0; }
  bool has_end_payload() const { return (flags & kHasEndPayload) != 0; }
  bool has_token() const { return (flags & kHasToken) != 0; }
  // The times to compute with: a program that fills or changes the 32-bit members alone is heeded.
  uint64_t begin() const {
    return static_cast<uint32_t>(start_ns) == begin_ns ? start_ns : begin_ns;
  }
  uint64_t duration() const {
    return std::min<uint64_t>(duration_ns, 0xffffffff) == dur_ns ? duration_ns : dur_ns;
  }
};

struct Instant {
  uint32_t block = 0;
  uint32_t group = 0;
  uint32_t event_id = 0;
  uint32_t ts_ns = 0;  // low half of time_ns

  uint64_t time_ns = 0;
  uint32_t payload = 0;
  uint32_t token = 0;
  uint16_t sm = kUnknownSm;
  uint8_t flags = 0;

  bool has_payload() const { return (flags & kHasPayload) != 0; }
  bool has_token() const { return (flags & kHasToken) != 0; }
  uint64_t time() const { return static_cast<uint32_t>(time_ns) == ts_ns ? time_ns : ts_ns; }
};

// One (block, group) that recorded something or was initialised.
struct Lane {
  uint32_t block = 0;
  uint32_t group = 0;
  uint16_t sm = kUnknownSm;
  uint16_t warp = 0;          // of the leader; from the side block
  uint16_t cluster_rank = 0;  // from the side block
  bool initialised = false;   // as the side block says
  bool finalised = false;     // by its finalize record or the side block
  uint64_t records = 0;       // decoded, without the finalize
  uint64_t offered = 0;       // what the kernel meant to record; `records` where nobody counted
  uint64_t dropped = 0;       // of those, not kept
  uint64_t first_ns = 0;      // of its records, the finalize included
  uint64_t last_ns = 0;
  double cycles_per_ns = 0;  // cycle clock: own or borrowed; else 0
};

enum class ProblemKind : uint8_t {
  Unreadable,        // the file could not be read
  WrongSize,         // bytes or words that belong to nothing, or are missing
  MissingHeader,     // word 0 is empty: the shape was inferred, or came from the options
  BadHeader,         // word 0 states an impossible shape, or another one than the side block
  BadSideBlock,      // the side block contradicts itself or the buffer: it was ignored
  BadNames,          // the names of the side block cannot be read
  LaneOutsideShape,  // records of blocks that the header does not have: kept, the shape grew
  GroupUnknown,      // flashinfer-2025-07: the group of a record could not be told
  AliasedLanes,      // records in slots of another lane
  UnknownEvent,      // an event id without a name, where names are known
  UnknownType,       // records of a type that the dialect does not have: left out
  UnmatchedBegin,    // in Trace::unmatched, Ending::NoEnd
  UnmatchedEnd,      // in Trace::unmatched, Ending::NoBegin
  NotFinalised,      // lanes whose kernel did not reach its end
  StaleTail,         // records behind a finalize, of an earlier launch: left out
  Dropped,           // records that did not fit, as the kernel counted them
  PossiblyLost,      // full lanes without a count of what did not fit
  ImpossibleTime,    // a clock that went back or leapt by 2^31; words of lanes, costs, likewise
  UnplacedLane,      // no anchor on a cycle clock: the lane begins where the trace does
  UnknownFrequency   // no lane tells the cycles of a nanosecond: times are cycles
};

// The kind as programs and JSON write it: "missing_header".
inline const char* problem_name(ProblemKind kind);

inline constexpr uint32_t kNoLane = 0xffffffff;

// Everything that is wrong with a capture, one entry for each kind.
struct Problem {
  ProblemKind kind = ProblemKind::Unreadable;
  uint64_t count = 0;       // records, lanes, words: the text says of what
  uint32_t lane = kNoLane;  // the first one concerned: block * num_groups + group
  std::string text;         // a sentence for people
};

// What the side block calls things.
struct Names {
  std::string kernel;
  std::map<uint32_t, std::string> events, groups;
  std::vector<uint32_t> waits;  // events that wait, and do not work
  std::vector<std::pair<uint32_t, uint32_t>>
      flows;  // (end of p, in one group) releases c, in another

  bool empty() const {
    return kernel.empty() && events.empty() && groups.empty() && waits.empty() && flows.empty();
  }
  std::string event(uint32_t id) const { return found(events, id, "event_"); }
  std::string group(uint32_t id) const { return found(groups, id, "group_"); }

 private:
  static std::string found(const std::map<uint32_t, std::string>& names, uint32_t id,
                           const char* otherwise) {
    const auto name = names.find(id);
    return name != names.end() ? name->second : otherwise + std::to_string(id);
  }
};

// How a capture is laid out: what its side block states.
struct CaptureLayout {
  enum class Placement : uint32_t { Strided = 0, Lanes = 1 };
  enum class Clock : uint32_t { Globaltimer = 0, Cycles = 1 };
  enum class Policy : uint32_t { First = 0, Last = 1, Both = 2 };

  uint32_t num_blocks = 0;
  uint32_t num_groups = 0;
  uint32_t max_records = 0;   // slots of a lane, the finalize record's included
  uint32_t write_stride = 0;  // strided; 0: one slot for each lane
  Placement placement = Placement::Strided;
  Clock clock = Clock::Globaltimer;
  Policy policy = Policy::First;
  bool extension = false;  // payloads and tokens
  uint64_t launch_id = 0;
  uint32_t first_block = 0, block_after_last = 0, every_block = 0;  // window; 0: all, each
  uint32_t first_tile = 0, tile_after_last = 0, every_tile = 0;
  uint32_t event_cost_ps = 0;  // what recording one event takes on this GPU; 0: not measured

  uint64_t lanes() const { return uint64_t{num_blocks} * num_groups; }
  uint64_t stride() const { return write_stride != 0 ? write_stride : lanes(); }
  uint64_t num_slots() const {
    return placement == Placement::Strided ? 1 + stride() * max_records : 2 + lanes() * max_records;
  }
};

struct Trace {
  uint32_t num_blocks = 0;
  uint32_t num_groups = 0;
  std::vector<Span> spans;  // lane by lane, each in the order of begins
  std::vector<Instant> instants;

  // Each with an initialiser, so that Trace{blocks, groups, spans, instants} warns of nothing.
  std::vector<Span> unmatched = {};  // begins without an end and ends without a begin
  std::vector<Lane> lanes = {};      // ordered by block and group
  std::vector<Problem> problems = {};
  Names names = {};
  bool has_side_block = false;
  CaptureLayout layout = {};  // where has_side_block
  bool has_origin = false;
  uint64_t origin_ns = 0;  // %globaltimer at time zero, where has_origin

  const Lane* lane(uint32_t block, uint32_t group) const {
    const auto key = std::make_pair(block, group);
    const auto at = std::lower_bound(
        lanes.begin(), lanes.end(), key,
        [](const Lane& lane, const auto& k) { return std::make_pair(lane.block, lane.group) < k; });
    return at != lanes.end() && at->block == block && at->group == group ? &*at : nullptr;
  }
  const Problem* problem(ProblemKind kind) const {
    for (const Problem& problem : problems) {
      if (problem.kind == kind) return &problem;
    }
    return nullptr;
  }
};

// Relatives of wire format v1. Nothing in a buffer says which it is.
enum class Dialect : uint8_t {
  V1,                // "v1"
  Flashinfer202503,  // "flashinfer-2025-03"
  Flashinfer202507,  // "flashinfer-2025-07"
  MirageTranspiler,  // "mirage-transpiler"
  MiragePersistent   // "mirage-persistent"
};

struct DecodeOptions {
  Dialect dialect = Dialect::V1;
  uint32_t num_blocks = 0;  // not 0: instead of what header and side block say
  uint32_t num_groups = 0;
  uint32_t max_records = 0;  // the cap that init was given, where the buffer has room for more
  // Where side block and extension words do not follow the v1 region. Whoever has all three in one
  // piece calls decode_capture.
  const uint64_t* side = nullptr;
  size_t side_words = 0;
  const uint64_t* extension = nullptr;
  size_t extension_words = 0;
};

}  // namespace ws
