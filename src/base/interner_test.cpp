// SPDX-License-Identifier: Apache-2.0
#include "base/interner.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace gpufl::base {
namespace {

// Static, here as in the library: an Interner frees nothing.
TEST(Interner, SameContentSameId) {
  static Interner names(256, 1 << 20);
  char first[] = "forward";
  const std::string second = "forward";
  const uint32_t id = names.intern(first);
  EXPECT_EQ(names.intern(second), id);
  first[0] = 'F';  // the same address, other content
  EXPECT_NE(names.intern(first), id);
  EXPECT_EQ(names.text(id), "forward");
}

TEST(Interner, TextsOfEveryLengthStayApart) {
  static Interner names(1024, 1 << 20);
  std::vector<uint32_t> ids;
  std::vector<std::string> texts;
  for (size_t length = 1; length < 40; ++length) {
    for (const char c : {'a', 'b'}) {
      texts.emplace_back(length, 'x').back() = c;
      ids.push_back(names.intern(texts.back()));
    }
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(names.text(ids[i]), texts[i]);
    EXPECT_EQ(names.intern(texts[i]), ids[i]);
  }
}

TEST(Interner, EmptyIsItsOwn) {
  static Interner names(256, 1 << 20);
  EXPECT_EQ(names.intern(""), Interner::kEmptyId);
  EXPECT_EQ(names.text(Interner::kEmptyId), "");
}

TEST(Interner, BoundInEntries) {
  static Interner names(256, 1 << 20);
  for (int i = 0; i < 300; ++i) names.intern("name " + std::to_string(i));
  EXPECT_EQ(names.size(), 256u);
  EXPECT_EQ(names.overflowed(), 300u - (256 - Interner::kFirstFreeId));
  EXPECT_EQ(names.intern("another"), Interner::kOverflowId);
  EXPECT_EQ(names.text(Interner::kOverflowId), "<overflow>");
  EXPECT_NE(names.intern("name 0"), Interner::kOverflowId);
}

TEST(Interner, BoundInBytes) {
  static Interner names(256, 100);
  EXPECT_NE(names.intern(std::string(60, 'a')), Interner::kOverflowId);
  EXPECT_EQ(names.intern(std::string(60, 'b')), Interner::kOverflowId);
}

TEST(Interner, LongTextsAreCut) {
  static Interner names(256, 1 << 20);
  const std::string text(Interner::kMaxTextBytes + 100, 'n');
  EXPECT_EQ(names.text(names.intern(text)).size(), Interner::kMaxTextBytes);
  EXPECT_EQ(names.overflowed(), 1u);
  const std::string fitting(Interner::kMaxTextBytes, 'f');
  EXPECT_EQ(names.text(names.intern(fitting)), fitting);
  EXPECT_EQ(names.overflowed(), 1u);
}

TEST(Interner, ClearGivesTheRoomBack) {
  static Interner names(256, 1 << 20);
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(names.is_empty());
    for (int i = 0; i < 300; ++i) names.intern("round " + std::to_string(round * 1000 + i));
    EXPECT_EQ(names.size(), 256u);
    EXPECT_EQ(names.text(Interner::kFirstFreeId), "round " + std::to_string(round * 1000));
    names.clear();
  }
}

TEST(Interner, ThreadsAgree) {
  static Interner names(4096, 1 << 20);
  constexpr int kThreads = 4, kNames = 2000;
  std::vector<std::vector<uint32_t>> ids(kThreads);
  std::vector<std::thread> threads;
  for (auto& mine : ids) {
    threads.emplace_back([&] {
      for (int i = 0; i < kNames; ++i) mine.push_back(names.intern("n" + std::to_string(i)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < kNames; ++i) {
    for (const auto& mine : ids) EXPECT_EQ(mine[i], ids[0][i]);
    EXPECT_EQ(names.text(ids[0][i]), "n" + std::to_string(i));
  }
  EXPECT_EQ(names.size(), kNames + Interner::kFirstFreeId);
}

}  // namespace
}  // namespace gpufl::base
