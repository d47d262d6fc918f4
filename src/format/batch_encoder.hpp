// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/page_allocator.hpp"
#include "format/batch_view.hpp"
#include "format/codings.hpp"
#include "format/palette.hpp"
#include "format/tick_grid.hpp"

// The writing half of BatchCodec: chooses for each column of a line the coding that its values
// deserve. Exact for every value. Owns scratch memory only, in pages where it is as long as a line;
// one thread.
namespace gpufl::format {

class BatchEncoder {
 public:
  // Rows [first, first + count) of `batch` as one line, its newline included.
  void append_line(const BatchView& batch, size_t first, size_t count, std::string& out);

 private:
  using Values = std::span<const int64_t>;

  // Rows whose stamps are not where the grid has them: each told from the one before, and listed
  // once for every nanosecond.
  struct OffGrid {
    base::PageVector<uint64_t> up, down;
  };

  Values column(size_t i) const;
  void begin_column(size_t i);
  void append_span();
  void append_column(size_t i);
  void append_simple(size_t i, Coding coding);
  void append_values(Values values);
  void append_ids(Values values);
  void append_palette(const ColumnSpec& spec, const Palette& palette);
  bool append_runs(Values values);

  // Timing columns: batch_encoder_timing.cpp.
  void choose_group();
  void take_samples();
  void append_gpu_time(size_t start, size_t duration);
  bool find_ticks(Values starts, Values durations);
  bool count_ticks(const TickGrid& grid, Values stamps, base::PageVector<int64_t>& ticks,
                   OffGrid& off_grid);
  void append_residual(size_t i, std::span<const Base> bases);
  template <typename Told>
  int64_t median(std::span<const uint32_t> rows, Told told);
  template <typename Told>
  uint64_t cost_bits(Told told);
  template <typename Told>
  void append_told(Told told);
  void append_off_grid(const OffGrid& off_grid);

  const BatchView* batch_ = nullptr;
  std::string* out_ = nullptr;
  size_t first_ = 0;
  size_t rows_ = 0;
  size_t group_column_ = kNoColumn;   // kNoColumn: no references per group in this line
  size_t told_duration_ = kNoColumn;  // already written, together with its start
  Palette group_, palette_;
  TickGrid grid_;
  base::PageVector<int64_t> start_ticks_, lengths_, ends_;
  OffGrid start_off_grid_, end_off_grid_;
  std::vector<uint32_t> spread_rows_;  // some rows of the whole line
  std::vector<uint32_t> group_rows_;   // some of each group, from group_begins_[g] on
  std::vector<uint32_t> group_begins_;
  std::vector<uint32_t> strides_, countdown_, next_;
  base::PageVector<uint32_t> off_rows_;
  base::PageVector<uint64_t> residuals_;
  std::vector<int64_t> references_, sampled_;
  base::PageVector<int64_t> deltas_, run_values_, run_lengths_;
};

bool all_equal(std::span<const int64_t> values);  // not empty
// ,"name":
void append_field(std::string& out, std::string_view name);

}  // namespace gpufl::format
