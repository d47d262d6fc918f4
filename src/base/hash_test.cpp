// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <vector>

namespace gpufl::base {
namespace {

std::vector<unsigned char> counting_bytes(size_t size) {
  std::vector<unsigned char> bytes(size);
  std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
  return bytes;
}

TEST(Xxh64, GivesThePublishedValues) {
  struct {
    std::string_view text;
    uint64_t plain, seeded;
  } const known[] = {
      {"", 0xef46db3751d8e999, 0xac75fda2929b17ef},
      {"a", 0xd24ec4f1a98c6e5b, 0x393da8b78992279b},
      {"abc", 0x44bc2cf5ad770999, 0x1318df30094a85fd},
      {"abcd", 0xde0327b0d25d92cc, 0x66150d50767198ee},
      {"message digest", 0x066ed728fceeb3be, 0xa12eb2b52cde838e},
  };
  for (const auto& k : known) {
    EXPECT_EQ(xxh64(k.text.data(), k.text.size()), k.plain) << k.text;
    EXPECT_EQ(xxh64(k.text.data(), k.text.size(), 2654435761U), k.seeded) << k.text;
  }
}

TEST(Xxh64, GivesTheKnownValuesAroundAStripe) {
  struct {
    size_t size;
    uint64_t plain, seeded;
  } const known[] = {
      {31, 0xc346d2b59b4d8ee1, 0x71969c89a30a986a},  {32, 0xcbf59c5116ff32b4, 0x7181354774e0d600},
      {33, 0x0c535d1acafb8ead, 0x57bd8ad0a0390e6d},  {63, 0xe26aa9e2a95f8e4f, 0x892362045c7badfb},
      {257, 0x80381162756d40e6, 0x9b7b88dc122776f0},
  };
  for (const auto& k : known) {
    const auto bytes = counting_bytes(k.size);
    EXPECT_EQ(xxh64(bytes.data(), bytes.size()), k.plain) << k.size;
    EXPECT_EQ(xxh64(bytes.data(), bytes.size(), 2654435761U), k.seeded) << k.size;
  }
}

TEST(Xxh64, DoesNotDependOnTheCuts) {
  const auto bytes = counting_bytes(1000);
  const uint64_t whole = xxh64(bytes.data(), bytes.size());
  for (size_t piece : {1, 7, 31, 32, 33, 100, 999}) {
    Xxh64 hash;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      hash.update(bytes.data() + at, std::min(piece, bytes.size() - at));
    }
    EXPECT_EQ(hash.digest(), whole) << piece;
  }
}

TEST(Xxh64, TextHasSixteenDigits) {
  EXPECT_EQ(xxh64_text(0x066ed728fceeb3be), "xxh64:066ed728fceeb3be");
  EXPECT_EQ(xxh64_text(0), "xxh64:0000000000000000");
}

}  // namespace
}  // namespace gpufl::base
