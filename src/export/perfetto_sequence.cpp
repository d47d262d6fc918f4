// SPDX-License-Identifier: Apache-2.0
#include "export/perfetto_sequence.hpp"

#include <algorithm>

namespace gpufl::exporting {
namespace {

// Numbers of Perfetto's published definitions (protos/perfetto/trace).
namespace trace_packet {
constexpr uint32_t kClockSnapshot = 6, kTimestamp = 8, kSequence = 10, kTrackEvent = 11,
                   kInternedData = 12, kSequenceFlags = 13, kClock = 58, kDefaults = 59,
                   kTrackDescriptor = 60;
constexpr uint64_t kStateCleared = 1, kNeedsState = 2;
}  // namespace trace_packet
namespace track_event {
constexpr uint32_t kCategory = 3, kAnnotation = 4, kType = 9, kName = 10, kCounterValue = 30,
                   kRealCounterValue = 44;
constexpr uint64_t kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4;
}  // namespace track_event
namespace annotation {
constexpr uint32_t kName = 1, kUint = 3, kInt = 4, kDouble = 5, kTextId = 17;
}
namespace interned_data {
constexpr uint32_t kCategories = 1, kNames = 2, kAnnotationNames = 3, kAnnotationTexts = 29;
}
constexpr uint32_t kTracePacket = 1;
constexpr uint64_t kClockRealtime = 1, kClockMonotonic = 3;
constexpr uint64_t kClockOfSequence = 64;  // counts on from packet to packet

ProtoBuffer clock_at(uint64_t clock, uint64_t time, bool is_incremental = false) {
  ProtoBuffer message;
  message.varint(1, clock);
  message.varint(2, time);
  if (is_incremental) message.varint(3, 1);
  return message;
}

}  // namespace

PerfettoTrace::PerfettoTrace(OutputFile& out, int64_t first_ns, int64_t monotonic_ns,
                             int64_t wall_ns)
    : out_(out), first_ns_(first_ns), monotonic_ns_(monotonic_ns) {
  ProtoBuffer snapshot;
  snapshot.message(1, clock_at(kClockMonotonic, static_cast<uint64_t>(monotonic_ns)));
  if (wall_ns > 0) {
    snapshot.message(1, clock_at(kClockRealtime, static_cast<uint64_t>(wall_ns)));
  }
  snapshot.varint(2, kClockMonotonic);  // that of the whole trace
  ProtoBuffer head;
  head.varint(trace_packet::kTimestamp, static_cast<uint64_t>(monotonic_ns));
  head.varint(trace_packet::kClock, kClockMonotonic);
  head.varint(trace_packet::kSequence, last_sequence_);
  head.message(trace_packet::kClockSnapshot, snapshot);
  packet(head);
}

void PerfettoTrace::describe_track(const ProtoBuffer& descriptor) {
  ProtoBuffer fields;
  fields.varint(trace_packet::kSequence, 1);
  fields.message(trace_packet::kTrackDescriptor, descriptor);
  packet(fields);
}

void PerfettoTrace::packet(const ProtoBuffer& packet) {
  ProtoBuffer framed;
  framed.message(kTracePacket, packet);
  out_.write(framed.view());
}

PerfettoSequence::PerfettoSequence(PerfettoTrace& trace, uint64_t track,
                                   const timeline::SessionTexts& texts)
    : out_(trace.out()),
      texts_(texts),
      sequence_(trace.new_sequence()),
      last_ns_(trace.first_ns()) {
  ProtoBuffer snapshot;
  snapshot.message(1, clock_at(kClockOfSequence, 0, true));
  snapshot.message(1, clock_at(kClockMonotonic, static_cast<uint64_t>(trace.monotonic_ns())));
  ProtoBuffer clocks;
  clocks.varint(trace_packet::kSequence, sequence_);
  clocks.varint(trace_packet::kTimestamp, static_cast<uint64_t>(trace.monotonic_ns()));
  clocks.varint(trace_packet::kClock, kClockMonotonic);
  clocks.varint(trace_packet::kSequenceFlags, trace_packet::kStateCleared);
  clocks.message(trace_packet::kClockSnapshot, snapshot);
  ProtoBuffer event_defaults;
  event_defaults.varint(11, track);
  ProtoBuffer defaults;
  defaults.varint(58, kClockOfSequence);
  defaults.message(11, event_defaults);
  clocks.message(trace_packet::kDefaults, defaults);
  trace.packet(clocks);
}

uint64_t PerfettoSequence::intern(Ids& ids, uint32_t field, std::string_view text) {
  const auto [known, is_new] = ids.try_emplace(std::string(text), ids.size() + 1);
  if (is_new) {
    entry_.clear();
    entry_.varint(1, known->second);
    entry_.bytes(2, text);
    interned_.message(field, entry_);
  }
  return known->second;
}

uint64_t PerfettoSequence::intern_value(std::string_view text) {
  return intern(values_, interned_data::kAnnotationTexts, text);
}

uint64_t PerfettoSequence::arg_id(timeline::Arg arg) {
  uint8_t& id = arg_ids_[static_cast<size_t>(arg)];
  if (id == 0) {
    id = ++arg_count_;
    entry_.clear();
    entry_.varint(1, id);
    entry_.bytes(2, to_string(arg));
    interned_.message(interned_data::kAnnotationNames, entry_);
  }
  return id;
}

template <typename Fill>
void PerfettoSequence::annotate(timeline::Arg arg, Fill fill) {
  annotation_.clear();
  annotation_.varint(annotation::kName, arg_id(arg));
  fill(annotation_);
  event_.message(track_event::kAnnotation, annotation_);
}

void PerfettoSequence::integer(timeline::Arg arg, int64_t value) {
  annotate(arg,
           [&](ProtoBuffer& to) { to.varint(annotation::kInt, static_cast<uint64_t>(value)); });
}
void PerfettoSequence::id(timeline::Arg arg, uint64_t value) {
  annotate(arg, [&](ProtoBuffer& to) { to.varint(annotation::kUint, value); });
}
void PerfettoSequence::real(timeline::Arg arg, double value) {
  annotate(arg, [&](ProtoBuffer& to) { to.real(annotation::kDouble, value); });
}
void PerfettoSequence::text_id(timeline::Arg arg, uint64_t id) {
  annotate(arg, [&](ProtoBuffer& to) { to.varint(annotation::kTextId, id); });
}
void PerfettoSequence::text(timeline::Arg arg, std::string_view value) {
  text_id(arg, intern_value(value));
}

void PerfettoSequence::path(timeline::Arg arg, uint32_t path) {
  if (path >= path_values_.size()) path_values_.resize(path + 1);
  uint64_t& id = path_values_[path];
  if (id == 0) id = intern_value(texts_.path_text(path));
  text_id(arg, id);
}

template <typename TextOf>
void PerfettoSequence::numbered(timeline::Arg arg, ValueIds& values, uint32_t number,
                                TextOf text_of) {
  const auto [known, is_new] = values.try_emplace(number);
  if (is_new) {
    const std::string& text = text_of(number);
    if (!text.empty()) known->second = intern_value(text);
  }
  if (known->second != 0) text_id(arg, known->second);
}

void PerfettoSequence::name(timeline::Arg arg, uint32_t name) {
  numbered(arg, name_values_, name,
           [&](uint32_t id) -> const std::string& { return texts_.name(id); });
}

void PerfettoSequence::site(timeline::Arg arg, uint32_t stack) {
  numbered(arg, site_values_, stack, [&](uint32_t id) { return texts_.site(id); });
}

void PerfettoSequence::begin_as(uint64_t type, std::string_view name, std::string_view category) {
  event_.clear();
  event_.varint(track_event::kType, type);
  event_.varint(track_event::kName, intern(names_, interned_data::kNames, name));
  event_.varint(track_event::kCategory, intern(categories_, interned_data::kCategories, category));
}

void PerfettoSequence::begin(std::string_view name, std::string_view category) {
  begin_as(track_event::kBegin, name, category);
}

void PerfettoSequence::begin_instant(std::string_view name, std::string_view category) {
  begin_as(track_event::kInstant, name, category);
}

// The same for each kernel of a configuration, and most of its event.
const std::string& PerfettoSequence::kernel_fields(uint32_t config) {
  if (config >= kernel_fields_.size()) kernel_fields_.resize(config + 1);
  std::string& fields = kernel_fields_[config];
  if (fields.empty()) {
    begin(texts_.kernel(config), timeline::category_of(timeline::SliceKind::Kernel));
    timeline::config_arguments(texts_.tables().config(config), *this);
    fields = event_.view();
  }
  return fields;
}

void PerfettoSequence::begin_kernel(uint32_t config) {
  const std::string& fields = kernel_fields(config);
  event_.clear();
  event_.append(fields);
}

void PerfettoSequence::end_slice(int64_t time) {
  event_.clear();
  event_.varint(track_event::kType, track_event::kEnd);
  write(time);
}

void PerfettoSequence::counter(int64_t time, int64_t value) {
  event_.clear();
  event_.varint(track_event::kType, track_event::kCounter);
  event_.varint(track_event::kCounterValue, static_cast<uint64_t>(value));
  write(time);
}

void PerfettoSequence::counter(int64_t time, double value) {
  event_.clear();
  event_.varint(track_event::kType, track_event::kCounter);
  event_.real(track_event::kRealCounterValue, value);
  write(time);
}

void PerfettoSequence::write(int64_t time) {
  entry_.clear();
  entry_.varint(trace_packet::kSequence, sequence_);
  entry_.varint(trace_packet::kSequenceFlags, trace_packet::kNeedsState);
  entry_.varint(trace_packet::kTimestamp,
                static_cast<uint64_t>(time) - static_cast<uint64_t>(last_ns_));
  last_ns_ = time;
  if (interned_.size() != 0) {
    entry_.message(trace_packet::kInternedData, interned_);
    interned_.clear();
  }
  entry_.message(trace_packet::kTrackEvent, event_);
  annotation_.clear();
  annotation_.message(kTracePacket, entry_);
  out_.write(annotation_.view());
}

}  // namespace gpufl::exporting
