// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "report/page.hpp"

// A report as GitHub's Markdown, for pull requests: tables with every column, names as they are.
// What text from a log holds of Markdown or HTML is escaped. One thread.
namespace gpufl::report {

// As Markdown shows it again.
std::string escape_markdown(std::string_view text);

class MarkdownPage : public Page {
 public:
  // The first is the title of the page.
  void heading(std::string_view title, std::string_view remark = {},
               Tone tone = Tone::Plain) override;
  // Those that follow each other are the rows of one table.
  void field(std::string_view label, std::string_view value, Tone tone = Tone::Plain) override;
  // An indented one belongs to the one before it.
  void paragraph(size_t indent, std::string_view text, Tone tone = Tone::Plain,
                 size_t hanging = 0) override;
  void table(const TextTable& table) override;

 private:
  enum class Block { None, Fields, List, Other };
  void begin(Block block);

  Block block_ = Block::None;
};

}  // namespace gpufl::report
