// SPDX-License-Identifier: Apache-2.0
// The tables of format/SPEC.md against the tables of the code.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "format/dictionary.hpp"
#include "format/limits.hpp"
#include "format/schema.hpp"

namespace gpufl::format {
namespace {

std::string cell_text(std::string cell) {
  std::erase(cell, '`');
  const size_t begin = cell.find_first_not_of(' ');
  if (begin == std::string::npos) return "";
  return cell.substr(begin, cell.find_last_not_of(' ') - begin + 1);
}

std::string_view name_of(ColumnType type) {
  switch (type) {
    case ColumnType::Time: return "Time";
    case ColumnType::Duration: return "Duration";
    case ColumnType::Integer: return "Integer";
    case ColumnType::DictId: return "DictId";
    case ColumnType::Id64: return "Id64";
  }
  return "?";
}

std::string_view name_of(Coding coding) {
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

struct Section {
  std::string text;                            // all lines below the heading
  std::vector<std::vector<std::string>> rows;  // of the tables in it, heading rows included
};

// The sections of the page by their "###" heading.
std::map<std::string, Section> read_spec() {
  std::map<std::string, Section> sections;
  std::ifstream file(GPUFL_SPEC_FILE);
  Section* section = nullptr;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) section = nullptr;
    if (line.starts_with("### ")) section = &sections[line.substr(4)];
    if (section == nullptr) continue;
    section->text += line + "\n";
    if (!line.starts_with("| ")) continue;
    std::vector<std::string> cells;
    std::istringstream row(line.substr(1));
    for (std::string cell; std::getline(row, cell, '|');) cells.push_back(cell_text(cell));
    section->rows.push_back(std::move(cells));
  }
  return sections;
}

TEST(SpecTest, HasEveryKind) {
  const auto sections = read_spec();
  for (size_t i = 0; i < kKindCount; ++i) {
    EXPECT_TRUE(sections.contains(std::string(spec(static_cast<Kind>(i)).name)))
        << spec(static_cast<Kind>(i)).name;
  }
}

TEST(SpecTest, HasTheColumnsOfTheCode) {
  const auto sections = read_spec();
  for (size_t i = 0; i < kKindCount; ++i) {
    const KindSpec& kind = spec(static_cast<Kind>(i));
    if (!kind.is_batch()) continue;
    const Section& section = sections.at(std::string(kind.name));
    EXPECT_NE(section.text.find("Channel `" + std::string(to_string(kind.channel)) + "`"),
              std::string::npos)
        << kind.name;
    ASSERT_EQ(section.rows.size(), kind.columns.size() + 1) << kind.name;
    for (size_t column = 0; column < kind.columns.size(); ++column) {
      const ColumnSpec& in_code = kind.columns[column];
      const std::vector<std::string>& in_spec = section.rows[column + 1];
      ASSERT_EQ(in_spec.size(), 6u) << kind.name << " " << in_code.name;
      EXPECT_EQ(in_spec[0], in_code.name) << kind.name;
      EXPECT_EQ(in_spec[1], name_of(in_code.type)) << kind.name << " " << in_code.name;
      EXPECT_EQ(in_spec[2], in_code.dict == Dict::None ? "" : to_string(in_code.dict))
          << kind.name << " " << in_code.name;
      EXPECT_EQ(in_spec[3], name_of(in_code.coding)) << kind.name << " " << in_code.name;
      EXPECT_EQ(in_spec[4], in_code.required ? "yes" : "") << kind.name << " " << in_code.name;
      EXPECT_FALSE(in_spec[5].empty()) << kind.name << " " << in_code.name;
    }
  }
}

TEST(SpecTest, HasTheDictionariesAndBoundsOfTheCode) {
  std::ifstream file(GPUFL_SPEC_FILE);
  std::stringstream stream;
  stream << file.rdbuf();
  const std::string text = stream.str();
  for (size_t i = 1; i < kDictCount; ++i) {
    const auto dict = static_cast<Dict>(i);
    const std::string row = "| `" + std::string(to_string(dict)) + "` | " +
                            (holds_objects(dict) ? "objects" : "strings");
    EXPECT_NE(text.find(row), std::string::npos) << row;
  }
  EXPECT_NE(text.find("| a line | " + std::to_string(kMaxLineBytes >> 20) + " MiB |"),
            std::string::npos);
  EXPECT_NE(text.find("| an object line or a manifest line | " +
                      std::to_string(kMaxObjectLineBytes >> 20) + " MiB |"),
            std::string::npos);
  EXPECT_NE(text.find("| a dictionary value | " + std::to_string(kMaxValueBytes >> 10) + " KiB |"),
            std::string::npos);
  static_assert(kMaxDictionaryEntries == 1'048'576 && kMaxDictionaryBytes >> 20 == 64);
}

}  // namespace
}  // namespace gpufl::format
