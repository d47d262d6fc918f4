// SPDX-License-Identifier: Apache-2.0
// format/SPEC.md against the code; reference_pages_test compares its tables of columns.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "format/dictionary.hpp"
#include "format/limits.hpp"
#include "format/schema.hpp"

namespace gpufl::format {
namespace {

// The "###" headings of the page.
std::set<std::string> sections() {
  std::set<std::string> found;
  std::ifstream file(GPUFL_SPEC_FILE);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("### ")) found.insert(line.substr(4));
  }
  return found;
}

TEST(SpecTest, HasEveryKind) {
  const std::set<std::string> on_page = sections();
  for (size_t i = 0; i < kKindCount; ++i) {
    const std::string name(spec(static_cast<Kind>(i)).name);
    EXPECT_TRUE(on_page.contains(name)) << name;
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
