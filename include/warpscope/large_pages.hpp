// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#if defined(__linux__) && __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

// Memory that is about to be written once, all of it. A page fault for each 4 KiB takes twice as
// long as decoding what goes there, so Linux is asked for pages of 2 MiB; elsewhere this does
// nothing.
namespace ws {
namespace detail {

template <typename T>
void reserve_large(std::vector<T>& values, size_t count) {
  values.reserve(count);
#ifdef MADV_HUGEPAGE
  constexpr uintptr_t kPage = uintptr_t{1} << 21;
  const auto begin = reinterpret_cast<uintptr_t>(values.data());
  const size_t bytes = count * sizeof(T), before = (kPage - begin % kPage) % kPage;
  if (bytes < before + kPage) return;
  // Refused, it is only slower.
  static_cast<void>(madvise(reinterpret_cast<char*>(values.data()) + before,
                            (bytes - before) / kPage * kPage, MADV_HUGEPAGE));
#endif
}

}  // namespace detail
}  // namespace ws
