// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpscope/profiler.cuh>

namespace ws {

// Records into a ring in shared memory, one for each lane, and copies it out half by half: by the
// bulk copy engine where there is one (sm_90 and newer), else by the leader. No fences. Content and
// calls are Profiler's, with two differences. It marks when the leader issued an instruction, not
// when the memory operations before it were done. And an end never makes room: where a half is
// full, 16 ends that follow one another without another mark in between have a place behind it; of
// those beyond the newest is kept, the others are dropped and counted. The capture should have
// placement lanes; others are copied word by word. Bulk copies are grouped by the leader's thread:
// its own waits for such groups then wait for these, too.
template <bool kEnable = true, Clock kClock = Clock::Globaltimer, bool kExtended = false,
          uint32_t kRecords = 256>
class FastProfiler {
  static_assert(kRecords >= 4 && kRecords % 4 == 0, "halves of a ring are copied in 16 bytes");
  static constexpr uint32_t kWord = 8;
  static constexpr uint32_t kHalf = kRecords / 2;
  static constexpr uint32_t kHalfBytes = kHalf * kWord;
  static constexpr uint32_t kSlack = 16;  // words behind each half, for ends that do not look
  static constexpr uint32_t kHalfStep = kHalfBytes + kSlack * kWord;
  static constexpr uint32_t kExtensionOffset = 2 * kHalfStep;

 public:
  static constexpr bool kTakesPayloads = kExtended;

  // In shared memory, one for each group, not to be touched: `__shared__ P::Ring rings[kGroups]`.
  // What only a full half or the end of the lane needs is here instead of in registers.
  struct alignas(16) Ring {
    uint64_t* records;
    uint64_t* extensions;
    uint64_t* side;
    uint32_t step;
    uint32_t room;
    uint32_t wrap;
    uint32_t next;               // slot
    uint32_t copied;             // records that have left the ring
    uint32_t lost;               // ends that the slack had no place for
    uint32_t whole;              // halves that still fit and lie one behind the other
    uint32_t copies_extensions;  // not 0: halves of extension words are copied whole, too
    Window window;
    alignas(16) uint64_t words[(kExtended ? 4 : 2) * (kHalf + kSlack)];
  };

  WS_DEVICE void init(const Capture& capture, Ring& ring, uint32_t group_id, bool is_leader) {
    disable();
    if (!is_leader) return;
    // The lane may be used again: an older copy may still read the ring, or write the same slots.
    device::copy_wait_all();
    device::copy_after_stores();
    const device::LaneStart start = device::begin_lane<kClock>(capture, group_id);
    if (!start.is_captured) return;
    ring_ = &ring;
    ring.records = capture.words + start.place.first;
    ring.extensions =
        capture.extensions != nullptr ? capture.extensions + start.place.first : nullptr;
    ring.side = start.side;
    ring.step = start.place.step;
    ring.room = start.place.room();
    ring.wrap = start.place.wrap();
    ring.next = 0;
    ring.copied = 0;
    ring.lost = 0;
    ring.whole = can_copy(ring, ring.records) ? ring.room / kHalf : 0;
    ring.copies_extensions = kExtended && can_copy(ring, ring.extensions) ? 1 : 0;
    ring.window = capture.window;
    tag_ = start.lane << 12;
    use_half(first_record(), 0);
    is_lane_ = true;
    set_recording(true);
  }

  WS_DEVICE void tile(uint32_t i) {
    if (is_lane_) set_recording(ring_->window.has_tile(i));
  }

  WS_DEVICE void start(Ev event) { mark(kBegin, event.id, Extension::none()); }
  WS_DEVICE void end(Ev event) { mark_end(event.id, Extension::none()); }
  WS_DEVICE void inst(Ev event) { mark(kInstant, event.id, Extension::none()); }
  WS_DEVICE void start(Ev event, uint32_t payload) {
    mark(kBegin, event.id, extended(Extension::of_payload(payload)));
  }
  WS_DEVICE void end(Ev event, uint32_t payload) {
    mark_end(event.id, extended(Extension::of_payload(payload)));
  }
  WS_DEVICE void inst(Ev event, uint32_t payload) {
    mark(kInstant, event.id, extended(Extension::of_payload(payload)));
  }

  WS_DEVICE Token open(Ev event) { return open(event, Extension::none()); }
  WS_DEVICE Token open(Ev event, uint32_t payload) {
    return open(event, Extension::of_payload(payload));
  }
  WS_DEVICE void close(Token token) { close(token, Extension::none()); }
  WS_DEVICE void close(Token token, uint32_t payload) {
    close(token, Extension::of_payload(payload));
  }

  // Copies out what is left and ends the lane, when all of it is written: the ring is free then.
  WS_DEVICE void finalize() {
    if (!is_lane_) return;
    const device::Anchor anchor = device::read_anchor<kClock>();
    const device::SharedAddress half = full_ - kHalfBytes;
    const uint32_t left = within((at_ - half) / kWord, kHalf + kSlack);
    put_one_by_one(half, left);
    const uint32_t offered = ring_->copied + left;
    device::copy_wait_all();
    device::end_lane<kClock>(ring_->records, ring_->step, ring_->room, ring_->side, tag_,
                             device::low_half<kClock>(anchor), anchor, offered, ring_->lost);
    disable();
  }

 private:
  WS_DEVICE void disable() {
    at_ = last_ = 0;
    full_ = 1;  // where `at_` never comes
    is_lane_ = false;
    set_recording(false);
  }
  WS_DEVICE void set_recording(bool is_recording) {
    is_recording_ = is_recording;
    word_ = is_recording ? kWord : 0;
  }
  // `used` records are there already.
  WS_DEVICE void use_half(device::SharedAddress half, uint32_t used) {
    at_ = half + used * kWord;
    full_ = half + kHalfBytes;
    last_ = half + kHalfStep - kWord;
  }
  static WS_DEVICE Extension extended(Extension extension) {
    static_assert(kExtended, "payloads and tokens need FastProfiler<true, clock, true>");
    return extension;
  }
  static WS_DEVICE bool can_copy(const Ring& ring, const uint64_t* to) {
    return ring.step == 1 && to != nullptr && reinterpret_cast<uintptr>(to) % 16 == 0;
  }
  WS_DEVICE device::SharedAddress first_record() const {
    return device::shared_address(ring_->words);
  }
  WS_DEVICE uint64_t* word_at(device::SharedAddress at) const {
    return ring_->words + (at - first_record()) / kWord;
  }
  // Of `count` records those that there is a place for; the others are lost.
  WS_DEVICE uint32_t within(uint32_t count, uint32_t places) {
    if (count <= places) return count;
    ring_->lost += count - places;
    return places;
  }

  // A flush is no part of what begins or has ended: it comes before a begin's clock is read, and at
  // an end not at all. Only the leader reads and stores, by a predicate that stands: a compare that
  // a store or a branch waits for costs more than the store.
  WS_DEVICE void mark(uint32_t type, uint32_t event, Extension extension) {
    if (WS_UNLIKELY(at_ >= full_)) spill();
    if (is_recording_) store(at_, type, event, device::read_clock<kClock>(), extension);
    at_ += word_;
  }
  WS_DEVICE void mark_end(uint32_t event, Extension extension) {
    const device::SharedAddress at = at_ < last_ ? at_ : last_;
    if (is_recording_) store(at, kEnd, event, device::read_clock<kClock>(), extension);
    at_ += word_;
  }
  WS_DEVICE Token open(Ev event, Extension extension) {
    Token token = {event.id, kNoToken};
    if (WS_UNLIKELY(at_ >= full_)) spill();
    if (is_recording_) token.id = ring_->copied + (at_ - (full_ - kHalfBytes)) / kWord;
    mark(kBegin, event.id, extended(extension.with_token(token.id)));
    return token;
  }
  WS_DEVICE void close(Token token, Extension extension) {
    if (!is_lane_ || token.id == kNoToken) return;
    const uint32_t time = device::read_clock<kClock>();
    if (WS_UNLIKELY(at_ >= full_)) spill();
    store(at_, kEnd, token.event, time, extended(extension.with_token(token.id)));
    at_ += kWord;
  }
  WS_DEVICE void store(device::SharedAddress at, uint32_t type, uint32_t event, uint32_t time,
                       Extension extension) {
    device::store_shared<0>(at, tag_ | make_tag(0, event, type), time);
    if (kExtended) {
      device::store_shared<kExtensionOffset>(at, extension.payload, extension.flags);
    }
  }

  // The half that ends at `full_` is full: sends it off, waits until the other has been read, and
  // takes what lies in the slack along.
  WS_DEVICE void spill() {
    const device::SharedAddress half = full_ - kHalfBytes;
    if (ring_->whole != 0) {
      --ring_->whole;
      ring_->next += kHalf;
      device::copy_out(ring_->records + ring_->copied, half, kHalfBytes);
      if (kExtended && ring_->copies_extensions != 0) {
        device::copy_out(ring_->extensions + ring_->copied, half + kExtensionOffset, kHalfBytes);
        device::copy_wait<2>();
      } else {
        if (kExtended) put_extensions(half);
        device::copy_wait<1>();
      }
    } else {
      put_one_by_one(half, kHalf);
      device::copy_wait<0>();
    }
    ring_->copied += kHalf;
    const device::SharedAddress first = first_record();
    const device::SharedAddress other = half == first ? half + kHalfStep : first;
    const uint32_t over = within((at_ - full_) / kWord, kSlack);
    const uint64_t* const from = word_at(full_);
    uint64_t* const to = word_at(other);
    WS_NOT_UNROLLED
    for (uint32_t i = 0; i < over; ++i) {
      to[i] = from[i];
      if (kExtended) to[i + kExtensionOffset / kWord] = from[i + kExtensionOffset / kWord];
    }
    use_half(other, over);
  }
  // Of a half that is copied whole.
  WS_DEVICE void put_extensions(device::SharedAddress half) {
    if (ring_->extensions == nullptr) return;
    const uint64_t* words = word_at(half + kExtensionOffset);
    uint64_t* to = ring_->extensions + ring_->copied;
    WS_NOT_UNROLLED
    for (uint32_t i = 0; i < kHalf; ++i) device::store_global(to + i, words[i]);
  }
  WS_DEVICE void put_one_by_one(device::SharedAddress from, uint32_t count) {
    const uint32_t room = ring_->room, wrap = ring_->wrap, step = ring_->step;
    const uint64_t* words = word_at(from);
    // Slots that are used again must not be written by a copy that is still under way.
    if (wrap != kUncapped && ring_->next + count > room) device::copy_wait_all();
    uint32_t next = ring_->next;
    WS_NOT_UNROLLED
    for (uint32_t i = 0; i < count; ++i) {
      if (next == room) next = wrap;
      if (next == kUncapped) break;
      const uint64_t word = static_cast<uint64_t>(next++) * step;
      device::store_global(ring_->records + word, words[i]);
      if (kExtended && ring_->extensions != nullptr) {
        device::store_global(ring_->extensions + word, words[i + kExtensionOffset / kWord]);
      }
    }
    ring_->next = next;
  }

#if defined(__CUDACC_RTC__)
  using uintptr = uint64_t;
#else
  using uintptr = uintptr_t;
#endif

  Ring* ring_ = nullptr;
  device::SharedAddress at_ = 0;    // of the next record
  device::SharedAddress full_ = 1;  // end of the half that it is in
  device::SharedAddress last_ = 0;  // of the slack behind it
  uint32_t word_ = 0;               // what an event moves `at_` by: kWord or 0
  uint32_t tag_ = 0;
  bool is_lane_ = false;
  bool is_recording_ = false;
};

template <Clock kClock, bool kExtended, uint32_t kRecords>
class FastProfiler<false, kClock, kExtended, kRecords> : public DisabledProfiler {};

}  // namespace ws
