// SPDX-License-Identifier: Apache-2.0
#include "format/seal.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <zstd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/hash.hpp"
#include "format/batch_codec.hpp"
#include "format/codings.hpp"

namespace gpufl::format {
namespace {

namespace fs = std::filesystem;

class SealTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "gpufl_seal_XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    dir_ = pattern;
  }
  void TearDown() override { fs::remove_all(dir_); }

  fs::path write(std::string_view name, std::string_view text) const {
    const fs::path path = dir_ / name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  struct Read {
    std::vector<std::string> lines;
    UnsealOutcome outcome;
  };
  static Read read(const fs::path& path, size_t max_line_bytes = size_t{64} << 20) {
    Read result;
    result.outcome = read_window(
        path,
        [&](std::string_view line) {
          result.lines.emplace_back(line);
          return true;
        },
        max_line_bytes);
    return result;
  }

  // Seals `text` and reads it back.
  Read seal_and_read(std::string_view text) {
    const fs::path raw = write("x.1.log", text);
    const fs::path sealed = dir_ / "x.1.log.zst";
    const auto result = seal_window(raw, sealed);
    EXPECT_TRUE(result.is_ok()) << result.status().text();
    if (!result) return {};
    window_ = *result;
    EXPECT_FALSE(fs::exists(dir_ / "x.1.log.zst.tmp"));
    return read(sealed);
  }

  fs::path dir_;
  SealedWindow window_;
};

Batch counters(size_t rows, int64_t first) {
  Batch batch(Kind::Counter);
  for (size_t row = 0; row < rows; ++row) {
    const auto i = first + static_cast<int64_t>(row);
    batch.push_row({1000 * i, 1 + i % 3, i * i});
  }
  return batch;
}

Batch memsets(size_t rows, int64_t first, int64_t device) {
  Batch batch(Kind::Memset);
  namespace c = memset_column;
  for (size_t row = 0; row < rows; ++row) {
    const auto i = first + static_cast<int64_t>(row);
    batch.mutable_column(c::kStart).push_back(32 * 100 * i + device);
    batch.mutable_column(c::kDuration).push_back(32 * (20 + i % 7));
    batch.mutable_column(c::kDevice).push_back(device);
    batch.mutable_column(c::kBytes).push_back(4096 * (i % 11));
  }
  batch.set_rows(rows);
  return batch;
}

std::string encoded(const Batch& batch) {
  std::string text;
  BatchCodec().encode(batch, text);
  return text;
}

TEST_F(SealTest, GathersSmallBatchesOfAKind) {
  std::string text = "{\"type\":\"session\",\"format\":1}\n";
  for (int i = 0; i < 500; ++i) text += encoded(counters(50, 50 * i));
  const Read sealed = seal_and_read(text);
  ASSERT_TRUE(sealed.outcome.status.is_ok());
  // 25,000 rows: two lines.
  ASSERT_EQ(sealed.lines.size(), 3U);
  EXPECT_EQ(sealed.lines[0], "{\"type\":\"session\",\"format\":1}");
  EXPECT_EQ(window_.lines, 3U);
  EXPECT_EQ(window_.rows, 25'000U);
  EXPECT_EQ(window_.first_ns, 0);
  EXPECT_EQ(window_.last_ns, 24'999'000);
  EXPECT_LT(window_.raw_bytes, text.size());
  EXPECT_EQ(window_.sealed_bytes, fs::file_size(dir_ / "x.1.log.zst"));

  BatchCodec codec;
  Batch batch(Kind::Counter);
  int64_t next = 0;
  for (size_t i = 1; i < 3; ++i) {
    ASSERT_TRUE(codec.decode(sealed.lines[i], batch).is_ok());
    for (size_t row = 0; row < batch.rows(); ++row, ++next) {
      ASSERT_EQ(batch.column(counter_column::kTime)[row], 1000 * next);
      ASSERT_EQ(batch.column(counter_column::kName)[row], 1 + next % 3);
      ASSERT_EQ(batch.column(counter_column::kValue)[row], next * next);
    }
  }
  EXPECT_EQ(next, 25'000);
}

TEST_F(SealTest, KeepsDefinitionsBeforeUsesAndTheEndLast) {
  std::string text;
  for (int i = 0; i < 20; ++i) {
    text += "{\"type\":\"dict\",\"dict\":\"name\",\"ids\":[" + std::to_string(i) +
            "],\"values\":[\"x\"]}\n";
    text += encoded(counters(10, i));
  }
  text += "{\"type\":\"ledger\",\"time\":90000000}\n{\"type\":\"end\",\"time\":90000001}\n";
  const Read sealed = seal_and_read(text);
  ASSERT_EQ(sealed.lines.size(), 23U);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(line_type(sealed.lines[i]), "dict");
  EXPECT_EQ(line_type(sealed.lines[20]), "counter");
  EXPECT_EQ(line_type(sealed.lines[21]), "ledger");
  EXPECT_EQ(line_type(sealed.lines[22]), "end");
  EXPECT_EQ(window_.last_ns, 90'000'001);
}

TEST_F(SealTest, KeepsDevicesAndDifferentColumnsApart) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += encoded(memsets(20, 20 * i, i % 2));
  Batch more = memsets(20, 9000, 0);
  more.mutable_column(memset_column::kValue).assign(20, 255);
  text += encoded(more);
  const Read sealed = seal_and_read(text);
  ASSERT_EQ(sealed.lines.size(), 3U);
  EXPECT_EQ(window_.rows, 2020U);
  BatchCodec codec;
  Batch batch(Kind::Memset);
  for (const std::string& line : sealed.lines) {
    ASSERT_TRUE(codec.decode(line, batch).is_ok());
    const auto& devices = batch.column(memset_column::kDevice);
    EXPECT_TRUE(std::all_of(devices.begin(), devices.end(),
                            [&](int64_t device) { return device == devices[0]; }));
  }
}

TEST_F(SealTest, CarriesOverWhatItDoesNotUnderstand) {
  const std::string strange[] = {
      "{\"type\":\"from_the_future\",\"n\":3}",
      "{\"type\":\"counter\",\"n\":1,\"time\":5,\"name\":1,\"value\":2,\"unit\":7}",
      "{\"type\":\"counter\",\"n\":2,\"time\":[5],\"name\":1,\"value\":2}",
      "not json at all",
      "",
  };
  std::string text;
  for (const std::string& line : strange) text += line + "\n";
  text += "{\"type\":\"counter\",\"n\":1,\"ti";
  const Read sealed = seal_and_read(text);
  EXPECT_EQ(sealed.lines, std::vector<std::string>(std::begin(strange), std::end(strange)));
  EXPECT_TRUE(sealed.outcome.torn);
  EXPECT_EQ(sealed.outcome.tail, "{\"type\":\"counter\",\"n\":1,\"ti");
}

TEST_F(SealTest, LeavesLargeBatchesAsTheyAre) {
  const std::string large = encoded(memsets(kRowsPerLine, 0, 0));
  const std::string other = encoded(memsets(kRowsPerLine, kRowsPerLine, 0));
  const Read sealed = seal_and_read(large + other);
  ASSERT_EQ(sealed.lines.size(), 2U);
  EXPECT_EQ(sealed.lines[0] + "\n" + sealed.lines[1] + "\n", large + other);
  EXPECT_EQ(window_.rows, 2 * kRowsPerLine);
  EXPECT_EQ(window_.raw_bytes, large.size() + other.size());
  EXPECT_EQ(window_.first_ns, 0);
  EXPECT_GT(window_.last_ns, 32 * 100 * (2 * int64_t{kRowsPerLine} - 1));
}

TEST_F(SealTest, ALargeBatchDoesNotOvertakeSmallOnes) {
  const Read sealed =
      seal_and_read(encoded(memsets(30, 0, 0)) + encoded(memsets(kRowsPerLine, 30, 0)) +
                    encoded(memsets(30, kRowsPerLine + 30, 0)));
  ASSERT_EQ(sealed.lines.size(), 3U);
  BatchCodec codec;
  Batch batch(Kind::Memset);
  int64_t last = -1;
  for (const std::string& line : sealed.lines) {
    ASSERT_TRUE(codec.decode(line, batch).is_ok());
    for (const int64_t start : batch.column(memset_column::kStart)) {
      EXPECT_GT(start, last);
      last = start;
    }
  }
}

TEST_F(SealTest, TheHashIsOfTheFile) {
  seal_and_read(encoded(memsets(20'000, 0, 0)));
  std::ifstream file(dir_ / "x.1.log.zst", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(window_.hash, base::xxh64_text(base::xxh64(bytes.data(), bytes.size())));
}

TEST_F(SealTest, AnEmptyWindowIsEmpty) {
  const Read sealed = seal_and_read("");
  EXPECT_TRUE(sealed.outcome.status.is_ok());
  EXPECT_TRUE(sealed.lines.empty());
  EXPECT_EQ(window_.rows, 0U);
}

TEST_F(SealTest, FailsWithoutLeavingAnything) {
  EXPECT_EQ(seal_window(dir_ / "missing", dir_ / "a.zst").status().code(), base::Code::NotFound);
  EXPECT_EQ(seal_window(write("raw", "x\n"), dir_ / "no" / "a.zst").status().code(),
            base::Code::NotFound);
  EXPECT_FALSE(fs::exists(dir_ / "a.zst"));
  EXPECT_FALSE(fs::exists(dir_ / "a.zst.tmp"));
}

TEST_F(SealTest, ReadsRawFilesWithATornEnd) {
  const Read raw = read(write("raw", "one\ntwo\nthr"));
  EXPECT_EQ(raw.lines, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(raw.outcome.lines, 2U);
  EXPECT_TRUE(raw.outcome.torn);
  EXPECT_EQ(raw.outcome.tail, "thr");
  EXPECT_TRUE(raw.outcome.status.is_ok());
}

TEST_F(SealTest, SkipsAndCountsLinesOverTheBound) {
  const std::string text = "short\n" + std::string(5'000'000, 'x') + "\nshort\n" +
                           std::string(2000, 'y') + "\n" + std::string(3'000'000, 'z');
  const Read raw = read(write("raw", text), 1000);
  EXPECT_EQ(raw.lines, (std::vector<std::string>{"short", "short"}));
  EXPECT_EQ(raw.outcome.oversized, 3U);
  EXPECT_TRUE(raw.outcome.torn);
}

TEST_F(SealTest, StopsWhenAskedTo) {
  int seen = 0;
  const UnsealOutcome outcome =
      read_window(write("raw", "1\n2\n3\n"), [&](std::string_view) { return ++seen < 2; });
  EXPECT_EQ(seen, 2);
  EXPECT_EQ(outcome.lines, 2U);
  EXPECT_TRUE(outcome.status.is_ok());
}

TEST_F(SealTest, DeliversWhatStandsBeforeDamage) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += encoded(memsets(10'000, 10'000 * i, 0));
  const Read whole = seal_and_read(text);
  ASSERT_EQ(whole.lines.size(), 40U);
  std::ifstream file(dir_ / "x.1.log.zst", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});

  const Read cut = read(write("cut.zst", bytes.substr(0, bytes.size() / 2)));
  EXPECT_EQ(cut.outcome.status.code(), base::Code::Corrupt);
  EXPECT_GT(cut.lines.size(), 10U);
  ASSERT_LT(cut.lines.size(), 40U);
  EXPECT_TRUE(std::equal(cut.lines.begin(), cut.lines.end(), whole.lines.begin()));

  // Any flipped byte is noticed: every frame has a checksum.
  for (size_t at = 100; at < bytes.size(); at += bytes.size() / 50) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    const Read result = read(write("damaged.zst", damaged));
    EXPECT_EQ(result.outcome.status.code(), base::Code::Corrupt) << at;
    EXPECT_TRUE(std::equal(result.lines.begin(), result.lines.end(), whole.lines.begin())) << at;
  }
}

TEST_F(SealTest, ReadsFramesOfAnotherMaker) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "line " + std::to_string(i) + "\n";
  std::string bytes(ZSTD_compressBound(text.size()), '\0');
  bytes.resize(ZSTD_compress(bytes.data(), bytes.size(), text.data(), text.size(), 3));
  const Read result = read(write("other.zst", bytes + bytes));
  EXPECT_TRUE(result.outcome.status.is_ok());
  ASSERT_EQ(result.lines.size(), 400'000U);
  EXPECT_EQ(result.lines.back(), "line 199999");
}

// A thread's decompressor is used again, and is not to remember.
TEST_F(SealTest, AWindowReadsTheSameAfterOneThatWasLeft) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "line " + std::to_string(i) + "\n";
  std::string bytes(ZSTD_compressBound(text.size()), '\0');
  bytes.resize(ZSTD_compress(bytes.data(), bytes.size(), text.data(), text.size(), 3));
  const auto whole = write("whole.zst", bytes);
  const auto cut = write("cut.zst", bytes.substr(0, bytes.size() / 2));

  size_t inner_lines = 0;
  const UnsealOutcome left = read_window(whole, [&](std::string_view) {
    inner_lines = read(whole).lines.size();  // while the outer one is open
    return false;
  });
  EXPECT_TRUE(left.status.is_ok());
  EXPECT_EQ(inner_lines, 50'000U);
  EXPECT_EQ(read(cut).outcome.status.code(), base::Code::Corrupt);
  const Read again = read(whole);
  EXPECT_TRUE(again.outcome.status.is_ok());
  EXPECT_EQ(again.lines.size(), 50'000U);
}

// Frames that hold several lines, and lines that several frames hold.
TEST_F(SealTest, ALineCanBeReadByItsPlaceAlone) {
  std::string text;
  std::string frames;
  for (int i = 0; i < 300; ++i) {
    const std::string line = "line " + std::to_string(i) + std::string(size_t(i) * 40, 'x') + "\n";
    text += line;
  }
  for (size_t at = 0, size = 1; at < text.size(); at += size, size = size * 3 / 2 + 1) {
    const std::string part = text.substr(at, size);
    std::string bytes(ZSTD_compressBound(part.size()), '\0');
    bytes.resize(ZSTD_compress(bytes.data(), bytes.size(), part.data(), part.size(), 1));
    frames += bytes;
  }
  for (const fs::path& file : {write("raw", text), write("frames.zst", frames)}) {
    std::vector<std::pair<std::string, LinePlace>> lines;
    const auto remember = [&](std::string_view line, const LinePlace& place) {
      lines.emplace_back(line, place);
      return true;
    };
    ASSERT_TRUE(read_placed_lines(file, {}, remember).status.is_ok());
    ASSERT_EQ(lines.size(), 300U);
    for (const auto& [line, place] : lines) {
      std::string again;
      read_placed_lines(file, place, [&](std::string_view found, const LinePlace&) {
        again = found;
        return false;
      });
      ASSERT_EQ(again, line);
    }
  }
}

TEST_F(SealTest, AFileThatGrowsIsReadOnFromItsEnd) {
  const fs::path file = write("live", "one\ntwo\nthr");
  std::vector<std::string> lines;
  const auto remember = [&](std::string_view line, const LinePlace&) {
    lines.emplace_back(line);
    return true;
  };
  UnsealOutcome outcome = read_placed_lines(file, {}, remember);
  EXPECT_TRUE(outcome.torn);
  std::ofstream(file, std::ios::app) << "ee\nfour\n";
  outcome = read_placed_lines(file, outcome.end, remember);
  EXPECT_FALSE(outcome.torn);
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two", "three", "four"}));
  EXPECT_EQ(read_placed_lines(file, outcome.end, remember).lines, 0U);
}

TEST_F(SealTest, AFileOfOtherBytesIsText) {
  const Read result = read(write("noise", std::string("\x01\x02\x03\xff\x00\n", 6)));
  EXPECT_EQ(result.lines.size(), 1U);
  EXPECT_EQ(read(dir_ / "missing").outcome.status.code(), base::Code::NotFound);
}

}  // namespace
}  // namespace gpufl::format
