// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "format/batch.hpp"
#include "format/codings.hpp"
#include "format/decode_stats.hpp"
#include "format/line_scanner.hpp"
#include "format/tick_grid.hpp"

// The reading half of BatchCodec: goes by what the line says, checks all of it, and knows nothing
// of how the encoder chooses. Owns scratch memory only; one thread.
namespace gpufl::format {

class BatchDecoder {
 public:
  base::Status decode(std::string_view line, Batch& out, DecodeStats& stats);

 private:
  // The members that the object of a coded column can have.
  enum Field : size_t {
    kAs,
    kFrom,
    kD,
    kV,
    kLen,
    kIds,
    kX,
    kBase,
    kBy,
    kRef,
    kZ,
    kTick,
    kDrift,
    kPhase,
    kOrigin,
    kUp,
    kDown,
    kFieldCount
  };
  static constexpr std::array<std::string_view, kFieldCount> kFieldNames = {
      "as",  "from", "d",    "v",     "len",   "ids",    "x",  "base", "by",
      "ref", "z",    "tick", "drift", "phase", "origin", "up", "down"};

  // Where a value stands in the line and, for one that is short, what it is.
  struct Text {
    enum class Form : uint8_t { Absent, Integer, String, List, Object } form = Form::Absent;
    size_t offset = 0;
    int64_t integer = 0;
    std::string_view string;
  };
  struct ColumnText {
    Text value;
    std::array<Text, kFieldCount> fields;
    std::vector<uint64_t> palette_index;  // of a decoded palette, one per row
    size_t palette_size = 0;
    bool decoded = false;
    bool is_former = false;  // under its former name
  };

  bool read_line();
  bool read_text(Text& text);
  bool read_named(ColumnText& column, bool is_former);
  bool read_column(ColumnText& column);
  bool decode_columns();
  bool decode_simple(size_t i);
  bool decode_plain(size_t i, ColumnText& column);
  bool decode_delta(size_t i, ColumnText& column);
  bool decode_runs(size_t i, ColumnText& column);
  bool decode_palette(size_t i, ColumnText& column);

  // Timing columns: batch_decoder_timing.cpp.
  bool decode_residual(size_t i);
  bool decode_ticks(size_t start);
  bool read_grid(const ColumnText& column, TickGrid& grid);
  bool read_base(const ColumnText& column, Base& base);
  bool read_told(const ColumnText& column, int64_t* out);
  bool apply_off_grid(const ColumnText& column, int64_t* stamps);

  int64_t* make_column(size_t i);
  bool is_coded_as(const ColumnText& column, std::string_view coding) const;
  bool read_values(const Text& text, int64_t* out);
  bool read_list(const Text& text, std::vector<int64_t>& out);
  bool fail_at(const Text& text, const char* reason);

  LineScanner scanner_{std::string_view()};
  Batch* out_ = nullptr;
  DecodeStats* stats_ = nullptr;
  size_t rows_ = 0;
  std::vector<ColumnText> columns_;
  std::vector<int64_t> list_, other_list_, ticks_, ends_;
  std::vector<uint64_t> gaps_;
};

}  // namespace gpufl::format
