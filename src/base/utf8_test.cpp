// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gpufl::base {
namespace {

std::string encoded(const wchar_t* text, size_t room = 256) {
  std::string out(room, '\0');
  out.resize(encode_utf8(text, out));
  return out;
}

TEST(Utf8, EveryLength) {
  EXPECT_EQ(encoded(L""), "");
  EXPECT_EQ(encoded(L"Az\x7f"), "Az\x7f");
  EXPECT_EQ(encoded(L"\x80\x7ff"), "\xC2\x80\xDF\xBF");
  EXPECT_EQ(encoded(L"\x800\xffff"), "\xE0\xA0\x80\xEF\xBF\xBF");
  EXPECT_EQ(encoded(L"\x10000\x10ffff"), "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF");
}

TEST(Utf8, WhatIsNoCharacterIsReplaced) {
  const wchar_t text[] = {0xD800, 0xDFFF, 0x110000, static_cast<wchar_t>(-1), 'x', 0};
  EXPECT_EQ(encoded(text), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDx");
}

TEST(Utf8, CutBetweenCharacters) {
  EXPECT_EQ(encoded(L"\x10000\x10000", 7), "\xF0\x90\x80\x80");
  EXPECT_EQ(encoded(L"\x10000\x10000", 8).size(), 8U);
  EXPECT_EQ(encoded(L"abc", 3), "");
}

}  // namespace
}  // namespace gpufl::base
