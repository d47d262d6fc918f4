// SPDX-License-Identifier: Apache-2.0
#include "symbols/thread_stack.hpp"

#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace gpufl::symbols {

namespace {

struct CachedStack {
  ThreadStack stack;
  bool is_known;
};

// initial-exec: a first touch must not allocate inside of a vendor's callback.
__attribute__((tls_model("initial-exec"))) constinit thread_local CachedStack t_stack{};

[[gnu::noinline]] void ask_system() {
  const int saved_errno = errno;  // the program's
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void* begin = nullptr;
    size_t size = 0;
    if (pthread_attr_getstack(&attributes, &begin, &size) == 0) {
      t_stack.stack.begin = reinterpret_cast<uintptr_t>(begin);
      t_stack.stack.end = t_stack.stack.begin + size;
    }
    pthread_attr_destroy(&attributes);
  }
  t_stack.is_known = true;
  errno = saved_errno;
}

}  // namespace

ThreadStack thread_stack() noexcept {
  if (!t_stack.is_known) ask_system();
  return t_stack.stack;
}

bool ForeignStack::load(uintptr_t address, uintptr_t& value) {
  constexpr uintptr_t kPageBytes = 4096;
  if (address % sizeof(value) != 0) return false;
  if (address < window_begin_ || address >= window_end_) {
    const int saved_errno = errno;
    // Within a page all or nothing is readable.
    const uintptr_t page_end = (address | (kPageBytes - 1)) + 1;
    const size_t size = std::min<uintptr_t>(kWindowBytes, page_end - address);
    const iovec local{window_, size};
    const iovec remote{at_address(address), size};
    const ssize_t copied = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    errno = saved_errno;
    window_begin_ = address;
    window_end_ = copied == static_cast<ssize_t>(size) ? address + size : address;
    if (window_end_ == address) return false;
  }
  value = window_[(address - window_begin_) / sizeof(value)];
  return true;
}

}  // namespace gpufl::symbols
