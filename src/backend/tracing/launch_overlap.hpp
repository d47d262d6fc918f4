// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>

// Whether several threads of the program launch at the same time, as far as the launches of the
// last rounds show. The collector's thread.
namespace gpufl::backend {

class LaunchOverlap {
 public:
  void add(uint32_t thread, int64_t time_ns);
  // What was added since the last call is one round's.
  void end_round();
  // Once seen, it stays: a program that did so does so again.
  bool is_seen() const { return is_seen_; }

 private:
  struct Launches {
    uint32_t count = 0;
    int64_t first_ns = 0, last_ns = 0;
  };
  std::unordered_map<uint32_t, Launches> threads_;
  bool is_seen_ = false;
};

}  // namespace gpufl::backend
