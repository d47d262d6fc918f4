// SPDX-License-Identifier: Apache-2.0
// Pieces of a session without a database: what a range leaves alone, and threads. Among the tests
// of the thread sanitizer, which knows nothing of DuckDB's threads.
#include "sql/piece_reader.hpp"

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "format/session_files.hpp"
#include "format/test_session.hpp"

namespace gpufl::sql {
namespace {

namespace fs = std::filesystem;
using format::Kind;
using format::WindowFile;

constexpr int64_t kWindows = 8;
constexpr int64_t kRowsOfWindow = 20'000;  // more than a piece has
constexpr int64_t kStep = 10;              // nanoseconds from row to row
constexpr int64_t kWindowNs = kRowsOfWindow * kStep;

// Fills, one every kStep from 0 on; kRowsOfWindow in each sealed window.
void write_session(const fs::path& folder) {
  namespace column = format::memset_column;
  format::LogOptions options = format::testing::test_options(folder);
  options.window_bytes = 1;  // one for each flush
  const auto writer = format::testing::make_writer(options);
  ASSERT_NE(writer, nullptr);
  for (int64_t window = 0; window < kWindows; ++window) {
    format::Batch rows(Kind::Memset);
    for (int64_t i = 0; i < kRowsOfWindow; ++i) {
      rows.mutable_column(column::kStart).push_back(window * kWindowNs + i * kStep);
      rows.mutable_column(column::kDuration).push_back(1);
      rows.mutable_column(column::kBytes).push_back(i);
    }
    rows.set_rows(kRowsOfWindow);
    writer->write(rows);
    ASSERT_TRUE(writer->flush((window + 1) * kWindowNs));
  }
  ASSERT_TRUE(writer->close(kWindows * kWindowNs, {}));
}

struct Read {
  std::vector<int64_t> starts;
  size_t problems = 0;
};

class PieceReaderTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_NO_FATAL_FAILURE(write_session(folder_.path())); }

  format::SessionReader open() const { return *format::SessionReader::open(folder_.path()); }
  // Of the window with rows from `window` * kWindowNs on.
  fs::path file_of(int64_t window) const {
    const format::SessionReader session = open();
    for (const WindowFile& file : session.windows()) {
      const bool is_it = file.channel == format::Channel::Device && file.rows != 0 &&
                         file.first_ns <= window * kWindowNs && file.last_ns > window * kWindowNs;
      if (is_it) return file.path;
    }
    return {};
  }
  std::unique_ptr<PieceReader> start(const TimeRange& range = {}) const {
    return std::make_unique<PieceReader>(open(), Kind::Memset, range, analysis::TableBuilder(),
                                         is_cancelled_);
  }
  static bool take(PieceReader& reader, Read& read) {
    const auto piece = reader.next();
    if (!piece || !*piece) return false;
    const std::vector<int64_t>& starts = (*piece)->rows.fills.start;
    read.starts.insert(read.starts.end(), starts.begin(), starts.end());
    return true;
  }
  Read read(const TimeRange& range = {}) const {
    Read read;
    const auto reader = start(range);
    while (take(*reader, read)) {
    }
    read.problems = reader->problems().size();
    return read;
  }
  static std::vector<int64_t> starts_within(int64_t from_ns, int64_t to_ns) {
    std::vector<int64_t> starts(static_cast<size_t>((to_ns - from_ns) / kStep));
    for (size_t i = 0; i < starts.size(); ++i) {
      starts[i] = from_ns + static_cast<int64_t>(i) * kStep;
    }
    return starts;
  }

  const format::testing::TempDir folder_;
  std::atomic<bool> is_cancelled_ = false;
};

TEST_F(PieceReaderTest, HandsOverEveryRowInOrder) {
  const Read all = read();
  EXPECT_EQ(all.starts, starts_within(0, kWindows * kWindowNs));
  EXPECT_EQ(all.problems, 0U);
}

TEST_F(PieceReaderTest, OpensNoWindowOutsideOfItsRange) {
  const int64_t from_ns = 3 * kWindowNs + 500, to_ns = 5 * kWindowNs - 500;
  for (const int64_t outside : {int64_t{1}, int64_t{2}, int64_t{5}, kWindows - 1}) {
    ASSERT_FALSE(file_of(outside).empty());
    format::testing::write_text(file_of(outside), "not a window");
  }
  const fs::path gone = file_of(0);
  fs::remove(gone);
  const Read within = read({from_ns, to_ns});
  EXPECT_EQ(within.starts, starts_within(from_ns, to_ns));
  EXPECT_EQ(within.problems, 0U);
  // Each of them is seen once the range reaches it.
  EXPECT_EQ(read({2 * kWindowNs, to_ns}).problems, 1U);
  EXPECT_EQ(read({from_ns, 5 * kWindowNs + 1}).problems, 1U);
  EXPECT_EQ(read({INT64_MIN, kWindowNs}).problems, 1U);
  EXPECT_EQ(read().problems, 5U);
}

TEST_F(PieceReaderTest, RangesEndWhereTheySay) {
  EXPECT_EQ(read({kWindowNs, kWindowNs}).starts, std::vector<int64_t>());
  EXPECT_EQ(read({kWindowNs, kWindowNs + 1}).starts, std::vector<int64_t>{kWindowNs});
  EXPECT_EQ(read({kWindowNs - kStep, kWindowNs}).starts, std::vector<int64_t>{kWindowNs - kStep});
  EXPECT_EQ(read({kWindows * kWindowNs, INT64_MAX}).starts, std::vector<int64_t>());
}

TEST_F(PieceReaderTest, SeveralReadOneSessionSideBySide) {
  constexpr size_t kThreads = 4;
  std::vector<Read> reads(kThreads);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([this, i, &reads] {
      const auto first = static_cast<int64_t>(i);
      reads[i] = read({first * kWindowNs, (first + 2) * kWindowNs});
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < kThreads; ++i) {
    const auto first = static_cast<int64_t>(i);
    EXPECT_EQ(reads[i].starts, starts_within(first * kWindowNs, (first + 2) * kWindowNs));
  }
}

// As DuckDB does, whose threads take over each other's scans.
TEST_F(PieceReaderTest, MayBeUsedByOneThreadAfterTheOther) {
  std::unique_ptr<PieceReader> reader;
  Read read;
  std::thread([&] { reader = start(); }).join();
  for (bool is_more = true; is_more;) {
    std::thread([&] { is_more = take(*reader, read); }).join();
  }
  EXPECT_EQ(read.starts.size(), static_cast<size_t>(kWindows * kRowsOfWindow));
  std::thread([&] { reader.reset(); }).join();
}

TEST_F(PieceReaderTest, EndsItsThreadWhereverItIs) {
  start().reset();
  for (int pieces = 0; pieces < 4; ++pieces) {
    const auto reader = start();
    Read read;
    for (int i = 0; i < pieces; ++i) EXPECT_TRUE(take(*reader, read));
  }
}

TEST_F(PieceReaderTest, EndsSoonOnceItIsCancelled) {
  const auto reader = start();
  Read read;
  EXPECT_TRUE(take(*reader, read));
  std::thread([this] { is_cancelled_ = true; }).join();
  const auto piece = reader->next();
  ASSERT_FALSE(piece);
  EXPECT_EQ(piece.status().code(), base::Code::Cancelled);
}

}  // namespace
}  // namespace gpufl::sql
