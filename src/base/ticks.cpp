// SPDX-License-Identifier: Apache-2.0
#include "base/ticks.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

namespace gpufl::base {
namespace {

bool read_has_steady_counter() {
#if defined(__x86_64__)
  // The system gives the counter up as its clock when it finds it uneven.
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string name;
  return std::getline(file, name) && name == "tsc";
#elif defined(__aarch64__)
  return true;  // by its architecture
#else
  return false;
#endif
}

using Anchor = TickClock::Anchor;

// Ticks are placed soon after they were read: what lies further ahead is of a counter that has
// begun anew since.
constexpr int64_t kFarthestNs = 1'000'000'000;

double ns_per_tick(const Anchor& from, const Anchor& to) {
  return static_cast<double>(to.ns - from.ns) / static_cast<double>(to.ticks - from.ticks);
}

int64_t place(const Anchor& from, double rate, uint64_t ticks) {
  return from.ns +
         std::llround(static_cast<double>(static_cast<int64_t>(ticks - from.ticks)) * rate);
}

}  // namespace

bool has_steady_counter() {
  static const bool has = read_has_steady_counter();
  return has;
}

void TickClock::mark() {
  if (!is_counter_) return;
  constexpr int kTries = 5;
  Anchor best;
  uint64_t best_apart = UINT64_MAX;
  for (int i = 0; i < kTries; ++i) {
    const uint64_t before = read_counter();
    const int64_t ns = base::monotonic_ns();
    const uint64_t apart = read_counter() - before;
    if (apart < best_apart) {
      best = {before + apart / 2, ns};
      best_apart = apart;
    }
  }
  mark(best);
}

void TickClock::mark(Anchor both) {
  if (count_ != 0) {
    if (both.ns <= anchor(0).ns) return;            // a line needs two different places
    if (both.ticks <= anchor(0).ticks) count_ = 0;  // a counter that began anew, after a suspend
  }
  anchors_[count_++ % kAnchors] = both;
}

int64_t TickClock::monotonic_ns(uint64_t ticks) const {
  if (!is_counter_) return static_cast<int64_t>(ticks);
  const size_t kept = std::min(count_, kAnchors);
  if (kept < 2) return kept == 0 ? 0 : anchor(0).ns;
  const Anchor &newest = anchor(0), &oldest = anchor(kept - 1);
  if (ticks > newest.ticks) {
    return std::min(place(newest, ns_per_tick(oldest, newest), ticks), newest.ns + kFarthestNs);
  }
  for (size_t age = 1; age < kept; ++age) {
    const Anchor& from = anchor(age);
    if (ticks >= from.ticks) return place(from, ns_per_tick(from, anchor(age - 1)), ticks);
  }
  return place(oldest, ns_per_tick(oldest, newest), ticks);
}

}  // namespace gpufl::base
