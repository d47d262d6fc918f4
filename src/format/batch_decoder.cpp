// SPDX-License-Identifier: Apache-2.0
#include "format/batch_decoder.hpp"

#include <algorithm>

namespace gpufl::format {

base::Status BatchDecoder::decode(std::string_view line, Batch& out, DecodeStats& stats) {
  scanner_ = LineScanner(line);
  out_ = &out;
  stats_ = &stats;
  rows_ = 0;
  out.clear();
  columns_.resize(out.kind_spec().columns.size());
  for (ColumnText& column : columns_) {
    column.value = {};
    column.decoded = column.is_former = false;
  }
  if (read_line() && decode_columns()) {
    out.set_rows(rows_);
    return {};
  }
  out.clear();
  return {base::Code::Corrupt, std::string(out.kind_spec().name) + " line, " + scanner_.error()};
}

// Finds every member of the line; lists are only located.
bool BatchDecoder::read_line() {
  const KindSpec& kind = out_->kind_spec();
  bool has_type = false;
  bool has_count = false;
  if (!scanner_.expect('{')) return false;
  do {
    std::string_view key;
    if (!scanner_.read_string(key) || !scanner_.expect(':')) return false;
    if (key == "type") {
      std::string_view type;
      if (!scanner_.read_string(type)) return false;
      if (has_type || type != kind.name) return scanner_.fail("the line is of another type");
      has_type = true;
    } else if (key == "n") {
      int64_t count = 0;
      if (!scanner_.read_integer(count)) return false;
      if (has_count) return scanner_.fail("n is there twice");
      if (count < 0 || count > static_cast<int64_t>(kMaxBatchRows)) {
        return scanner_.fail("n is out of bounds");
      }
      rows_ = static_cast<size_t>(count);
      has_count = true;
    } else if (key == "span") {
      int64_t span[2];
      size_t count = 0;
      if (!scanner_.read_integer_list(span, 2, count)) return false;
      if (count != 2) return scanner_.fail("span is not two numbers");
    } else {
      const auto found = std::find_if(kind.columns.begin(), kind.columns.end(),
                                      [&](const ColumnSpec& spec) { return spec.is_called(key); });
      if (found == kind.columns.end()) {
        ++stats_->unknown_columns;
        if (!scanner_.skip_value()) return false;
      } else if (!read_named(columns_[static_cast<size_t>(found - kind.columns.begin())],
                             found->name != key)) {
        return false;
      }
    }
  } while (scanner_.accept(','));
  if (!scanner_.expect('}') || !scanner_.expect_end()) return false;
  if (!has_type) return scanner_.fail("type is missing");
  return has_count || scanner_.fail("n is missing");
}

bool BatchDecoder::read_text(Text& text) {
  if (text.form != Text::Form::Absent) return scanner_.fail("a member is there twice");
  const char c = scanner_.peek();
  text.offset = scanner_.offset();
  switch (c) {
    case '[': text.form = Text::Form::List; return scanner_.skip_list();
    case '{': text.form = Text::Form::Object; return true;
    case '"': text.form = Text::Form::String; return scanner_.read_string(text.string);
    default: text.form = Text::Form::Integer; return scanner_.read_integer(text.integer);
  }
}

// Of a column that is there under its former name, too, that one does not count.
bool BatchDecoder::read_named(ColumnText& column, bool is_former) {
  const bool is_there = column.value.form != Text::Form::Absent;
  if (is_there && is_former && !column.is_former) return scanner_.skip_value();
  if (is_there && !is_former && column.is_former) column.value = {};
  column.is_former = is_former;
  return read_column(column);
}

bool BatchDecoder::read_column(ColumnText& column) {
  if (!read_text(column.value)) return false;
  if (column.value.form != Text::Form::Object) return true;
  column.fields = {};
  if (!scanner_.expect('{')) return false;
  do {
    std::string_view key;
    if (!scanner_.read_string(key) || !scanner_.expect(':')) return false;
    const auto found = std::find(kFieldNames.begin(), kFieldNames.end(), key);
    if (found == kFieldNames.end()) {
      // What qualifies a known column may change its meaning.
      return scanner_.fail("a coding with an unknown member");
    }
    Text& field = column.fields[static_cast<size_t>(found - kFieldNames.begin())];
    if (!read_text(field)) return false;
    if (field.form == Text::Form::Object) return scanner_.fail("an object inside a coding");
  } while (scanner_.accept(','));
  return scanner_.expect('}');
}

// In the order in which columns depend on each other: palettes, durations, times from first to
// last.
bool BatchDecoder::decode_columns() {
  const auto specs = out_->kind_spec().columns;
  for (size_t i = 0; i < specs.size(); ++i) {
    if (columns_[i].value.form == Text::Form::Absent) {
      if (specs[i].required && rows_ != 0) return scanner_.fail("a required column is missing");
      columns_[i].decoded = true;
    } else if (!is_coded_as(columns_[i], "residual") && !is_coded_as(columns_[i], "ticks")) {
      if (!decode_simple(i)) return false;
    }
  }
  for (const bool durations : {true, false}) {
    for (size_t i = 0; i < specs.size(); ++i) {
      if (columns_[i].decoded || (specs[i].type == ColumnType::Duration) != durations) continue;
      if (is_coded_as(columns_[i], "residual") && !decode_residual(i)) return false;
      if (is_coded_as(columns_[i], "ticks") && !durations && !decode_ticks(i)) return false;
    }
  }
  for (const ColumnText& column : columns_) {
    if (!column.decoded) return fail_at(column.value, "ticks without a start in ticks");
  }
  return true;
}

bool BatchDecoder::decode_simple(size_t i) {
  ColumnText& column = columns_[i];
  column.decoded = true;
  if (column.value.form != Text::Form::Object) return decode_plain(i, column);
  if (is_coded_as(column, "delta")) return decode_delta(i, column);
  if (is_coded_as(column, "runs")) return decode_runs(i, column);
  if (is_coded_as(column, "palette")) return decode_palette(i, column);
  return fail_at(column.value, "an unknown coding");
}

bool BatchDecoder::decode_plain(size_t i, ColumnText& column) {
  int64_t* const values = make_column(i);
  if (out_->kind_spec().columns[i].type != ColumnType::Id64) {
    return read_values(column.value, values);
  }
  scanner_.seek(column.value.offset);
  if (column.value.form == Text::Form::String) {
    int64_t id = 0;
    if (!scanner_.read_id64(id)) return false;
    std::fill_n(values, rows_, id);
    return true;
  }
  size_t count = 0;
  if (!scanner_.read_id64_list(values, rows_, count)) return false;
  return count == rows_ || scanner_.fail("fewer values than rows");
}

bool BatchDecoder::decode_delta(size_t i, ColumnText& column) {
  const Text& from = column.fields[kFrom];
  if (from.form != Text::Form::Integer) return fail_at(column.value, "delta without from");
  int64_t* const values = make_column(i);
  if (!read_values(column.fields[kD], values)) return false;
  int64_t last = from.integer;
  for (size_t row = 0; row < rows_; ++row) {
    last = wrapping_add(last, values[row]);
    values[row] = last;
  }
  return true;
}

bool BatchDecoder::decode_runs(size_t i, ColumnText& column) {
  if (!read_list(column.fields[kV], list_) || !read_list(column.fields[kLen], other_list_)) {
    return false;
  }
  if (list_.size() != other_list_.size()) {
    return fail_at(column.value, "runs without a length each");
  }
  int64_t* const values = make_column(i);
  size_t row = 0;
  for (size_t run = 0; run < list_.size(); ++run) {
    const int64_t length = other_list_[run];
    if (length < 1 || static_cast<uint64_t>(length) > rows_ - row) {
      return fail_at(column.value, "runs that do not add up to n");
    }
    std::fill_n(values + row, static_cast<size_t>(length), list_[run]);
    row += static_cast<size_t>(length);
  }
  return row == rows_ || fail_at(column.value, "runs that do not add up to n");
}

bool BatchDecoder::decode_palette(size_t i, ColumnText& column) {
  const Text& ids = column.fields[kIds];
  const Text& index = column.fields[kX];
  if (ids.form != Text::Form::List || index.form != Text::Form::List) {
    return fail_at(column.value, "a palette without its lists");
  }
  if (out_->kind_spec().columns[i].type == ColumnType::Id64) {
    list_.resize(rows_);
    scanner_.seek(ids.offset);
    size_t count = 0;
    if (!scanner_.read_id64_list(list_.data(), rows_, count)) return false;
    list_.resize(count);
  } else if (!read_list(ids, list_)) {
    return false;
  }
  column.palette_size = list_.size();
  column.palette_index.resize(rows_);
  scanner_.seek(index.offset);
  size_t count = 0;
  if (!scanner_.read_unsigned_list(column.palette_index.data(), rows_, count)) return false;
  if (count != rows_) return scanner_.fail("fewer values than rows");
  int64_t* const values = make_column(i);
  for (size_t row = 0; row < rows_; ++row) {
    const uint64_t entry = column.palette_index[row];
    if (entry >= list_.size()) return fail_at(index, "an index outside the palette");
    values[row] = list_[entry];
  }
  return true;
}

int64_t* BatchDecoder::make_column(size_t i) {
  auto& values = out_->mutable_column(i);
  values.resize(rows_);
  return values.data();
}

bool BatchDecoder::is_coded_as(const ColumnText& column, std::string_view coding) const {
  return column.value.form == Text::Form::Object && column.fields[kAs].form == Text::Form::String &&
         column.fields[kAs].string == coding;
}

// One value per row: from a list of n, or from one number that all rows have.
bool BatchDecoder::read_values(const Text& text, int64_t* out) {
  if (text.form == Text::Form::Integer) {
    std::fill_n(out, rows_, text.integer);
    return true;
  }
  if (text.form != Text::Form::List) return fail_at(text, "a list or a number is expected");
  scanner_.seek(text.offset);
  size_t count = 0;
  if (!scanner_.read_integer_list(out, rows_, count)) return false;
  return count == rows_ || scanner_.fail("fewer values than rows");
}

// A list of at most n values.
bool BatchDecoder::read_list(const Text& text, std::vector<int64_t>& out) {
  if (text.form != Text::Form::List) return fail_at(text, "a list is expected");
  out.resize(rows_);
  scanner_.seek(text.offset);
  size_t count = 0;
  if (!scanner_.read_integer_list(out.data(), rows_, count)) return false;
  out.resize(count);
  return true;
}

bool BatchDecoder::fail_at(const Text& text, const char* reason) {
  scanner_.seek(text.offset);
  return scanner_.fail(reason);
}

}  // namespace gpufl::format
