// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/code/fat_binary.hpp"

#include <gtest/gtest.h>

#include "backend/nvidia/code/code_fixture.hpp"
#include "backend/nvidia/code/cubin_functions.hpp"
#include "backend/nvidia/code/lz4_block.hpp"

namespace gpufl::backend {
namespace {

using namespace std::string_literals;
using code_fixture::fixture;

struct Unpacked {
  uint32_t architecture;
  FatCubin::Packing packing;
  std::string image;
};

std::vector<Unpacked> unpack_all(std::string_view bytes, FileRange range) {
  std::vector<Unpacked> all;
  CubinUnpacker unpacker;
  const ReadAt read = read_from(bytes);
  for_each_cubin(read, range, [&](const FatCubin& cubin) {
    all.push_back({cubin.architecture, cubin.packing, std::string(unpacker.unpack(read, cubin))});
    return true;
  });
  return all;
}

std::vector<Unpacked> unpack_all(std::string_view fat_binary) {
  return unpack_all(fat_binary, {0, fat_binary.size()});
}

TEST(FatBinaryTest, HasTheSameImagesHoweverTheyArePacked) {
  const auto plain = unpack_all(fixture("plain.fatbin"));
  ASSERT_EQ(plain.size(), 2u);
  EXPECT_EQ(plain[0].architecture, 80u);
  EXPECT_EQ(plain[1].architecture, 90u);
  EXPECT_EQ(plain[1].image, code_fixture::cubin());
  for (const char* name : {"lz4.fatbin", "zstd.fatbin"}) {
    const auto packed = unpack_all(fixture(name));
    ASSERT_EQ(packed.size(), 2u) << name;
    EXPECT_NE(packed[0].packing, FatCubin::Packing::None) << name;
    EXPECT_EQ(packed[0].image, plain[0].image) << name;
    EXPECT_EQ(packed[1].image, plain[1].image) << name;
  }
}

TEST(FatBinaryTest, IsFoundInAnElfFile) {
  const std::string file = fixture("two_kernels.elf");
  const auto ranges = fat_binary_sections(read_from(file));
  ASSERT_EQ(ranges.size(), 1u);
  const auto images = unpack_all(file, ranges[0]);
  ASSERT_EQ(images.size(), 2u);
  EXPECT_EQ(images[1].image, code_fixture::cubin());
  EXPECT_TRUE(fat_binary_sections(read_from(code_fixture::cubin())).empty());
}

TEST(FatBinaryTest, SeveralInARowWithGaps) {
  const std::string one = fixture("zstd.fatbin");
  const auto images = unpack_all(one + std::string(24, '\0') + one);
  EXPECT_EQ(images.size(), 4u);
}

TEST(FatBinaryTest, StopsWhereTheVisitorHasSeenEnough) {
  const std::string bytes = fixture("plain.fatbin");
  int seen = 0;
  for_each_cubin(read_from(bytes), {0, bytes.size()}, [&](const FatCubin&) { return ++seen < 1; });
  EXPECT_EQ(seen, 1);
}

TEST(FatBinaryTest, CutFilesNeverLeadOutside) {
  for (const char* name : {"plain.fatbin", "lz4.fatbin", "zstd.fatbin"}) {
    const std::string whole = fixture(name);
    for (size_t size = 0; size < whole.size(); size += 7) {
      const std::string cut = whole.substr(0, size);  // its end is the sanitizer's to watch
      for (const Unpacked& one : unpack_all(cut)) EXPECT_EQ(one.image, "") << name << " " << size;
    }
  }
  const std::string elf = fixture("two_kernels.elf");
  for (size_t size = 0; size < elf.size(); size += 13) {
    const std::string cut = elf.substr(0, size);
    EXPECT_TRUE(fat_binary_sections(read_from(cut)).empty()) << size;
  }
}

// Whatever a byte is changed to, what is read stays inside and is bounded.
TEST(FatBinaryTest, DamagedFilesNeverLeadOutside) {
  for (const char* name : {"lz4.fatbin", "zstd.fatbin", "two_kernels.elf"}) {
    std::string damaged = fixture(name);
    const bool is_elf = damaged.starts_with("\x7f"s);
    for (size_t at = 0; at < damaged.size(); at += is_elf ? 11 : 2) {
      const char before = damaged[at];
      for (const char value : {'\0', '\x7f', '\xff', static_cast<char>(before ^ 0x10)}) {
        damaged[at] = value;
        const auto ranges = is_elf ? fat_binary_sections(read_from(damaged))
                                   : std::vector<FileRange>{{0, damaged.size()}};
        for (const FileRange range : ranges) {
          for (const Unpacked& one : unpack_all(damaged, range)) cubin_functions(one.image);
        }
      }
      damaged[at] = before;
    }
  }
}

TEST(CubinFunctionsTest, AreKernelsAndDeviceFunctions) {
  const std::string image = code_fixture::cubin();
  const auto functions = cubin_functions(image);
  EXPECT_TRUE(std::binary_search(functions.begin(), functions.end(),
                                 function_key(code_fixture::kDoubleAll)));
  EXPECT_TRUE(
      std::binary_search(functions.begin(), functions.end(), function_key(code_fixture::kAddAll)));
  EXPECT_TRUE(cubin_functions(fixture("two_kernels.elf")).empty()) << "code of the host";
  for (size_t size = 0; size < image.size(); size += 11) cubin_functions(image.substr(0, size));
}

TEST(Lz4Test, Repeats) {
  std::string out;
  // "ab" and nine bytes more of it; "xyz".
  EXPECT_TRUE(
      unpack_lz4("\x25"s
                 "ab\x02\x00\x30xyz"s,
                 14, out));
  EXPECT_EQ(out, "abababababaxyz");
  // 15 literals and 5 more.
  EXPECT_TRUE(unpack_lz4("\xf0\x05"s + std::string(20, 'q'), 20, out));
  EXPECT_EQ(out, std::string(20, 'q'));
  EXPECT_TRUE(unpack_lz4("", 0, out));
}

TEST(Lz4Test, RefusesWhatIsWrong) {
  std::string out;
  EXPECT_FALSE(
      unpack_lz4("\x25"s
                 "ab\x02\x00\x30xyz"s,
                 13, out))
      << "too long";
  EXPECT_FALSE(
      unpack_lz4("\x25"s
                 "ab\x02\x00\x30xyz"s,
                 15, out))
      << "too short";
  EXPECT_FALSE(
      unpack_lz4("\x25"s
                 "ab\x03\x00\x30xyz"s,
                 14, out))
      << "before the beginning";
  EXPECT_FALSE(
      unpack_lz4("\x25"s
                 "ab\x00\x00\x30xyz"s,
                 14, out))
      << "no distance";
  EXPECT_FALSE(
      unpack_lz4("\x25"s
                 "ab\x02"s,
                 14, out))
      << "half a distance";
  EXPECT_FALSE(unpack_lz4("\xf0\xff"s, 300, out)) << "half a length";
  EXPECT_FALSE(
      unpack_lz4("\x50"s
                 "ab"s,
                 5, out))
      << "literals that are not there";
}

}  // namespace
}  // namespace gpufl::backend
