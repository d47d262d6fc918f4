// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

// A set of numbers that mostly follow one another, kept as runs of them: ids that a session gave
// out one by one take a run for each that is missing between them. One thread.
namespace gpufl::index {

class IdSet {
 public:
  explicit IdSet(size_t most_runs) : most_runs_(most_runs) {}

  void add(int64_t id) {
    auto next = runs_.upper_bound(id);
    if (next != runs_.begin()) {
      const auto before = std::prev(next);
      if (id <= before->second) return;
      if (id - 1 == before->second) {
        before->second = id;
        if (next != runs_.end() && next->first - 1 == id) {
          before->second = next->second;
          runs_.erase(next);
        }
        return;
      }
    }
    if (next != runs_.end() && next->first - 1 == id) {
      const int64_t last = next->second;
      next = runs_.erase(next);
      runs_.emplace_hint(next, id, last);
    } else if (runs_.size() < most_runs_) {
      runs_.emplace_hint(next, id, id);
    }
  }
  bool contains(int64_t id) const {
    const auto next = runs_.upper_bound(id);
    return next != runs_.begin() && id <= std::prev(next)->second;
  }
  size_t runs() const { return runs_.size(); }

 private:
  size_t most_runs_;
  std::map<int64_t, int64_t> runs_;  // first and last of each
};

}  // namespace gpufl::index
