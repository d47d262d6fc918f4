// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <type_traits>

// A fixed number of zeroed elements of which only the touched pages take memory. Never grows. Where
// the system has no address space for it, size() is 0. T is all zero bits when fresh.
namespace gpufl::symbols {

template <typename T>
class LazyArray {
 public:
  static_assert(std::is_trivially_destructible_v<T>);

  explicit LazyArray(size_t size) {
    void* memory = mmap(nullptr, size * sizeof(T), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return;
    data_ = static_cast<T*>(memory);
    size_ = size;
  }
  ~LazyArray() {
    if (data_ != nullptr) munmap(data_, size_ * sizeof(T));
  }
  LazyArray(const LazyArray&) = delete;
  LazyArray& operator=(const LazyArray&) = delete;

  size_t size() const { return size_; }
  T* data() { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace gpufl::symbols
