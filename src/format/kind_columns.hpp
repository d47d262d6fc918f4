// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "format/column_spec.hpp"

// The columns of kinds.def as constants, for those who decide by them at compile time: others ask
// spec(). Here stands what a line of kinds.def can say of a column.
namespace gpufl::format {

namespace described {

// A column while it is being described.
struct Column {
  ColumnSpec spec;

  constexpr Column required() const {
    Column column = *this;
    column.spec.required = true;
    return column;
  }
  // This number stands for what nobody knows; a row that lacks the column is like it.
  constexpr Column unknown(int64_t number) const { return absent(Absence::Unknown, number); }
  // The same for what there is not.
  constexpr Column none(int64_t number) const { return absent(Absence::None, number); }
  // A row that lacks the column is like this one, which is as good as any.
  constexpr Column otherwise(int64_t number) const { return absent(Absence::Default, number); }
  constexpr Column absent(Absence absence, int64_t number) const {
    Column column = *this;
    column.spec.absence = absence;
    column.spec.absent = number;
    return column;
  }
  constexpr Column words(std::span<const Word> words) const {
    Column column = *this;
    column.spec.words = words;
    return column;
  }
  constexpr Column unit(std::string_view unit) const {
    Column column = *this;
    column.spec.unit = unit;
    return column;
  }
  constexpr Column shown_as(std::string_view title) const {
    Column column = *this;
    column.spec.title = title;
    return column;
  }
  // Logs of before call it so; numbers and meaning are the same.
  constexpr Column formerly(std::string_view name) const {
    Column column = *this;
    column.spec.former_name = name;
    return column;
  }
  constexpr Column hidden() const { return shown(Shown::Nothing); }
  constexpr Column code_name() const { return shown(Shown::CodeName); }
  constexpr Column scaled() const { return shown(Shown::Scaled); }
  constexpr Column exponent() const { return shown(Shown::Exponent); }
  constexpr Column shown(Shown as) const {
    Column column = *this;
    column.spec.shown = as;
    return column;
  }
};

constexpr Column of_type(ColumnType type, Coding coding) {
  Column column;
  column.spec.type = type;
  column.spec.coding = coding;
  return column;
}
constexpr Column time(Coding coding = Coding::Delta) {
  return of_type(ColumnType::Time, coding).unknown(kNoTime);
}
constexpr Column duration() { return of_type(ColumnType::Duration, Coding::Residual).unknown(-1); }
constexpr Column integer(Coding coding = Coding::Plain) {
  return of_type(ColumnType::Integer, coding);
}
constexpr Column id64(Coding coding = Coding::Palette) { return of_type(ColumnType::Id64, coding); }
constexpr Column entry_of(Dict dict, Coding coding = Coding::Palette) {
  Column column = of_type(ColumnType::DictId, coding).none(0);
  column.spec.dict = dict;
  return column;
}
constexpr Column scope_id() { return integer(Coding::Runs).none(0).shown(Shown::ScopePath); }

constexpr ColumnSpec named(Column column, std::string_view name, std::string_view name_ns,
                           std::string_view meaning) {
  ColumnSpec& spec = column.spec;
  spec.name = name;
  spec.meaning = meaning;
  if (spec.title.empty()) spec.title = spec.is_time() ? name_ns : name;
  if (name == "dur") spec.title = "duration_ns";
  if (name == "api_dur") spec.title = "api_duration_ns";
  if (spec.unit.empty() && spec.title.ends_with("_ns")) spec.unit = "ns";
  if (spec.unit.empty() && spec.title.ends_with("bytes")) spec.unit = "bytes";
  if (spec.required && spec.is_time()) spec.absence = Absence::Impossible;
  return spec;
}

}  // namespace described

// The columns of a kind: kColumnsOf<Kind::Kernel>.
template <Kind kind>
inline constexpr std::array<ColumnSpec, 0> kColumnsOf{};

namespace described {

#define GPUFL_KIND(Id, name, ...) inline constexpr auto k##Id##Columns = std::to_array<ColumnSpec>({
#define GPUFL_COLUMN(Id, name, kept, spec, meaning) named(spec, #name, #name "_ns", meaning),
#define GPUFL_END_KIND(Id) \
  });
#include "format/kinds.def"

}  // namespace described

#define GPUFL_KIND(Id, name, ...) \
  template <>                     \
  inline constexpr auto kColumnsOf<Kind::Id> = described::k##Id##Columns;
#include "format/kinds.def"

}  // namespace gpufl::format
