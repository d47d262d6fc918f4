// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "base/status.hpp"

// Stops reading once a request is cancelled, which it asks once a batch. One thread.
namespace gpufl::index {

class CancelWatch {
 public:
  explicit CancelWatch(const std::function<bool()>& is_cancelled) : is_cancelled_(is_cancelled) {}

  // `line`: of the batch that is being read.
  bool goes_on(uint32_t line) {
    if (line == line_) return !is_over_;
    line_ = line;
    return goes_on();
  }
  bool goes_on() {
    is_over_ = is_over_ || (is_cancelled_ && is_cancelled_());
    return !is_over_;
  }
  bool is_over() const { return is_over_; }
  static base::Status status() { return {base::Code::Cancelled, "the request was cancelled"}; }

 private:
  const std::function<bool()>& is_cancelled_;
  uint32_t line_ = 0;
  bool is_over_ = false;
};

}  // namespace gpufl::index
