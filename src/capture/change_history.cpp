// SPDX-License-Identifier: Apache-2.0
#include "capture/change_history.hpp"

#include <algorithm>
#include <new>

namespace gpufl::capture {

void ChangeHistory::add(int64_t time_ns, int64_t value) {
  // Older than everything kept, of which the beginning is forgotten: so is this.
  if (has_forgotten_ && time_ns < change(0).time_ns) return;
  if (size_ == changes_.size()) make_room(time_ns);
  known_until_ns_ = known_from_ns_;
  size_t place = size_;
  while (place > 0 && change(place - 1).time_ns > time_ns) --place;
  ++size_;
  for (size_t i = size_ - 1; i > place; --i) change(i) = change(i - 1);
  change(place) = {time_ns, value};
}

void ChangeHistory::make_room(int64_t now_ns) {
  const bool is_needed = size_ < kFirst || change(1).time_ns >= now_ns - kKeepNs;
  if (is_needed && grow()) return;
  first_ = (first_ + 1) & (changes_.size() - 1);
  --size_;
  has_forgotten_ = true;
}

bool ChangeHistory::grow() {
  const size_t more = std::max(kFirst, changes_.size());
  const size_t paid = changes_.empty() ? 0 : more;
  if (paid > *budget_) return false;
  std::vector<Change> larger;
  try {
    larger.resize(changes_.size() + more);
  } catch (const std::bad_alloc&) {
    if (changes_.empty()) throw;
    return false;
  }
  for (size_t i = 0; i < size_; ++i) larger[i] = change(i);
  changes_.swap(larger);
  first_ = 0;
  *budget_ -= paid;
  return true;
}

std::optional<int64_t> ChangeHistory::search(int64_t time_ns) {
  constexpr size_t kSteps = 8;
  if (size_ == 0 || time_ns < change(0).time_ns) {
    if (has_forgotten_) return std::nullopt;
    return 0;
  }
  size_t low = 0, high = size_;  // the last change at or before `time_ns` is in [low, high)
  if (last_found_ < size_ && change(last_found_).time_ns <= time_ns) {
    low = last_found_;
    for (size_t i = 1; i <= kSteps && low + 1 < size_ && change(low + 1).time_ns <= time_ns; ++i) {
      ++low;
    }
    if (low + 1 == size_ || change(low + 1).time_ns > time_ns) high = low + 1;
  }
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    (change(middle).time_ns <= time_ns ? low : high) = middle;
  }
  last_found_ = low;
  known_from_ns_ = change(low).time_ns;
  known_until_ns_ = low + 1 < size_ ? change(low + 1).time_ns : std::numeric_limits<int64_t>::max();
  known_value_ = change(low).value;
  return known_value_;
}

std::optional<bool> ChangeHistory::differs(int64_t begin_ns, int64_t end_ns, int64_t value) {
  const std::optional<int64_t> at_begin = at(begin_ns);
  if (!at_begin) return std::nullopt;
  if (*at_begin != value) return true;
  const bool is_before_all = size_ == 0 || begin_ns < change(0).time_ns;
  for (size_t i = is_before_all ? 0 : last_found_ + 1; i < size_; ++i) {
    if (change(i).time_ns >= end_ns) return false;
    if (change(i).value != value) return true;
  }
  return false;
}

}  // namespace gpufl::capture
