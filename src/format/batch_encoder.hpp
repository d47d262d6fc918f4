// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/batch.hpp"
#include "format/codings.hpp"
#include "format/palette.hpp"
#include "format/tick_grid.hpp"

// The writing half of BatchCodec: chooses for each column of a line the coding that its values
// deserve. Exact for every value. Owns scratch memory only; one thread.
namespace gpufl::format {

class BatchEncoder {
 public:
  // Rows [first, first + count) of `batch` as one line, its newline included.
  void append_line(const Batch& batch, size_t first, size_t count, std::string& out);

 private:
  using Values = std::span<const int64_t>;

  // A few rows of every entry of the group palette (or of the whole, when there is none), from
  // which references and the better of two bases are judged.
  struct Samples {
    std::vector<uint32_t> rows;
    std::vector<uint32_t> begins;  // one per group, and the end
  };
  struct References {
    std::vector<int64_t> values;  // one per group
    uint64_t cost_bits = 0;       // of the sampled residuals
  };
  // The events of a batch in ticks of a grid, and how far each stamp is off it.
  struct Ticks {
    TickGrid grid;
    std::vector<int64_t> start, length;
    std::vector<uint64_t> start_up, start_down, end_up, end_down;
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
  bool count_ticks(Values starts, Values durations);
  void append_residual(size_t i, std::span<const Base> bases);
  template <typename Told>
  void fit_references(Told told, References& out);
  template <typename Told>
  void append_told(const References& references, Told told);
  void append_off_grid(const std::vector<uint64_t>& up, const std::vector<uint64_t>& down);

  const Batch* batch_ = nullptr;
  std::string* out_ = nullptr;
  size_t first_ = 0;
  size_t rows_ = 0;
  size_t group_column_ = kNoColumn;  // kNoColumn: no references per group in this line
  size_t told_duration_ = kNoColumn;  // already written, together with its start
  Palette group_, palette_;
  Samples samples_;
  References references_, other_references_;
  Ticks ticks_;
  std::vector<uint64_t> residuals_;
  std::vector<int64_t> deltas_, run_values_, run_lengths_, sampled_;
  std::vector<uint32_t> strides_, countdown_, next_;
};

bool all_equal(std::span<const int64_t> values);  // not empty
// ,"name":
void append_field(std::string& out, std::string_view name);

}  // namespace gpufl::format
