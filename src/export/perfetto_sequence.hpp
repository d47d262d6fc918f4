// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "export/output_file.hpp"
#include "export/proto_buffer.hpp"
#include "timeline/arguments.hpp"
#include "timeline/session_texts.hpp"

// Perfetto's trace packets, with the field numbers of its published definitions. A trace has one
// sequence of packets for each track, so that a packet need not say its track, tells its time as
// the nanoseconds since the one before, and finds names by small numbers of its own sequence. One
// thread.
namespace gpufl::exporting {

// Where packets go, and what is numbered over the whole trace.
class PerfettoTrace {
 public:
  // `first_ns`: the first time of all on the run's axis, where the trace's clocks begin.
  // `monotonic_ns` and `wall_ns`: CLOCK_MONOTONIC and the wall clock then; 0: unknown.
  PerfettoTrace(OutputFile& out, int64_t first_ns, int64_t monotonic_ns, int64_t wall_ns);

  uint64_t new_uuid() { return ++last_uuid_; }
  uint32_t new_sequence() { return ++last_sequence_; }
  // `descriptor`: a TrackDescriptor.
  void describe_track(const ProtoBuffer& descriptor);
  void packet(const ProtoBuffer& packet);
  OutputFile& out() { return out_; }
  int64_t first_ns() const { return first_ns_; }
  int64_t monotonic_ns() const { return monotonic_ns_; }

 private:
  OutputFile& out_;
  int64_t first_ns_, monotonic_ns_;
  uint64_t last_uuid_ = 0;
  uint32_t last_sequence_ = 1;  // the first is of descriptors
};

// The events of one track, in order of time; times are of the run's axis. Is a sink for arguments
// (arguments.hpp): they are added to the event that is being made.
class PerfettoSequence {
 public:
  PerfettoSequence(PerfettoTrace& trace, uint64_t track, const timeline::SessionTexts& texts);

  // One event: begin(), then what it has, then write().
  void begin(std::string_view name, std::string_view category);
  void begin_instant(std::string_view name, std::string_view category);
  void begin_kernel(uint32_t config);
  void flow(uint64_t id) { event_.fixed64(47, id); }
  void integer(timeline::Arg arg, int64_t value);
  void id(timeline::Arg arg, uint64_t value);
  void real(timeline::Arg arg, double value);
  void text(timeline::Arg arg, std::string_view value);
  void name(timeline::Arg arg, uint32_t name);
  void path(timeline::Arg arg, uint32_t path);
  void site(timeline::Arg arg, uint32_t stack);
  void write(int64_t time);

  void end_slice(int64_t time);
  void counter(int64_t time, int64_t value);
  void counter(int64_t time, double value);

 private:
  using Ids = std::unordered_map<std::string, uint64_t>;
  using ValueIds = std::unordered_map<uint32_t, uint64_t>;

  void begin_as(uint64_t type, std::string_view name, std::string_view category);
  // The text's number in this sequence; a new one is told by the next packet. `field`: the list of
  // InternedData that it is of.
  uint64_t intern(Ids& ids, uint32_t field, std::string_view text);
  uint64_t intern_value(std::string_view text);
  uint64_t arg_id(timeline::Arg arg);
  void text_id(timeline::Arg arg, uint64_t id);
  // Of a number of the log, which may be any; an empty text is not mentioned.
  template <typename TextOf>
  void numbered(timeline::Arg arg, ValueIds& values, uint32_t number, TextOf text_of);
  template <typename Fill>
  void annotate(timeline::Arg arg, Fill fill);
  const std::string& kernel_fields(uint32_t config);

  OutputFile& out_;
  const timeline::SessionTexts& texts_;
  uint32_t sequence_;
  int64_t last_ns_;
  ProtoBuffer event_, annotation_, entry_;
  ProtoBuffer interned_;  // for the next packet
  Ids names_, categories_, values_;
  std::array<uint8_t, timeline::kArgCount> arg_ids_{};  // 0: not told yet
  uint8_t arg_count_ = 0;
  std::vector<std::string> kernel_fields_;  // by configuration, as they lie in a file
  std::vector<uint64_t> path_values_;       // by path; 0: not told yet
  ValueIds name_values_, site_values_;      // by name, by stack; 0: no text
};

}  // namespace gpufl::exporting
