// SPDX-License-Identifier: Apache-2.0
#include "report/text_page.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <utility>

#include "text/cut_names.hpp"
#include "text/display.hpp"

namespace gpufl::report {

namespace {

constexpr size_t kIndent = 2;
constexpr size_t kLabelWidth = 26;
constexpr size_t kGap = 2;
constexpr size_t kMinCut = 4;  // where nothing more can be dropped

std::string padded(std::string_view text, size_t width, bool is_left) {
  const std::string cell = text::fit(text, width);
  const std::string space(width - text::display_width(cell), ' ');
  return is_left ? cell + space : space + cell;
}

// Where the word from `begin` on ends when it is a path, which nobody can copy in pieces; else
// `bytes`.
size_t end_of_path(std::string_view text, size_t begin, size_t bytes) {
  const size_t end = std::min(text.find(' ', begin), text.size());
  const bool is_path = text.substr(begin, end - begin).find('/') != std::string_view::npos;
  return is_path ? end : bytes;
}

void trim_right(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

std::string_view color_of(Tone tone) {
  switch (tone) {
    case Tone::Plain: return "";
    case Tone::Strong: return "\x1b[1m";
    case Tone::Good: return "\x1b[32m";
    case Tone::Warning: return "\x1b[1;33m";
  }
  return "";
}

}  // namespace

void TextTable::drop_empty_columns() {
  for (size_t i = columns.size(); i-- > 0;) {
    const bool is_empty = std::all_of(rows.begin(), rows.end(), [i](const auto& row) {
      return row[i].empty() || row[i] == "-" || row[i] == "unknown";
    });
    if (!is_empty || i == flexible) continue;
    columns.erase(columns.begin() + static_cast<ptrdiff_t>(i));
    for (auto& row : rows) row.erase(row.begin() + static_cast<ptrdiff_t>(i));
    if (i < flexible) --flexible;
  }
}

void TextPage::append(std::string_view text, Tone tone) {
  if (!has_color_ || tone == Tone::Plain) {
    text_ += text;
    return;
  }
  text_ += color_of(tone);
  text_ += text;
  text_ += "\x1b[0m";
}

void TextPage::heading(std::string_view title, std::string_view remark, Tone tone) {
  if (!text_.empty()) text_ += '\n';
  append(title, Tone::Strong);
  if (!remark.empty()) {
    text_ += ": ";
    append(text::fit(text::make_harmless(remark), width_ - text::display_width(title) - 2), tone);
  }
  text_ += '\n';
}

void TextPage::field(std::string_view label, std::string_view value, Tone tone) {
  std::string text = padded(label, kLabelWidth, true);
  text += value;
  paragraph(kIndent, text, tone, kLabelWidth);
}

void TextPage::command(std::string_view label, std::string_view command) {
  text_.append(kIndent, ' ');
  text_ += padded(label, kLabelWidth, true) + text::make_harmless(command) + '\n';
}

void TextPage::paragraph(size_t indent, std::string_view text, Tone tone, size_t hanging) {
  const std::string harmless = text::make_harmless(text);
  std::string_view left = harmless;
  size_t lines = 0;
  for (bool is_first = true; is_first || !left.empty(); is_first = false) {
    const size_t margin = indent + (is_first ? 0 : hanging);
    if (++lines == most_lines_) {
      text_.append(margin, ' ');
      append(text::fit(left, width_ - margin), tone);
      text_ += '\n';
      return;
    }
    size_t bytes = text::prefix_bytes(left, width_ - margin);
    if (bytes < left.size()) {
      // Never back over a label and into its padding: that would only waste the line.
      const size_t space = left.substr(0, bytes + 1).find_last_of(' ');
      if (space != std::string_view::npos && space > (is_first ? hanging : 0)) {
        bytes = space;
      } else {
        const size_t word = space == std::string_view::npos ? 0 : space + 1;
        if (most_lines_ == 0) bytes = end_of_path(left, word, bytes);
      }
    }
    std::string line(left.substr(0, bytes));
    trim_right(line);
    text_.append(margin, ' ');
    append(line, tone);
    text_ += '\n';
    left.remove_prefix(bytes);
    left.remove_prefix(std::min(left.find_first_not_of(' '), left.size()));
  }
}

bool Page::shows(const TextTable& table, std::string_view title) const {
  return std::any_of(table.columns.begin(), table.columns.end(),
                     [title](const TextColumn& column) { return column.title == title; });
}

bool TextPage::shows(const TextTable& table, std::string_view title) const {
  const Layout layout = lay_out(table);
  return std::any_of(layout.shown.begin(), layout.shown.end(),
                     [&](size_t i) { return table.columns[i].title == title; });
}

TextPage::Layout TextPage::lay_out(const TextTable& table) const {
  std::vector<std::vector<std::string>> rows;
  rows.reserve(table.rows.size() + 1);
  rows.emplace_back();
  for (const TextColumn& column : table.columns) rows.front().push_back(column.title);
  for (const auto& row : table.rows) {
    auto& cells = rows.emplace_back();
    for (const std::string& cell : row) cells.push_back(text::make_harmless(cell));
  }
  std::vector<size_t> widths(table.columns.size(), 0);
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], text::display_width(row[i]));
  }

  std::vector<size_t> shown(table.columns.size());
  std::iota(shown.begin(), shown.end(), size_t{0});
  const auto left_for_flexible = [&] {
    size_t used = kIndent;
    for (const size_t i : shown) used += i == table.flexible ? kGap : widths[i] + kGap;
    used -= kGap;  // none before the first
    return used < width_ ? width_ - used : 0;
  };
  size_t& flexible_width = widths[table.flexible];
  while (left_for_flexible() < std::min(flexible_width, table.min_flexible)) {
    const auto next = std::max_element(shown.begin(), shown.end(), [&](size_t a, size_t b) {
      return table.columns[a].drop_order < table.columns[b].drop_order;
    });
    if (table.columns[*next].drop_order == 0) break;
    shown.erase(next);
  }
  flexible_width = std::min(flexible_width, std::max(left_for_flexible(), kMinCut));
  std::vector<std::string> names;
  for (const auto& row : rows) names.push_back(row[table.flexible]);
  const std::vector<std::string> cut = text::cut_names(names, flexible_width);
  for (size_t i = 0; i < rows.size(); ++i) rows[i][table.flexible] = cut[i];
  return {std::move(rows), std::move(widths), std::move(shown)};
}

void TextPage::table(const TextTable& table) {
  const auto [rows, widths, shown] = lay_out(table);
  for (const auto& row : rows) {
    std::string line(kIndent, ' ');
    for (const size_t i : shown) {
      if (i != shown.front()) line.append(kGap, ' ');
      line += padded(row[i], widths[i], i == table.flexible || table.columns[i].is_left);
    }
    trim_right(line);
    append(text::fit(line, width_), &row == &rows.front() ? Tone::Strong : Tone::Plain);
    text_ += '\n';
  }
}

}  // namespace gpufl::report
