// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Notices that launches go on and no buffer comes: a kernel runs for long, and the vendor
// keeps back what came after it, or another tool has registered for the vendor's buffers, which may
// take every record from us without a word. A buffer that comes after all takes it back. One
// thread.
namespace gpufl::backend {

class SilenceWatch {
 public:
  static constexpr int64_t kSilenceNs = 1'000'000'000;

  void on_buffers(uint64_t delivered) {
    if (delivered == delivered_) return;
    delivered_ = delivered;
    first_launch_ns_ = last_launch_ns_ = 0;
  }
  void on_launch(int64_t time_ns) {
    if (first_launch_ns_ == 0) first_launch_ns_ = time_ns;
    last_launch_ns_ = time_ns;
  }
  bool is_silent() const { return last_launch_ns_ - first_launch_ns_ >= kSilenceNs; }

 private:
  uint64_t delivered_ = 0;
  int64_t first_launch_ns_ = 0, last_launch_ns_ = 0;  // since a buffer came; 0: none
};

}  // namespace gpufl::backend
