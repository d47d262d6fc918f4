// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "backend/backend.hpp"
#include "base/event_ring.hpp"
#include "base/interner.hpp"
#include "base/thread_rings.hpp"
#include "base/ticks.hpp"

// Where the program's marks and ranges are recorded: process-wide, older and younger than any
// session, whatever API they come by and however many copies of it are in the process. A backend's
// callbacks and framework_ranges.cpp produce, on the program's threads: once warm no lock, no
// allocation, no system call. One session at a time consumes.
namespace gpufl::backend::marker_recorder {

enum class MarkerEventKind : uint8_t { Mark, Push, Pop, Start, End };
enum class PayloadKind : uint8_t { None, Unsigned, Signed, Double, Float };

struct MarkerEvent {
  union {
    uint64_t ticks = 0;  // in a ring (base/ticks.hpp)
    int64_t time_ns;     // monotonic clock, when it is taken
  };
  uint64_t range = 0;    // Start and End; Push: the stack that it was made on, 0: not taken
  uint64_t payload = 0;  // its bits
  uint32_t text = 0;     // see text_of()
  uint32_t category = 0;
  uint32_t color = 0;
  uint16_t domain = 0;
  MarkerEventKind kind = MarkerEventKind::Mark;
  PayloadKind payload_kind = PayloadKind::None;

  uint32_t stack() const {
    return kind == MarkerEventKind::Push ? static_cast<uint32_t>(range) : 0;
  }
};
static_assert(sizeof(MarkerEvent) == 40);

// What names a range from its start to its end: session, ring and number. Never 0.
struct RangeId {
  uint64_t bits = 0;

  static RangeId make(uint32_t session, uint32_t ring, uint32_t number) {
    return {uint64_t{session & 0xffff} << 48 | uint64_t{ring & 0xffff} << 32 | number};
  }
  uint32_t session() const { return static_cast<uint32_t>(bits >> 48); }
};

inline constexpr uint32_t kMaxDomains = 256;

// A framework's operators make some 30,000 events between two rounds, and never rest, so that a
// ring would not grow.
inline constexpr uint32_t kMarkersPerThread = 65'536;

// Pushes that find no room are dropped with all that is pushed inside them, so that every pop which
// is recorded has its push.
class MarkerRing : public base::EventRing<MarkerEvent, kMarkersPerThread, kMarkersPerThread> {
 public:
  using EventRing::EventRing;

  void mark(uint32_t session, const MarkerEvent& event) noexcept {
    count_from(session);
    take(event, kMarginForEnds + pushed_ + 1);
  }
  // The level of the range in its domain, from 0.
  int push(uint32_t session, const MarkerEvent& event) noexcept {
    count_from(session);
    Levels& levels = levels_[event.domain];
    const uint32_t level = levels.open++;
    if (level >= levels.muted_from) {
      add(muted_);
    } else if (take(event, kMarginForEnds + pushed_ + 2)) {
      ++pushed_;
    } else {
      levels.muted_from = level;
    }
    return static_cast<int>(level);
  }
  // The level that the range had; -1 when none is open.
  int pop(uint32_t session, uint16_t domain) noexcept {
    count_from(session);
    Levels& levels = levels_[domain];
    if (levels.open == 0) {
      add(unmatched_);
      return -1;
    }
    const uint32_t level = --levels.open;
    if (level < levels.muted_from) {
      --pushed_;
      // Its push kept the room.
      take({.ticks = 0, .domain = domain, .kind = MarkerEventKind::Pop}, 1);
    } else if (level == levels.muted_from) {
      levels.muted_from = kNever;
    }
    return static_cast<int>(level);
  }
  // No id: dropped.
  RangeId start(uint32_t session, MarkerEvent event) noexcept {
    count_from(session);
    const RangeId id = RangeId::make(session, number(), ++last_range_);
    event.range = id.bits;
    return take(event, kMarginForEnds + pushed_ + 1) ? id : RangeId{};
  }
  void end(uint32_t session, RangeId id) noexcept {
    count_from(session);
    take({.ticks = 0, .range = id.bits, .kind = MarkerEventKind::End}, pushed_ + 1);
  }

  // Since the process began.
  uint64_t lost() const { return dropped() + muted_.load(std::memory_order_relaxed); }
  uint64_t unmatched_pops() const { return unmatched_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint64_t kMarginForEnds = 64;  // for ends of ranges that others may have begun
  static constexpr uint32_t kNever = UINT32_MAX;
  struct Levels {
    uint32_t open = 0;
    uint32_t muted_from = kNever;
  };

  // Ranges that were pushed before the session are not open in it.
  void count_from(uint32_t session) noexcept {
    if (!enter_session(session)) return;
    levels_.fill({});
    pushed_ = 0;
    has_counter_ = base::has_steady_counter();
  }
  bool take(const MarkerEvent& event, uint64_t room) noexcept {
    MarkerEvent* slot = claim_slot(room);
    if (slot == nullptr) return false;
    *slot = event;
    slot->ticks = base::read_ticks(has_counter_);
    publish();
    return true;
  }

  // The producer's.
  uint32_t pushed_ = 0;  // recorded, and not popped
  bool has_counter_ = false;
  uint32_t last_range_ = 0;
  std::atomic<uint64_t> muted_{0};
  std::atomic<uint64_t> unmatched_{0};
  std::array<Levels, kMaxDomains> levels_;
};

using Rings = base::ThreadRings<MarkerRing>;

// 0: nobody wants markers.
inline constinit std::atomic<uint32_t> g_active_session{0};

// Domains of which every range has a stack: a framework's, which says what the program's own lines
// asked for.
inline constexpr std::string_view kDomainsWithStacks[] = {"torch.op", "torch.module"};
inline constinit std::array<std::atomic<bool>, kMaxDomains> g_has_stacks{};
// Never destroyed; null: none are taken.
inline constinit std::atomic<StackRecorder*> g_stacks{nullptr};

// Names of domains; registered strings and other names that stay. Handles stay in the program's
// hands, so these are never forgotten.
inline constinit base::Interner g_domains{kMaxDomains, size_t{1} << 20};
inline constinit base::Interner g_kept_texts{65536, size_t{16} << 20};
// Everything else, forgotten after a session.
inline constinit base::Interner g_messages{65536, size_t{16} << 20};

// MarkerEvent::text is an id of g_messages, or with this bit one of g_kept_texts.
inline constexpr uint32_t kKeptText = uint32_t{1} << 31;
inline std::string_view text_of(uint32_t text) {
  return (text & kKeptText) != 0 ? g_kept_texts.text(text & ~kKeptText) : g_messages.text(text);
}

// `id` of g_domains, of which stacks are taken from here on where that is its domain's way.
uint32_t add_domain(uint32_t id);

inline uint32_t stack_for(uint16_t domain) noexcept {
  if (!g_has_stacks[domain].load(std::memory_order_relaxed)) return 0;
  StackRecorder* const stacks = g_stacks.load(std::memory_order_relaxed);
  return stacks != nullptr ? stacks->record() : 0;
}

// Calls `act` with the thread's ring and the session, or returns `otherwise` when nobody listens.
template <typename Result, typename Act>
Result record(Result otherwise, Act&& act) {
  uint32_t session = g_active_session.load(std::memory_order_relaxed);
  if (session == 0) return otherwise;
  MarkerRing* ring = Rings::of_thread(session);
  if (ring == nullptr) return otherwise;
  ring->enter();
  session = g_active_session.load(std::memory_order_acquire);  // again: messages may be forgotten
  Result result = session != 0 ? act(*ring, session) : otherwise;
  ring->leave();
  return result;
}

// What the program calls a category (of a domain) or a thread. Bounded: what is beyond is counted
// among texts_overflowed().
struct Label {
  enum class Kind : uint16_t { Category, Thread };
  Kind kind;
  uint16_t domain;
  uint32_t number;
  uint32_t text;  // of g_kept_texts
};
void add_label(Label::Kind kind, uint32_t domain, uint32_t number, uint32_t text) noexcept;
// Labels 0 .. label_count()-1, in the order in which they were given; a later one replaces.
uint32_t label_count();
Label label(uint32_t number);

// Becomes the consumer: events of earlier sessions are void. 0: another session is.
uint32_t attach();
void start_recording(uint32_t session, StackRecorder* stacks);
void stop_recording();  // threads may still be inside a push
void release();

uint64_t texts_overflowed();

}  // namespace gpufl::backend::marker_recorder
