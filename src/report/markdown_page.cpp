// SPDX-License-Identifier: Apache-2.0
#include "report/markdown_page.hpp"

#include <fmt/format.h>

#include "report/text_page.hpp"
#include "text/display.hpp"

namespace gpufl::report {
namespace {

constexpr size_t kIndent = 2;

std::string emphasized(std::string_view text, Tone tone) {
  const std::string escaped = escape_markdown(text);
  const bool is_bold = tone == Tone::Strong || tone == Tone::Warning;
  return is_bold && !escaped.empty() ? "**" + escaped + "**" : escaped;
}

// A tree's indentation, which spaces would not keep.
std::string cell(std::string_view text) {
  const size_t spaces = std::min(text.find_first_not_of(' '), text.size());
  std::string out;
  for (size_t i = 0; i + kIndent <= spaces; i += kIndent) out += "&emsp;";
  return out + escape_markdown(text.substr(spaces));
}

}  // namespace

std::string escape_markdown(std::string_view text) {
  constexpr std::string_view kSpecial = "\\`*_[]<>|~&#";
  std::string out;
  for (const char character : text::make_harmless(text)) {
    if (kSpecial.find(character) != std::string_view::npos) out += '\\';
    out += character;
  }
  return out;
}

void MarkdownPage::begin(Block block) {
  const bool goes_on = block == block_ && block != Block::Other;
  if (!goes_on && !text_.empty()) text_ += '\n';
  block_ = block;
}

void MarkdownPage::heading(std::string_view title, std::string_view remark, Tone tone) {
  const bool is_first = text_.empty();
  begin(Block::Other);
  text_ += fmt::format("{} {}", is_first ? "##" : "###", escape_markdown(title));
  if (!remark.empty()) {
    // Titles are bold already.
    text_ += ": " + escape_markdown(remark);
    if (tone == Tone::Warning) text_ += " :warning:";
  }
  text_ += '\n';
}

void MarkdownPage::field(std::string_view label, std::string_view value, Tone tone) {
  if (block_ != Block::Fields) {
    begin(Block::Fields);
    text_ += "| | |\n|---|---|\n";
  }
  text_ += fmt::format("| {} | {} |\n", cell(label), emphasized(value, tone));
}

void MarkdownPage::paragraph(size_t indent, std::string_view text, Tone tone, size_t /*hanging*/) {
  begin(Block::List);
  const size_t depth = indent > kIndent ? indent - kIndent : 0;
  text_ += fmt::format("{}- {}\n", std::string(depth, ' '), emphasized(text, tone));
}

void MarkdownPage::table(const TextTable& table) {
  begin(Block::Other);
  std::string rule;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const TextColumn& column = table.columns[i];
    text_ += fmt::format("| {} ", escape_markdown(column.title));
    rule += i == table.flexible || column.is_left ? "|---" : "|---:";
  }
  text_ += "|\n" + rule + "|\n";
  for (const auto& row : table.rows) {
    for (const std::string& text : row) text_ += fmt::format("| {} ", cell(text));
    text_ += "|\n";
  }
}

}  // namespace gpufl::report
