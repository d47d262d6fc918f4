// SPDX-License-Identifier: Apache-2.0
#include "base/page_allocator.hpp"

#include <malloc.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace gpufl::base {
namespace {

size_t pages_resident(const void* data, size_t bytes) {
  constexpr size_t kPage = 4096;
  const size_t to_page = (kPage - reinterpret_cast<uintptr_t>(data) % kPage) % kPage;
  char* const first = static_cast<char*>(const_cast<void*>(data)) + to_page;
  std::vector<unsigned char> is_resident((bytes + kPage - 1) / kPage);
  if (mincore(first, bytes, is_resident.data()) != 0) return 0;
  return std::accumulate(is_resident.begin(), is_resident.end(), size_t{0},
                         [](size_t sum, unsigned char byte) { return sum + (byte & 1); });
}

TEST(PageAllocator, GrowsAndShrinksWithItsValues) {
  PageVector<uint64_t> numbers;
  constexpr size_t kMany = 300'000;
  for (size_t i = 0; i < kMany; ++i) numbers.push_back(i);
  for (size_t i = 0; i < kMany; ++i) ASSERT_EQ(numbers[i], i);
  numbers.resize(10);  // back to the heap
  numbers.shrink_to_fit();
  EXPECT_EQ(numbers.back(), 9U);
  numbers.resize(kMany, 7);
  EXPECT_EQ(numbers[9], 9U);
  EXPECT_EQ(numbers.back(), 7U);
}

TEST(PageAllocator, WhatIsNotUsedIsNotResident) {
  PageVector<char> bytes;
  constexpr size_t kMany = size_t{4} << 20;
  bytes.reserve(kMany);
  bytes.resize(4096);
  EXPECT_EQ(pages_resident(bytes.data(), kMany), 1U);
}

TEST(PageAllocator, LargeBlocksLeaveTheHeapAlone) {
  const size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
  PageVector<char> bytes(size_t{1} << 20);
  PageString text(size_t{1} << 20, 'a');
  EXPECT_LT(mallinfo2().uordblks + mallinfo2().hblkhd, before + kMinPagesBytes);
  EXPECT_EQ(bytes.size(), text.size());
}

TEST(PageAllocator, WhatCannotBeHadIsAnError) {
  PageAllocator<uint64_t> allocator;
  EXPECT_THROW((void)allocator.allocate(std::numeric_limits<size_t>::max() / 16), std::bad_alloc);
  EXPECT_THROW((void)allocator.allocate(std::numeric_limits<size_t>::max() / 4),
               std::bad_array_new_length);
}

}  // namespace
}  // namespace gpufl::base
