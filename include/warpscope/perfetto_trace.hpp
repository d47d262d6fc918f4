// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string_view>

#include <warpscope/decode.hpp>
#include <warpscope/drawing.hpp>
#include <warpscope/flows.hpp>
#include <warpscope/names.hpp>
#include <warpscope/output_file.hpp>
#include <warpscope/trace.hpp>

// A trace in Perfetto's own format: a process for each SM (for each block, where SMs are unknown),
// in it blocks and groups. Spans that overlap without nesting lie on sibling tracks that the viewer
// merges by name. Payloads are debug annotations, declared flows arrows.
namespace ws {
namespace detail {

// Fields of one protobuf message, appended one after another.
class ProtoMessage {
 public:
  const std::string& bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

  void varint(uint32_t field, uint64_t value) {
    put(uint64_t{field} << 3);
    put(value);
  }
  void fixed64(uint32_t field, uint64_t value) {
    put((uint64_t{field} << 3) | 1);
    for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(value >> shift);
  }
  void text(uint32_t field, std::string_view value) {
    put((uint64_t{field} << 3) | 2);
    put(value.size());
    bytes_ += value;
  }
  void message(uint32_t field, const ProtoMessage& inner) { text(field, inner.bytes_); }

 private:
  void put(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

class PerfettoWriter {
 public:
  PerfettoWriter(const Trace& trace, const std::vector<std::string>& event_names,
                 const std::vector<std::string>& group_names, const std::string& path)
      : trace_(trace), event_names_(event_names), group_names_(group_names), file_(path) {}

  bool write() {
    if (!file_.is_open()) return false;
    const Drawing drawing = draw(trace_);
    collect_flows();
    for (const DrawnLane& lane : drawing.lanes) knows_sms_ |= lane.sm != kUnknownSm;
    write_names(drawing);
    for (const DrawnLane& lane : drawing.lanes) write_lane(drawing, lane);
    for (const Instant& instant : trace_.instants) {
      ProtoMessage notes;
      if (instant.has_payload()) annotate(notes, "payload", instant.payload);
      if (instant.has_token()) annotate(notes, "token", instant.token);
      event(kInstantEvent, instant.time(), first_track_.at({instant.block, instant.group}),
            instant.event_id, notes);
    }
    return file_.close();
  }

 private:
  // Numbers of Perfetto's published definitions.
  static constexpr uint32_t kSliceBegin = 1, kSliceEnd = 2, kInstantEvent = 3;
  static constexpr uint32_t kStateCleared = 1, kNeedsState = 2;
  static constexpr uint64_t kSequence = 1;
  static constexpr uint32_t kExplicitOrder = 3, kMergeByName = 1;

  void packet(const ProtoMessage& fields) {
    ProtoMessage framed;
    framed.message(1, fields);
    file_.write(framed.bytes());
  }

  // Names once, as numbers afterwards: an event's is its id + 1.
  void write_names(const Drawing& drawing) {
    std::set<uint32_t> ids;
    for (const DrawnSpan& drawn : drawing.spans) ids.insert(drawn.span->event_id);
    for (const Instant& instant : trace_.instants) ids.insert(instant.event_id);
    ProtoMessage interned;
    for (const uint32_t id : ids) {
      ProtoMessage entry;
      entry.varint(1, uint64_t{id} + 1);
      entry.text(2, valid_utf8(name_of(event_names_, id, trace_.names.event(id))));
      interned.message(2, entry);
    }
    ProtoMessage fields;
    fields.varint(10, kSequence);
    fields.varint(13, kStateCleared | kNeedsState);
    fields.message(12, interned);
    packet(fields);
  }

  uint64_t describe(uint64_t parent, uint64_t rank, const std::string& name,
                    const ProtoMessage* process = nullptr) {
    ProtoMessage track;
    track.varint(1, ++last_track_);
    if (parent != 0) track.varint(5, parent);
    track.text(2, valid_utf8(name));
    if (process != nullptr) track.message(3, *process);
    track.varint(11, kExplicitOrder);
    track.varint(12, rank);
    track.varint(15, kMergeByName);
    ProtoMessage fields;
    fields.varint(10, kSequence);
    fields.message(60, track);
    packet(fields);
    return last_track_;
  }

  uint64_t process(uint32_t number, const std::string& name) {
    uint64_t& track = processes_[number];
    if (track != 0) return track;
    ProtoMessage process;
    process.varint(1, uint64_t{number} + 1);  // no process has number 0
    process.text(6, name);
    track = describe(0, number, name, &process);
    return track;
  }

  uint64_t block_track(const DrawnLane& lane) {
    const std::string block = "block " + std::to_string(lane.block);
    // Beside SMs, blocks of unknown SM are numbered above all of them.
    if (lane.sm == kUnknownSm) return process(lane.block + (knows_sms_ ? kUnknownSm : 0), block);
    uint64_t& track = blocks_[lane.block];
    if (track == 0)
      track = describe(process(lane.sm, "SM " + std::to_string(lane.sm)), lane.block, block);
    return track;
  }

  void write_lane(const Drawing& drawing, const DrawnLane& lane) {
    const uint64_t block = block_track(lane);
    const std::string name = name_of(group_names_, lane.group, trace_.names.group(lane.group));
    std::vector<uint64_t> tracks;
    for (uint32_t row = 0; row < lane.rows; ++row)
      tracks.push_back(describe(block, lane.group, name));
    first_track_[{lane.block, lane.group}] = tracks[0];
    std::vector<const DrawnSpan*> open;
    const auto end_until = [&](uint64_t time) {
      while (!open.empty() && open.back()->end() <= time) {
        end_span(*open.back(), tracks[open.back()->row]);
        open.pop_back();
      }
    };
    for (size_t i = lane.first; i < lane.last; ++i) {
      const DrawnSpan& drawn = drawing.spans[i];
      if (!open.empty() && open.back()->row != drawn.row) end_until(~uint64_t{0});
      end_until(drawn.begin());
      begin_span(drawn, tracks[drawn.row]);
      open.push_back(&drawn);
    }
    end_until(~uint64_t{0});
  }

  static void annotate(ProtoMessage& notes, const char* name, uint64_t value) {
    ProtoMessage note;
    note.text(10, name);
    note.varint(3, value);
    notes.message(4, note);
  }

  // `fields` are further fields of the event itself.
  void event(uint32_t type, uint64_t time, uint64_t track, uint32_t event_id,
             const ProtoMessage& fields) {
    event_.clear();
    event_.varint(9, type);
    event_.varint(11, track);
    if (type != kSliceEnd) event_.varint(10, uint64_t{event_id} + 1);
    packet_.clear();
    packet_.varint(8, time);
    packet_.varint(10, kSequence);
    packet_.varint(13, kNeedsState);
    packet_.text(11, event_.bytes() + fields.bytes());
    packet(packet_);
  }

  void begin_span(const DrawnSpan& drawn, uint64_t track) {
    const Span& span = *drawn.span;
    ProtoMessage notes;
    if (span.has_payload()) annotate(notes, "payload", span.payload);
    if (span.has_end_payload()) annotate(notes, "end_payload", span.end_payload);
    if (span.has_token()) annotate(notes, "token", span.token);
    if (span.cycles != 0) annotate(notes, "cycles", span.cycles);
    if (span.ending != Ending::Complete) {
      ProtoMessage note;
      note.text(10, "ending");
      note.text(6, ending_name(span.ending));
      notes.message(4, note);
    }
    event(kSliceBegin, drawn.begin(), track, span.event_id, notes);
  }

  // An arrow goes from the producer's end to the consumer's: the consumer may have begun to wait
  // first.
  void end_span(const DrawnSpan& drawn, uint64_t track) {
    ProtoMessage arrows;
    for (auto at = arrows_.lower_bound({drawn.span, 0});
         at != arrows_.end() && at->first.first == drawn.span; ++at) {
      arrows.fixed64(at->second ? 47 : 48, at->first.second);
    }
    event(kSliceEnd, drawn.end(), track, drawn.span->event_id, arrows);
  }

  void collect_flows() {
    uint64_t id = 0;
    for (const Flow& flow : find_flows(trace_)) {
      ++id;
      arrows_[{&trace_.spans[flow.producer], id}] = true;
      arrows_[{&trace_.spans[flow.consumer], id}] = false;
    }
  }

  const Trace& trace_;
  const std::vector<std::string>& event_names_;
  const std::vector<std::string>& group_names_;
  OutputFile file_;
  ProtoMessage event_, packet_;
  uint64_t last_track_ = 0;
  bool knows_sms_ = false;
  std::map<uint32_t, uint64_t> processes_, blocks_;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> first_track_;
  std::map<std::pair<const Span*, uint64_t>, bool> arrows_;  // true: leaves the span
};

}  // namespace detail

// Names are indexed by id; where one is missing, the side block's is used. False: the file could
// not be written.
inline bool write_perfetto_trace(const Trace& trace, const std::vector<std::string>& event_names,
                                 const std::vector<std::string>& group_names,
                                 const std::string& path) {
  return detail::PerfettoWriter(trace, event_names, group_names, path).write();
}
inline bool write_perfetto_trace(const uint64_t* words, size_t n,
                                 const std::vector<std::string>& event_names,
                                 const std::vector<std::string>& group_names,
                                 const std::string& path) {
  return write_perfetto_trace(decode(words, n), event_names, group_names, path);
}
inline bool write_perfetto_trace(const Trace& trace, const std::string& path) {
  return write_perfetto_trace(trace, {}, {}, path);
}

}  // namespace ws
