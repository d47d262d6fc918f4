// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "symbols/address.hpp"

// What an unwinder may read. The first question of a thread asks the system; later ones are two
// loads. Sanitizers must not look at these reads: they are of memory that compiled code does not
// share with us by any rule of the language (other frames, gaps between variables), on purpose.
namespace gpufl::symbols {

#define GPUFL_READS_STACK __attribute__((no_sanitize("address"), no_sanitize("thread")))

struct ThreadStack {
  uintptr_t begin = 0, end = 0;  // both 0: the system would not tell

  bool contains(uintptr_t address) const { return address >= begin && address < end; }
};

// Where the calling thread's own stack lies. The main thread's includes what it may still grow to.
ThreadStack thread_stack() noexcept;

// The calling thread's stack from its top frame to its end: mapped for as long as we run on it.
class OwnStack {
 public:
  OwnStack(uintptr_t begin, uintptr_t end) : begin_(begin), size_(end - begin) {}

  GPUFL_READS_STACK bool load(uintptr_t address, uintptr_t& value) const {
    if (address % sizeof(value) != 0 || address - begin_ > size_ - sizeof(value)) return false;
    value = *reinterpret_cast<const uintptr_t*>(at_address(address));
    return true;
  }
  bool may_continue_at(uintptr_t from, uintptr_t rsp) const {
    return rsp > from && rsp - begin_ < size_;
  }

 private:
  uintptr_t begin_, size_;
};

// A stack of which nobody tells the end: a coroutine's, or one for signals. The kernel copies what
// is read, so that what is not mapped is an answer and not a crash. A system call every few frames.
class ForeignStack {
 public:
  bool load(uintptr_t address, uintptr_t& value);
  // A signal that came on a stack of its own interrupted another one.
  static bool may_continue_at(uintptr_t, uintptr_t) { return true; }

 private:
  static constexpr size_t kWindowBytes = 1024;

  uintptr_t window_[kWindowBytes / sizeof(uintptr_t)];
  uintptr_t window_begin_ = 0, window_end_ = 0;
};

}  // namespace gpufl::symbols
