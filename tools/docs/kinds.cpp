// SPDX-License-Identifier: Apache-2.0
#include "format/schema.hpp"
#include "parts.hpp"

namespace gpufl::docs {
namespace {

using format::Absence;
using format::Coding;
using format::ColumnSpec;
using format::ColumnType;

std::string name_of(ColumnType type) {
  switch (type) {
    case ColumnType::Time: return "Time";
    case ColumnType::Duration: return "Duration";
    case ColumnType::Integer: return "Integer";
    case ColumnType::DictId: return "DictId";
    case ColumnType::Id64: return "Id64";
  }
  return "?";
}

std::string name_of(Coding coding) {
  switch (coding) {
    case Coding::Plain: return "Plain";
    case Coding::Delta: return "Delta";
    case Coding::Runs: return "Runs";
    case Coding::Palette: return "Palette";
    case Coding::Residual: return "Residual";
    case Coding::GpuTime: return "GpuTime";
    case Coding::CallTime: return "CallTime";
  }
  return "?";
}

std::string quoted(std::string_view text) { return "`" + std::string(text) + "`"; }

// "0 `mark`, 1 `push/pop`"
std::string words_text(const ColumnSpec& column) {
  std::string text;
  for (const format::Word& word : column.words) {
    if (word.word.empty()) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(word.number) + " " + quoted(word.word);
    if (!word.meaning.empty()) text += " (" + std::string(word.meaning) + ")";
  }
  return text;
}

// What the general rules of the page do not say already.
std::string absence_text(const ColumnSpec& column) {
  if (column.is_time() || column.dict != format::Dict::None) return "";
  const std::string number = std::to_string(column.absent);
  switch (column.absence) {
    case Absence::Impossible: return "";
    case Absence::Default: return "; absent: " + number;
    case Absence::Unknown: return "; " + number + ": unknown";
    case Absence::None: return "; " + number + ": none";
  }
  return "";
}

std::string meaning(const ColumnSpec& column) {
  std::string text(column.meaning);
  if (!column.words.empty()) text += ": " + words_text(column);
  text += absence_text(column);
  if (!column.former_name.empty()) text += "; formerly " + quoted(column.former_name);
  return text;
}

std::string columns(const format::KindSpec& kind) {
  std::vector<std::vector<std::string>> rows;
  for (const ColumnSpec& column : kind.columns) {
    rows.push_back({quoted(column.name), name_of(column.type),
                    std::string(column.dict == format::Dict::None ? "" : to_string(column.dict)),
                    name_of(column.coding), column.required ? "yes" : "", meaning(column)});
  }
  return table({"column", "type", "dictionary", "coding", "required", "meaning"}, rows);
}

}  // namespace

std::vector<Part> kinds() {
  std::vector<Part> parts;
  for (size_t i = 0; i < format::kKindCount; ++i) {
    const format::KindSpec& kind = format::spec(static_cast<format::Kind>(i));
    if (!kind.is_batch()) continue;
    const std::string channel(to_string(kind.channel));
    parts.push_back({std::string(kind.name),
                     paragraph("Channel `" + channel + "`. " + std::string(kind.sentence)) + "\n" +
                         columns(kind)});
  }
  return parts;
}

}  // namespace gpufl::docs
