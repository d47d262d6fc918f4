// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/page.hpp"

// Lays text out in a fixed number of columns: headings, labelled fields, wrapped paragraphs and
// tables. What it adds itself is ASCII. Text from a log is made harmless first: control characters
// (which a terminal would obey) and broken UTF-8 become '?'. One thread.
namespace gpufl::report {

class TextPage : public Page {
 public:
  TextPage(size_t width, bool has_color) : width_(width), has_color_(has_color) {}

  // A blank line before it, unless it is the first.
  void heading(std::string_view title, std::string_view remark = {},
               Tone tone = Tone::Plain) override;
  void field(std::string_view label, std::string_view value, Tone tone = Tone::Plain) override;
  void command(std::string_view label, std::string_view command) override;
  void paragraph(size_t indent, std::string_view text, Tone tone = Tone::Plain,
                 size_t hanging = 0) override;
  size_t limit_paragraphs(size_t lines) override { return std::exchange(most_lines_, lines); }
  void table(const TextTable& table) override;
  bool shows(const TextTable& table, std::string_view title) const override;

 private:
  struct Layout {
    std::vector<std::vector<std::string>> rows;  // the titles first
    std::vector<size_t> widths;
    std::vector<size_t> shown;  // columns for which there is room
  };
  Layout lay_out(const TextTable& table) const;
  void append(std::string_view text, Tone tone);

  size_t width_;
  size_t most_lines_ = 0;  // of a paragraph; 0: any number
  bool has_color_;
};

}  // namespace gpufl::report
