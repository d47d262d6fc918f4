// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpscope/lane.cuh>

namespace ws {

// Records into wire format v1: each event is a fence of the block by every thread that passes it,
// a clock read and a store to global memory by the lane's leader. One object for each thread of a
// group; exactly one of them is the leader. Profiler<false> is empty and compiles to nothing. A
// lane counts in 32 bits: over 2^32 - 1 records its counts begin again, and readers take it for
// shorter.
template <bool kEnable = true, Clock kClock = Clock::Globaltimer>
class Profiler {
 public:
  // Kernels that take any profiler give each group a ring and ask whether there are payloads.
  struct Ring {};
  static constexpr bool kTakesPayloads = true;

  // `max_records_per_lane` slots are the lane's, the finalize record's included. Without that cap
  // nothing bounds what a lane writes, as wire format v1 has it.
  WS_DEVICE void init(uint64_t* buffer, uint32_t write_stride, uint32_t group_id,
                      uint32_t num_groups, uint32_t num_blocks, bool is_leader,
                      uint32_t max_records_per_lane = kUncapped) {
    const Capture capture = {buffer,
                             nullptr,
                             nullptr,
                             num_blocks,
                             num_groups,
                             write_stride,
                             max_records_per_lane,
                             kPlacedStrided,
                             kKeepFirst,
                             {},
                             {}};
    init(capture, group_id, is_leader);
  }
  // The same for a buffer whose size is known: never writes outside of it, not even the header
  // where it has no words.
  WS_DEVICE void init(uint64_t* buffer, uint32_t write_stride, uint32_t group_id,
                      uint32_t num_groups, uint32_t num_blocks, bool is_leader, Slots slots) {
    init(buffer, write_stride, group_id, num_groups, num_blocks, is_leader && slots.count != 0,
         slots_of_lane(slots, write_stride));
  }
  WS_DEVICE void init(const Capture& capture, uint32_t group_id, bool is_leader) {
    is_lane_ = false;
    set_recording(false);
    if (!is_leader) return;
    const device::LaneStart start = device::begin_lane<kClock>(capture, group_id);
    if (!start.is_captured) return;
    records_ = at_ = capture.words + start.place.first;
    to_extension_ = capture.extensions != nullptr ? capture.extensions - capture.words : 0;
    side_ = start.side;
    step_ = start.place.step;
    room_ = lap_ = start.place.room();
    wrap_ = start.place.wrap();
    tag_ = start.lane << 12;
    count_ = 0;
    window_ = capture.window;
    is_lane_ = true;
    set_recording(true);
  }
  WS_DEVICE void init(const Capture& capture, Ring&, uint32_t group_id, bool is_leader) {
    init(capture, group_id, is_leader);
  }

  // What follows belongs to tile i of the group: recorded where the capture's window has it. Before
  // the first call everything is recorded.
  WS_DEVICE void tile(uint32_t i) { set_recording(is_lane_ && window_.has_tile(i)); }

  WS_DEVICE void start(Ev event) { record(kBegin, event.id, Extension::none()); }
  WS_DEVICE void end(Ev event) { record(kEnd, event.id, Extension::none()); }
  WS_DEVICE void inst(Ev event) { record(kInstant, event.id, Extension::none()); }
  // The payload needs extension words; without them it is left out.
  WS_DEVICE void start(Ev event, uint32_t payload) {
    record(kBegin, event.id, Extension::of_payload(payload));
  }
  WS_DEVICE void end(Ev event, uint32_t payload) {
    record(kEnd, event.id, Extension::of_payload(payload));
  }
  WS_DEVICE void inst(Ev event, uint32_t payload) {
    record(kInstant, event.id, Extension::of_payload(payload));
  }

  // A range that ends wherever its token is closed, also outside of the window. Without extension
  // words it is an ordinary begin and end.
  WS_DEVICE Token open(Ev event) { return open(event, Extension::none()); }
  WS_DEVICE Token open(Ev event, uint32_t payload) {
    return open(event, Extension::of_payload(payload));
  }
  WS_DEVICE void close(Token token) { close(token, Extension::none()); }
  WS_DEVICE void close(Token token, uint32_t payload) {
    close(token, Extension::of_payload(payload));
  }

  // Ends the lane. Nothing is recorded after it until the next init().
  WS_DEVICE void finalize() {
    device::fence_block();
    if (!is_lane_) return;
    const device::Anchor anchor = device::read_anchor<kClock>();
    device::end_lane<kClock>(records_, step_, room_, side_, tag_, device::low_half<kClock>(anchor),
                             anchor, count_);
    is_lane_ = false;
    set_recording(false);
  }

 private:
  // One compare decides on everything where the first records are kept: threads and tiles that do
  // not record stop at 0. Where slots are used again the leader goes another way.
  WS_DEVICE void set_recording(bool is_recording) {
    is_recording_ = is_recording;
    uses_again_ = is_recording && wrap_ != kUncapped;
    const bool keeps_first = is_recording && wrap_ == kUncapped;
    stop_ = keeps_first ? room_ : 0;
    pace_ = keeps_first ? step_ : 0;
    one_ = keeps_first ? 1 : 0;
  }
  WS_DEVICE void record(uint32_t type, uint32_t event, Extension extension) {
    device::fence_block();
    const uint32_t event_and_type = make_tag(0, event, type);
    // Predicates instead of branches: a warp that parts and joins again takes longer than a store.
    if (count_ < stop_) {
      device::store_global(at_, tag_ | event_and_type, device::read_clock<kClock>());
      if (extension.flags != 0 && to_extension_ != 0) {
        device::store_global(at_ + to_extension_, extension.payload, extension.flags);
      }
    }
    at_ += pace_;
    count_ += one_;
    if (uses_again_) put(event_and_type, extension);
  }
  WS_DEVICE Token open(Ev event, Extension extension) {
    const Token token = {event.id, is_recording_ ? count_ : kNoToken};
    record(kBegin, event.id, extension.with_token(token.id));
    return token;
  }
  WS_DEVICE void close(Token token, Extension extension) {
    device::fence_block();
    if (is_lane_ && token.id != kNoToken) {
      put(make_tag(0, token.event, kEnd), extension.with_token(token.id));
    }
  }
  // Whatever the policy, and outside of the window, too.
  WS_DEVICE void put(uint32_t event_and_type, Extension extension) {
    const uint32_t time = device::read_clock<kClock>();
    const bool is_used_again = count_ >= room_;
    if (count_ == lap_ && wrap_ != kUncapped) {
      at_ = records_ + static_cast<uint64_t>(wrap_) * step_;
      lap_ += room_ - wrap_;
    }
    if (!is_used_again || wrap_ != kUncapped) {
      device::store_global(at_, tag_ | event_and_type, time);
      // A slot that is used again may still have the extension of the record before.
      if (to_extension_ != 0 && (extension.flags != 0 || is_used_again)) {
        device::store_global(at_ + to_extension_, extension.payload, extension.flags);
      }
    }
    at_ += step_;
    ++count_;
  }

  uint64_t* records_ = nullptr;
  uint64_t* at_ = nullptr;  // of the next record
  int64_t to_extension_ = 0;
  uint64_t* side_ = nullptr;
  uint32_t step_ = 0;
  uint32_t room_ = 0;
  uint32_t wrap_ = kUncapped;
  uint32_t lap_ = 0;    // the count at which the first slot to be used again is next
  uint32_t count_ = 0;  // records offered
  uint32_t stop_ = 0;   // set_recording()'s: the count to stop at, and what an event adds
  uint32_t pace_ = 0;
  uint32_t one_ = 0;
  uint32_t tag_ = 0;
  Window window_ = {};
  bool is_lane_ = false;
  bool is_recording_ = false;
  bool uses_again_ = false;
};

// What the disabled profilers have in common: everything, and nothing of it does anything.
class DisabledProfiler {
 public:
  struct Ring {};
  static constexpr bool kTakesPayloads = true;
  template <typename... Arguments>
  WS_DEVICE void init(const Arguments&...) {}
  WS_DEVICE void tile(uint32_t) {}
  WS_DEVICE void start(Ev) {}
  WS_DEVICE void end(Ev) {}
  WS_DEVICE void inst(Ev) {}
  WS_DEVICE void start(Ev, uint32_t) {}
  WS_DEVICE void end(Ev, uint32_t) {}
  WS_DEVICE void inst(Ev, uint32_t) {}
  WS_DEVICE Token open(Ev) { return {0, kNoToken}; }
  WS_DEVICE Token open(Ev, uint32_t) { return {0, kNoToken}; }
  WS_DEVICE void close(Token) {}
  WS_DEVICE void close(Token, uint32_t) {}
  WS_DEVICE void finalize() {}
};

template <Clock kClock>
class Profiler<false, kClock> : public DisabledProfiler {};

}  // namespace ws
