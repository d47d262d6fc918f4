// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "format/batch_decoder.hpp"

namespace gpufl::format {

bool BatchDecoder::read_base(const ColumnText& column, Base& base) {
  const Text& text = column.fields[kBase];
  if (text.form == Text::Form::Absent) {
    base = Base::None;
    return true;
  }
  const auto found = std::find(kBaseNames.begin(), kBaseNames.end(), text.string);
  if (text.form != Text::Form::String || found == kBaseNames.end()) {
    return fail_at(text, "an unknown base");
  }
  base = static_cast<Base>(found - kBaseNames.begin());
  return true;
}

// What rows are from their base: reference plus residual.
bool BatchDecoder::read_told(const ColumnText& column, int64_t* out) {
  const Text& z = column.fields[kZ];
  const Text& reference = column.fields[kRef];
  const Text& by = column.fields[kBy];
  if (z.form != Text::Form::List) return fail_at(column.value, "residuals without z");
  scanner_.seek(z.offset);
  size_t count = 0;
  auto* const residuals = reinterpret_cast<uint64_t*>(out);
  if (!scanner_.read_unsigned_list(residuals, rows_, count)) return false;
  if (count != rows_) return scanner_.fail("fewer values than rows");

  if (by.form == Text::Form::Absent) {
    if (reference.form != Text::Form::Integer)
      return fail_at(column.value, "residuals without ref");
    for (size_t row = 0; row < rows_; ++row) {
      out[row] = wrapping_add(reference.integer, unzigzag(residuals[row]));
    }
    return true;
  }
  const auto specs = out_->kind_spec().columns;
  const auto found = std::find_if(specs.begin(), specs.end(),
                                  [&](const ColumnSpec& spec) { return spec.name == by.string; });
  if (by.form != Text::Form::String || found == specs.end()) {
    return fail_at(column.value, "references by an unknown column");
  }
  const ColumnText& group = columns_[static_cast<size_t>(found - specs.begin())];
  if (!is_coded_as(group, "palette"))
    return fail_at(by, "references by a column without a palette");
  if (!read_list(reference, list_)) return false;
  if (list_.size() != group.palette_size) {
    return fail_at(reference, "not one reference for each entry of the palette");
  }
  const int64_t* const references = list_.data();
  const uint64_t* const index = group.palette_index.data();
  for (size_t row = 0; row < rows_; ++row) {
    out[row] = wrapping_add(references[index[row]], unzigzag(residuals[row]));
  }
  return true;
}

bool BatchDecoder::decode_residual(size_t i) {
  const KindSpec& kind = out_->kind_spec();
  ColumnText& column = columns_[i];
  Base base = Base::None;
  int64_t* const values = make_column(i);
  if (!read_base(column, base) || !read_told(column, values)) return false;
  column.decoded = true;

  // The column, where the line has it and it comes before this one.
  const auto values_of = [&](size_t other) -> const int64_t* {
    const bool is_there = other != kNoColumn && other != i && columns_[other].decoded &&
                          out_->column(other).size() == rows_;
    return is_there ? out_->column(other).data() : nullptr;
  };
  const int64_t* const durations = values_of(duration_of(kind, i));
  const int64_t* const starts = values_of(first_time(kind));
  switch (base) {
    case Base::None: return true;
    case Base::Last:
      for (size_t row = 1; row < rows_; ++row) {
        values[row] = wrapping_add(values[row], values[row - 1]);
      }
      return true;
    case Base::LastEnd:
      if (durations == nullptr) return fail_at(column.value, "last_end without durations");
      for (size_t row = 1; row < rows_; ++row) {
        values[row] = wrapping_add(values[row], wrapping_add(values[row - 1], durations[row - 1]));
      }
      return true;
    case Base::Start:
      if (durations == nullptr || starts == nullptr) {
        return fail_at(column.value, "start without starts or durations");
      }
      for (size_t row = 0; row < rows_; ++row) {
        values[row] = wrapping_add(values[row], wrapping_sub(starts[row], durations[row]));
      }
      return true;
  }
  return false;
}

bool BatchDecoder::read_grid(const ColumnText& column, TickGrid& grid) {
  for (const Field field : {kTick, kDrift, kPhase, kOrigin}) {
    if (column.fields[field].form != Text::Form::Integer) {
      return fail_at(column.value, "ticks without their grid");
    }
  }
  grid.tick_ns = column.fields[kTick].integer;
  grid.drift = column.fields[kDrift].integer;
  grid.phase = column.fields[kPhase].integer;
  grid.origin_ns = column.fields[kOrigin].integer;
  return true;
}

// A start in ticks, and its duration where that is in ticks too.
bool BatchDecoder::decode_ticks(size_t start) {
  const KindSpec& kind = out_->kind_spec();
  ColumnText& column = columns_[start];
  TickGrid grid;
  Base base = Base::None;
  if (!read_grid(column, grid) || !read_base(column, base)) return false;
  if (base != Base::Last && base != Base::LastEnd) return fail_at(column.value, "an unknown base");

  const size_t duration = duration_of(kind, start);
  const bool has_lengths = duration != kNoColumn && is_coded_as(columns_[duration], "ticks");
  if (base == Base::LastEnd && !has_lengths) {
    return fail_at(column.value, "last_end without durations in ticks");
  }
  int64_t* const stamps = make_column(start);
  ticks_.resize(rows_);
  if (!read_told(column, ticks_.data())) return false;
  int64_t* const lengths = has_lengths ? make_column(duration) : nullptr;
  if (has_lengths && !read_told(columns_[duration], lengths)) return false;

  int64_t last = 0;
  for (size_t row = 0; row < rows_; ++row) {
    if (base == Base::LastEnd && row != 0) last = wrapping_add(last, lengths[row - 1]);
    last = wrapping_add(last, ticks_[row]);
    ticks_[row] = last;
    stamps[row] = grid.stamp(last);
  }
  if (!apply_off_grid(column, stamps)) return false;
  column.decoded = true;
  if (!has_lengths) return true;

  for (size_t row = 0; row < rows_; ++row) {
    lengths[row] = wrapping_sub(grid.stamp(wrapping_add(ticks_[row], lengths[row])), stamps[row]);
  }
  columns_[duration].decoded = true;
  return apply_off_grid(columns_[duration], lengths);
}

// Moves the listed rows by a nanosecond for each time they are listed.
bool BatchDecoder::apply_off_grid(const ColumnText& column, int64_t* stamps) {
  for (const auto& [field, step] : {std::pair{kUp, 1}, std::pair{kDown, -1}}) {
    const Text& text = column.fields[field];
    if (text.form == Text::Form::Absent) continue;
    if (text.form != Text::Form::List) return fail_at(text, "a list is expected");
    gaps_.resize(rows_);
    scanner_.seek(text.offset);
    size_t count = 0;
    if (!scanner_.read_unsigned_list(gaps_.data(), rows_, count)) return false;
    uint64_t row = 0;
    for (size_t i = 0; i < count; ++i) {
      if (gaps_[i] >= rows_ || (row += gaps_[i]) >= rows_) {
        return fail_at(text, "a row outside the batch");
      }
      stamps[row] = wrapping_add(stamps[row], step);
    }
  }
  return true;
}

}  // namespace gpufl::format
