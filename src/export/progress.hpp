// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

// How far an export has come, in rows; calls back about a hundred times in all. One thread. Where
// the callback says so, writers leave out the rest, and what there is of the file goes.
namespace gpufl::exporting {

// False: stop.
using ProgressCallback = std::function<bool(uint64_t done, uint64_t total)>;

class Progress {
 public:
  Progress(uint64_t total, ProgressCallback callback)
      : total_(total), step_(total / kSteps + 1), next_(step_), callback_(std::move(callback)) {}

  void add(uint64_t rows) {
    done_ += rows;
    if (done_ < next_ || !callback_ || is_stopped_) return;
    next_ = done_ + step_;
    is_stopped_ = !callback_(done_, total_);
  }
  bool is_stopped() const { return is_stopped_; }

 private:
  static constexpr uint64_t kSteps = 100;
  uint64_t total_, done_ = 0, step_, next_;
  ProgressCallback callback_;
  bool is_stopped_ = false;
};

}  // namespace gpufl::exporting
