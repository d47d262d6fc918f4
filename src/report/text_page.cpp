// SPDX-License-Identifier: Apache-2.0
#include "report/text_page.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <utility>

#include "report/cut_names.hpp"

namespace gpufl::report {

namespace {

constexpr size_t kIndent = 2;
constexpr size_t kLabelWidth = 26;
constexpr size_t kGap = 2;
constexpr size_t kMinCut = 4;  // where nothing more can be dropped
constexpr std::string_view kEllipsis = "...";

struct CodePoint {
  uint32_t value = 0;
  size_t bytes = 0;  // 0: not UTF-8
};

CodePoint decode(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
  if (bytes == 0 || lead > 0xf4 || bytes > text.size()) return {};
  uint32_t value = lead & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3fu);
  }
  constexpr std::array<uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = value >= 0xd800 && value < 0xe000;
  if (value < kSmallest[bytes] || value > 0x10ffff || is_surrogate) return {};
  return {value, bytes};
}

bool is_control(uint32_t value) {
  // C0, DEL and C1; marks that change the writing direction would reorder what follows them.
  return value < 0x20 || (value >= 0x7f && value < 0xa0) || (value >= 0x200b && value < 0x2010) ||
         (value >= 0x2028 && value < 0x202f) || (value >= 0x2060 && value < 0x2070) ||
         value == 0xfeff;
}

bool is_wide(uint32_t value) {
  struct Range {
    uint32_t first, last;
  };
  constexpr std::array kWide = {
      Range{0x1100, 0x115f},   Range{0x2e80, 0x303e}, Range{0x3041, 0xa4cf},
      Range{0xac00, 0xd7a3},   Range{0xf900, 0xfaff}, Range{0xfe30, 0xfe6f},
      Range{0xff00, 0xff60},   Range{0xffe0, 0xffe6}, Range{0x1f300, 0x1faff},
      Range{0x20000, 0x3fffd},
  };
  return std::any_of(kWide.begin(), kWide.end(), [&](const Range& range) {
    return value >= range.first && value <= range.last;
  });
}

std::string padded(std::string_view text, size_t width, bool is_left) {
  const std::string cell = fit(text, width);
  const std::string space(width - display_width(cell), ' ');
  return is_left ? cell + space : space + cell;
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

size_t prefix_bytes(std::string_view text, size_t width) {
  size_t bytes = 0;
  while (bytes < text.size()) {
    const CodePoint point = decode(text.substr(bytes));
    const size_t needed = is_wide(point.value) ? 2 : 1;
    if (needed > width) break;
    width -= needed;
    bytes += std::max<size_t>(point.bytes, 1);
  }
  return bytes;
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const CodePoint point = decode(text);
    width += is_wide(point.value) ? 2 : 1;
    text.remove_prefix(std::max<size_t>(point.bytes, 1));
  }
  return width;
}

std::string make_harmless(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = decode(text);
    if (point.bytes == 0 || is_control(point.value)) {
      out += '?';
    } else {
      out += text.substr(0, point.bytes);
    }
    text.remove_prefix(std::max<size_t>(point.bytes, 1));
  }
  return out;
}

std::string fit(std::string_view text, size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width <= kEllipsis.size()) return std::string(kEllipsis.substr(0, width));
  const size_t bytes = prefix_bytes(text, width - kEllipsis.size());
  return std::string(text.substr(0, bytes)).append(kEllipsis);
}

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
    append(fit(make_harmless(remark), width_ - display_width(title) - 2), tone);
  }
  text_ += '\n';
}

void TextPage::field(std::string_view label, std::string_view value, Tone tone) {
  std::string text = padded(label, kLabelWidth, true);
  text += value;
  paragraph(kIndent, text, tone, kLabelWidth);
}

void TextPage::paragraph(size_t indent, std::string_view text, Tone tone, size_t hanging) {
  const std::string harmless = make_harmless(text);
  std::string_view left = harmless;
  for (bool is_first = true; is_first || !left.empty(); is_first = false) {
    const size_t margin = indent + (is_first ? 0 : hanging);
    size_t bytes = prefix_bytes(left, width_ - margin);
    if (bytes < left.size()) {
      // Never back over a label and into its padding: that would only waste the line.
      const size_t space = left.substr(0, bytes + 1).find_last_of(' ');
      if (space != std::string_view::npos && space > (is_first ? hanging : 0)) bytes = space;
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
    for (const std::string& cell : row) cells.push_back(make_harmless(cell));
  }
  std::vector<size_t> widths(table.columns.size(), 0);
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
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
  const std::vector<std::string> cut = cut_names(names, flexible_width);
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
    append(fit(line, width_), &row == &rows.front() ? Tone::Strong : Tone::Plain);
    text_ += '\n';
  }
}

}  // namespace gpufl::report
