// SPDX-License-Identifier: Apache-2.0
#include "format/batch_encoder.hpp"

#include <algorithm>
#include <limits>

#include "format/integer_text.hpp"

namespace gpufl::format {
namespace {

constexpr size_t kMinCodedRows = 8;  // below, a plain list is as short as any coding of it
constexpr Base kCallTimeBases[] = {Base::Start, Base::LastEnd};
constexpr Base kDurationBases[] = {Base::None};

void append_id64(std::string& out, int64_t value) {
  out.push_back('"');
  append_unsigned(out, static_cast<uint64_t>(value));
  out.push_back('"');
}

// Of the number as text.
size_t digits_of(int64_t value) {
  size_t digits = value < 0 ? 2 : 1;
  while (value /= 10) ++digits;
  return digits;
}

// Whether places in the palette are so much shorter than the values that they pay for the list of
// them.
bool is_shorter(const Palette& palette) {
  size_t gained = 0;
  size_t paid = sizeof R"({"as":"palette","ids":[],"x":})";
  for (size_t i = 0; i < palette.ids().size(); ++i) {
    const size_t digits = digits_of(palette.ids()[i]);
    const size_t of_place = digits_of(static_cast<int64_t>(i));
    gained += palette.counts()[i] * (digits - std::min(digits, of_place));
    paid += digits + 1;
  }
  return gained > paid;
}

}  // namespace

bool all_equal(std::span<const int64_t> values) {
  return std::all_of(values.begin() + 1, values.end(), [&](int64_t v) { return v == values[0]; });
}

void append_field(std::string& out, std::string_view name) {
  out.append(",\"").append(name).append("\":");
}

BatchEncoder::Values BatchEncoder::column(size_t i) const {
  return batch_->column(i).subspan(first_, rows_);
}

void BatchEncoder::append_line(const BatchView& batch, size_t first, size_t count,
                               std::string& out) {
  batch_ = &batch;
  out_ = &out;
  first_ = first;
  rows_ = count;
  const KindSpec& kind = batch.kind_spec();
  out.append("{\"type\":\"").append(kind.name).append("\",\"n\":");
  append_unsigned(out, count);
  if (count != 0) {
    append_span();
    choose_group();
    take_samples();
    told_duration_ = kNoColumn;
    // Columns that repeat themselves first, then those that only look like noise: a compressor
    // finds the former side by side.
    for (const bool timing : {false, true}) {
      for (size_t i = 0; i < kind.columns.size(); ++i) {
        const ColumnType type = kind.columns[i].type;
        const bool is_timing = type == ColumnType::Time || type == ColumnType::Duration;
        if (is_timing == timing && batch.has(i)) append_column(i);
      }
    }
  }
  out.append("}\n");
}

// The smallest and the largest time of the line, so that nobody needs to decode it to know.
void BatchEncoder::append_span() {
  const KindSpec& kind = batch_->kind_spec();
  int64_t smallest = std::numeric_limits<int64_t>::max();
  int64_t largest = std::numeric_limits<int64_t>::min();
  for (size_t i = 0; i < kind.columns.size(); ++i) {
    if (kind.columns[i].type != ColumnType::Time || !batch_->has(i)) continue;
    const Values times = column(i);
    for (const int64_t time : times) {
      smallest = std::min(smallest, time);
      largest = std::max(largest, time);
    }
    const size_t d = duration_of(kind, i);
    if (d == kNoColumn || !batch_->has(d)) continue;
    const Values durations = column(d);
    for (size_t row = 0; row < rows_; ++row) {
      largest = std::max(largest, wrapping_add(times[row], durations[row]));
    }
  }
  if (smallest > largest) return;
  append_field(*out_, "span");
  out_->push_back('[');
  append_integer(*out_, smallest);
  out_->push_back(',');
  append_integer(*out_, largest);
  out_->push_back(']');
}

void BatchEncoder::begin_column(size_t i) {
  append_field(*out_, batch_->kind_spec().columns[i].name);
}

void BatchEncoder::append_column(size_t i) {
  const KindSpec& kind = batch_->kind_spec();
  const Values values = column(i);
  const bool is_plain = rows_ < kMinCodedRows || all_equal(values);
  switch (const Coding coding = is_plain ? Coding::Plain : kind.columns[i].coding; coding) {
    case Coding::GpuTime: return append_gpu_time(i, duration_of(kind, i));
    case Coding::CallTime: return append_residual(i, kCallTimeBases);
    case Coding::Residual:
      if (i != told_duration_) append_residual(i, kDurationBases);
      return;
    default: return append_simple(i, coding);
  }
}

void BatchEncoder::append_simple(size_t i, Coding coding) {
  const ColumnSpec& spec = batch_->kind_spec().columns[i];
  const Values values = column(i);
  begin_column(i);
  if (coding == Coding::Palette) {
    if (i == group_column_) return append_palette(spec, group_);
    if (palette_.build(values)) return append_palette(spec, palette_);
  }
  if (coding == Coding::Runs) {
    if (append_runs(values)) return;
    if (palette_.build(values) && is_shorter(palette_)) return append_palette(spec, palette_);
  }
  if (coding == Coding::Delta) {
    deltas_.resize(rows_);
    // The first row repeats the second's step, so that even steps make one scalar.
    const int64_t origin = wrapping_sub(values[0], wrapping_sub(values[1], values[0]));
    int64_t last = origin;
    for (size_t row = 0; row < rows_; ++row) {
      deltas_[row] = wrapping_sub(values[row], last);
      last = values[row];
    }
    out_->append("{\"as\":\"delta\",\"from\":");
    append_integer(*out_, origin);
    append_field(*out_, "d");
    append_values(deltas_);
    out_->push_back('}');
    return;
  }
  if (spec.type == ColumnType::Id64) return append_ids(values);
  append_values(values);
}

// A list, or one number when all are equal.
void BatchEncoder::append_values(Values values) {
  if (all_equal(values)) return append_integer(*out_, values[0]);
  append_integer_list(*out_, values);
}

void BatchEncoder::append_ids(Values values) {
  if (all_equal(values)) return append_id64(*out_, values[0]);
  char separator = '[';
  for (const int64_t value : values) {
    out_->push_back(separator);
    append_id64(*out_, value);
    separator = ',';
  }
  out_->push_back(']');
}

void BatchEncoder::append_palette(const ColumnSpec& spec, const Palette& palette) {
  out_->append("{\"as\":\"palette\",\"ids\":");
  if (spec.type == ColumnType::Id64) {
    append_ids(palette.ids());
  } else {
    append_integer_list(*out_, palette.ids());
  }
  append_field(*out_, "x");
  append_unsigned_list(*out_, palette.index());
  out_->push_back('}');
}

// False, and nothing written, when the runs are too short to gain by.
bool BatchEncoder::append_runs(Values values) {
  constexpr size_t kMinMeanRun = 4;
  run_values_.clear();
  run_lengths_.clear();
  for (size_t row = 0; row < rows_;) {
    const size_t start = row;
    while (row < rows_ && values[row] == values[start]) ++row;
    run_values_.push_back(values[start]);
    run_lengths_.push_back(static_cast<int64_t>(row - start));
    if (run_values_.size() * kMinMeanRun > rows_) return false;
  }
  out_->append("{\"as\":\"runs\",\"v\":");
  append_integer_list(*out_, run_values_);
  append_field(*out_, "len");
  append_integer_list(*out_, run_lengths_);
  out_->push_back('}');
  return true;
}

}  // namespace gpufl::format
