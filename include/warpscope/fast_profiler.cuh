// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpscope/profiler.cuh>

namespace ws {

// Records into a ring in shared memory, one for each lane, and copies it out half by half: by the
// bulk copy engine where there is one (sm_90 and newer), else by the leader. No fences, and a clock
// read is not waited for: its record is stored by the next event. Content and calls are Profiler's;
// what it marks is when the leader issued an instruction, not when the memory operations before it
// were done. The capture should have placement lanes; others are copied word by word. Bulk copies
// are grouped by the leader's thread: its own waits for such groups then wait for these, too.
template <bool kEnable = true, Clock kClock = Clock::Globaltimer, bool kExtended = false,
          uint32_t kRecords = 128>
class FastProfiler {
  static_assert(kRecords >= 4 && kRecords % 4 == 0, "halves of a ring are copied in 16 bytes");
  static constexpr uint32_t kWord = 8;
  static constexpr uint32_t kHalf = kRecords / 2;
  static constexpr uint32_t kHalfBytes = kHalf * kWord;
  static constexpr uint32_t kBefore = 2;  // words in front of a ring
  static constexpr uint32_t kExtensionOffset = (kBefore + kRecords) * kWord;

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
    uint32_t whole;              // halves that still fit and lie one behind the other
    uint32_t copies_extensions;  // not 0: halves of extension words are copied whole, too
    Window window;
    // The word before the first takes the store of what was pending before the first event.
    alignas(16) uint64_t words[(kExtended ? 2 : 1) * (kBefore + kRecords)];
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
    ring.whole = can_copy(ring, ring.records) ? ring.room / kHalf : 0;
    ring.copies_extensions = kExtended && can_copy(ring, ring.extensions) ? 1 : 0;
    ring.window = capture.window;
    tag_ = start.lane << 12;
    at_ = first_record() - kWord;
    end_ = first_record() + kHalfBytes;
    lane_ = recording_ = kWord;
  }

  WS_DEVICE void tile(uint32_t i) {
    if (lane_ != 0) set_recording(ring_->window.has_tile(i) ? kWord : 0);
  }

  WS_DEVICE void start(Ev event) { begin(event.id, Extension::none()); }
  WS_DEVICE void end(Ev event) { mark(kEnd, event.id, Extension::none()); }
  WS_DEVICE void inst(Ev event) { mark(kInstant, event.id, Extension::none()); }
  WS_DEVICE void start(Ev event, uint32_t payload) {
    begin(event.id, extended(Extension::of_payload(payload)));
  }
  WS_DEVICE void end(Ev event, uint32_t payload) {
    mark(kEnd, event.id, extended(Extension::of_payload(payload)));
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
    if (lane_ == 0) return;
    const device::Anchor anchor = device::read_anchor<kClock>();
    set_recording(kWord);
    if (WS_UNLIKELY(at_ == end_)) spill();
    store_pending();
    const uint32_t left = (at_ - (end_ - kHalfBytes)) / kWord;
    put_one_by_one(end_ - kHalfBytes, left);
    const uint32_t offered = ring_->copied + left;
    device::copy_wait_all();
    device::end_lane<kClock>(ring_->records, ring_->step, ring_->room, ring_->side, tag_,
                             device::low_half<kClock>(anchor), anchor, offered);
    disable();
  }

 private:
  WS_DEVICE void disable() {
    at_ = 0;
    end_ = 1;  // where `at_` never comes
    lane_ = recording_ = 0;
  }
  static WS_DEVICE Extension extended(Extension extension) {
    static_assert(kExtended, "payloads and tokens need FastProfiler<true, clock, true>");
    return extension;
  }
  static WS_DEVICE bool can_copy(const Ring& ring, const uint64_t* to) {
    return ring.step == 1 && to != nullptr && reinterpret_cast<uintptr>(to) % 16 == 0;
  }
  WS_DEVICE device::SharedAddress first_record() const {
    return device::shared_address(ring_->words + kBefore);
  }
  WS_DEVICE const uint64_t* word_at(device::SharedAddress at) const {
    return ring_->words + (at - device::shared_address(ring_->words)) / kWord;
  }

  // A flush is no part of what begins or has ended. The clock is read before the pending record is
  // stored, so that the store waits for a read that was long ago; but where every cycle counts, not
  // between a begin and what it begins.
  WS_DEVICE void begin(uint32_t event, Extension extension) {
    if (WS_UNLIKELY(at_ == end_)) spill();
    uint32_t time = 0;
    if (kClock == Clock::Globaltimer) time = device::read_clock<kClock>();
    store_pending();
    if (kClock == Clock::Cycles) time = device::read_clock<kClock>();
    set_pending(kBegin, event, time, extension);
  }
  WS_DEVICE void mark(uint32_t type, uint32_t event, Extension extension) {
    const uint32_t time = device::read_clock<kClock>();
    if (WS_UNLIKELY(at_ == end_)) spill();
    store_pending();
    set_pending(type, event, time, extension);
  }
  WS_DEVICE Token open(Ev event, Extension extension) {
    Token token = {event.id, kNoToken};
    if (recording_ != 0) {
      token.id = ring_->copied + (at_ + kWord - (end_ - kHalfBytes)) / kWord;
    }
    begin(event.id, extended(extension.with_token(token.id)));
    return token;
  }
  WS_DEVICE void close(Token token, Extension extension) {
    const uint32_t recording = recording_;
    if (lane_ != 0) set_recording(token.id != kNoToken ? kWord : 0);
    mark(kEnd, token.event, extended(extension.with_token(token.id)));
    if (lane_ != 0) set_recording(recording);
  }

  WS_DEVICE void store_pending() {
    device::store_shared<0>(at_, pending_, recording_);
    if (kExtended) {
      device::store_shared<kExtensionOffset>(at_, pending_extension_, recording_);
    }
    at_ += recording_;
  }
  WS_DEVICE void set_pending(uint32_t type, uint32_t event, uint32_t time, Extension extension) {
    pending_ = make_record(time, tag_ | make_tag(0, event, type));
    if (kExtended) pending_extension_ = extension.word();
  }
  // Events that are not recorded spoil what is pending, so it waits in its slot as long as they
  // come.
  WS_DEVICE void set_recording(uint32_t recording) {
    if (recording == recording_) return;
    if (WS_UNLIKELY(at_ == end_)) spill();
    if (recording == 0) {
      const device::SharedAddress at = at_;
      store_pending();
      at_ = at;
    } else {
      const uint64_t* word = word_at(at_);
      pending_ = word[0];
      if (kExtended) pending_extension_ = word[kExtensionOffset / kWord];
    }
    recording_ = recording;
  }

  // The half that ends at `end_` is full: sends it off, and waits until the other has been read.
  WS_DEVICE void spill() {
    const device::SharedAddress half = end_ - kHalfBytes;
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
    if (at_ == first + 2 * kHalfBytes) at_ = first;
    end_ = at_ + kHalfBytes;
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
  device::SharedAddress at_ = 0;   // of the pending record
  device::SharedAddress end_ = 1;  // of the half that it is in
  uint32_t lane_ = 0;
  uint32_t recording_ = 0;  // kWord or 0: what an event moves `at_` by
  uint32_t tag_ = 0;
  uint64_t pending_ = 0;
  uint64_t pending_extension_ = 0;
};

template <Clock kClock, bool kExtended, uint32_t kRecords>
class FastProfiler<false, kClock, kExtended, kRecords> : public DisabledProfiler {};

}  // namespace ws
