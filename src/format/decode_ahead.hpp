// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/status.hpp"
#include "format/batch.hpp"
#include "format/batch_codec.hpp"

// Batch lines decoded by other threads while one reads on: taken out in the order in which they
// were put in. Threads start with the first line and end with the object. Put and take from one
// thread; a bounded number of lines is held.
namespace gpufl::format {

class DecodeAhead {
 public:
  // `workers`: besides the calling thread; 0: everything is decoded in put().
  explicit DecodeAhead(unsigned workers);
  ~DecodeAhead();
  DecodeAhead(const DecodeAhead&) = delete;
  DecodeAhead& operator=(const DecodeAhead&) = delete;

  struct Line {
    uint64_t number = 0;
    base::Status status;
    DecodeStats stats;
    Batch* batch = nullptr;  // empty unless `status` is ok
  };

  bool empty() const { return put_ == taken_; }
  bool full() const { return put_ - taken_ == slots_.size(); }
  // Copies `text`. Not when full.
  void put(Kind kind, uint64_t number, std::string_view text);
  // The oldest one, once it is decoded; good until the next put(). Not when empty. Throws what
  // decoding it threw.
  Line& take();

 private:
  struct Slot {
    Line line;
    std::array<std::unique_ptr<Batch>, kKindCount> batches;  // kept for the memory in them
    std::string text;
    std::exception_ptr failure;
    bool is_decoded = false;
  };

  void start_workers();
  void work();
  static void decode(BatchCodec& codec, std::string_view text, Slot& slot);
  Slot& slot(uint64_t at) { return slots_[at % slots_.size()]; }

  const unsigned wanted_workers_;
  std::vector<Slot> slots_;
  uint64_t put_ = 0, taken_ = 0;  // of the calling thread
  BatchCodec codec_;              // likewise

  std::mutex mutex_;
  std::condition_variable has_work_, is_decoded_;
  std::deque<Slot*> to_decode_;
  bool is_stopping_ = false;
  bool is_started_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace gpufl::format
