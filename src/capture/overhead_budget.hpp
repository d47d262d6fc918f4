// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

// When to record and for how long, so that what recording costs the program stays within a share of
// its time. Time earns the share, phases spend what they cost, and a phase begins when enough for
// it has been earned; only the first, at the start of a session, is taken on credit. Pauses differ
// in length by chance, so that phases do not fall in step with what the program repeats. Pure:
// times are the session's, costs are measured elsewhere. One thread.
namespace gpufl::capture {

// What a phase made the program wait for.
struct PhaseCost {
  int64_t switching_ns = 0;  // attaching and detaching
  int64_t running_ns = 0;    // while it was attached
  int64_t total_ns() const { return switching_ns + running_ns; }
};

class OverheadBudget {
 public:
  static constexpr int64_t kSecond_ns = 1'000'000'000;
  // The first phase: what a program that soon ends has to show.
  static constexpr int64_t kFirst_ns = 2 * kSecond_ns;
  // It ends early when it has cost what this time earns.
  static constexpr int64_t kFirstCredit_ns = 10 * kSecond_ns;
  // A phase is this long at least and at most; one that costs more than thought ends earlier.
  static constexpr int64_t kShortest_ns = kSecond_ns;
  static constexpr int64_t kLongest_ns = 10 * kSecond_ns;
  static constexpr int64_t kCutShort_ns = kSecond_ns / 4;
  // Detached at least so long between two.
  static constexpr int64_t kShortestPause_ns = kSecond_ns;
  // What was earned and not spent is kept for so long: a program that did nothing for an hour is
  // not slowed down for minutes afterwards.
  static constexpr int64_t kSavings_ns = 60 * kSecond_ns;
  // After an attempt that failed, then twice as long each time.
  static constexpr int64_t kFirstRetry_ns = 10 * kSecond_ns;
  static constexpr int64_t kLastRetry_ns = 600 * kSecond_ns;

  // `share`: 0.02 for two percent. Kept within 0.0001 and 1. `seed`: of the lengths of pauses.
  explicit OverheadBudget(double share, uint64_t seed = 0);

  // The earliest time at which the next phase may begin; in the past: now.
  int64_t next_begin_ns() const;
  // How long it is to be.
  int64_t phase_ns() const;
  // Whether a phase that has been attached for so long and has cost so much so far is over.
  bool is_over(int64_t now_ns, int64_t attached_ns, const PhaseCost& so_far) const;
  // A phase has ended.
  void spend(int64_t now_ns, int64_t attached_ns, const PhaseCost& cost);
  // It could not begin, and trying took so long.
  void fail(int64_t now_ns, int64_t took_ns);
  // Recording that the budget does not pay for has ended now.
  void rest(int64_t now_ns);
  // After either of these. `is_attached`: what was to be detached has stayed, and slows the program
  // down as before; so the next phase, which is to try again, begins soon, whatever was earned.
  void begin_pause(int64_t now_ns, bool is_attached);
  // The next phase has begun: what the pause has cost.
  int64_t end_pause(int64_t now_ns);

 private:
  double earned_at(int64_t now_ns) const;
  double needed_ns() const;
  double wanted_ns() const;

  const double share_;
  const uint64_t seed_;
  uint64_t phases_ = 0;
  // Of what a phase needs, earned before it begins: what is left over shortens the next pause, so
  // that pauses are as long as without it on average.
  double reserve_ = 0;
  bool is_first_ = true;
  double earned_ns_ = 0;  // as of `counted_ns_`; negative: a debt
  int64_t counted_ns_ = 0;
  int64_t not_before_ns_ = 0;
  int64_t retry_ns_ = kFirstRetry_ns;
  std::optional<int64_t> stays_since_ns_;  // attached in a pause
  int64_t detach_retry_ns_ = kFirstRetry_ns;
  // What phases have cost: the switches of one, and a nanosecond of being attached.
  double switching_ns_ = 0;
  double rate_ = 0;
};

}  // namespace gpufl::capture
