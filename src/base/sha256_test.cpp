// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace gpufl::base {
namespace {

std::string hash_of(std::string_view text) {
  Sha256 hash;
  hash.add(text);
  return hash.finish();
}

// What the standard's examples say.
TEST(Sha256, IsWhatTheStandardSays) {
  EXPECT_EQ(hash_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hash_of(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, IsTheSameHoweverTheBytesCome) {
  const std::string text(1000, 'x');
  for (size_t step = 1; step < 200; step += 7) {
    Sha256 hash;
    for (size_t at = 0; at < text.size(); at += step) hash.add(text.substr(at, step));
    EXPECT_EQ(hash.finish(), hash_of(text)) << step;
  }
}

TEST(Sha256, ReadsFiles) {
  const std::filesystem::path file =
      std::filesystem::path(testing::TempDir()) / "gpufl_sha256_test";
  std::ofstream(file) << "abc";
  EXPECT_EQ(sha256_of(file).value(), hash_of("abc"));
  std::filesystem::remove(file);
  EXPECT_FALSE(sha256_of(file));
}

}  // namespace
}  // namespace gpufl::base
