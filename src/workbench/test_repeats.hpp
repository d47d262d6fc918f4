// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "format/columns.hpp"
#include "format/test_session.hpp"

// Folders with repeats of a program, for tests of what compares them.
namespace gpufl::workbench::testing {

class TestRepeats {
 public:
  const std::filesystem::path& path() const { return dir_.path(); }

  // A session of 200 launches of one kernel, of about that many nanoseconds.
  void write_session(const std::filesystem::path& folder, int64_t duration_ns, int number,
                     const format::Ledger& ledger = {}) const {
    format::SessionHeader header = format::testing::test_header();
    header.session_id = "s" + std::to_string(number);
    header.run_id = folder.filename().string() + std::to_string(number);
    header.start_wall_ns += number * int64_t{1'000'000'000};
    auto writer = format::LogWriter::create(
        format::testing::test_options(folder / header.session_id), header);
    ASSERT_TRUE(writer.is_ok()) << writer.status().text();
    const int64_t name = (*writer)->intern(format::Dict::Name, "gemm");
    const int64_t config =
        (*writer)->intern(format::Dict::Config, "{\"name\":" + std::to_string(name) +
                                                    R"(,"grid":[128,1,1],"block":[256,1,1]})");
    constexpr size_t kRows = 200;
    format::Batch rows(format::Kind::Kernel);
    for (size_t i = format::kernel_column::kStart; i <= format::kernel_column::kStream; ++i) {
      rows.mutable_column(i).resize(kRows, i == format::kernel_column::kConfig ? config : 0);
    }
    for (size_t row = 0; row < kRows; ++row) {
      const auto at = static_cast<int64_t>(row);
      rows.mutable_column(format::kernel_column::kStart)[row] = at * 100'000;
      rows.mutable_column(format::kernel_column::kDuration)[row] =
          duration_ns + (at % 7) * 32 + number * 10;
    }
    rows.set_rows(kRows);
    (*writer)->write(rows);
    EXPECT_TRUE((*writer)->close(kRows * 100'000, ledger).is_ok());
  }
  std::filesystem::path group(const std::string& name, int64_t duration_ns, int repeats) const {
    for (int i = 0; i < repeats; ++i) write_session(dir_.path() / name, duration_ns, i);
    return dir_.path() / name;
  }

 private:
  format::testing::TempDir dir_;
};

}  // namespace gpufl::workbench::testing
