// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <vector>

// Memory for containers that grow large for a while: pages of their own, which are the system's
// again at once. From the heap they would leave holes there, which stay resident for as long as the
// program runs, and more so in a thread that allocates now and then. Any thread. Large blocks cost
// two system calls and a page fault for each page that is used: for what is seldom made anew.
namespace gpufl::base {

inline constexpr size_t kMinPagesBytes = size_t{64} << 10;  // smaller blocks are the heap's

// Null: no memory. Resident as far as it is used.
inline void* map_pages(size_t bytes) noexcept {
  void* const pages =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  madvise(pages, bytes, MADV_NOHUGEPAGE);
  return pages;
}

template <typename T>
class PageAllocator {
 public:
  using value_type = T;

  PageAllocator() = default;
  template <typename Other>
  PageAllocator(const PageAllocator<Other>&) noexcept {}  // NOLINT(google-explicit-constructor)

  T* allocate(size_t count) {
    if (count < kMinPagesBytes / sizeof(T)) return std::allocator<T>().allocate(count);
    if (count > std::numeric_limits<size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
    void* const pages = map_pages(count * sizeof(T));
    if (pages == nullptr) throw std::bad_alloc();
    return static_cast<T*>(pages);
  }
  void deallocate(T* data, size_t count) noexcept {
    if (count < kMinPagesBytes / sizeof(T)) return std::allocator<T>().deallocate(data, count);
    munmap(data, count * sizeof(T));
  }

  friend bool operator==(const PageAllocator&, const PageAllocator&) { return true; }
};

template <typename T>
using PageVector = std::vector<T, PageAllocator<T>>;
using PageString = std::basic_string<char, std::char_traits<char>, PageAllocator<char>>;

}  // namespace gpufl::base
