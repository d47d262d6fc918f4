// SPDX-License-Identifier: Apache-2.0
#include "report/html/html_page.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "report/html/svg_chart.hpp"

namespace gpufl::report {
namespace {

std::string_view class_of(Tone tone) {
  switch (tone) {
    case Tone::Plain: return "";
    case Tone::Strong: return " class=\"strong\"";
    case Tone::Good: return " class=\"good\"";
    case Tone::Warning: return " class=\"warning\"";
  }
  return "";
}

std::string margin_of(size_t indent) {
  return indent > 2 ? fmt::format(" style=\"margin-left:{}em\"", indent / 2) : std::string();
}

std::string cell_class(const TextTable& table, size_t column) {
  std::string classes;
  const auto add = [&](bool is_so, std::string_view name) {
    if (is_so) classes.append(classes.empty() ? "" : " ").append(name);
  };
  add(table.columns[column].is_left || column == table.flexible, "left");
  add(column == table.flexible, "flexible");
  return classes.empty() ? classes : fmt::format(" class=\"{}\"", classes);
}

bool is_tree(const TextTable& table) {
  return std::any_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
    return table.flexible < row.size() && row[table.flexible].starts_with(' ');
  });
}

// "GPU TIME": "GPU time". What stands in brackets is a name.
std::string sentence_case(std::string_view title) {
  constexpr std::array<std::string_view, 6> kKept = {"GPU", "GPUFlight", "API",
                                                     "CPU", "CUDA",      "SM"};
  std::string out;
  const size_t names = std::min(title.find('('), title.size());
  for (size_t begin = 0; begin < names;) {
    const size_t end = std::min(title.find(' ', begin), names);
    const std::string_view word = title.substr(begin, end - begin);
    const bool is_kept = std::find(kKept.begin(), kKept.end(), word) != kKept.end();
    for (const char c : word) {
      const bool is_lowered = !is_kept && !out.empty() && c >= 'A' && c <= 'Z';
      out += is_lowered ? static_cast<char>(c - 'A' + 'a') : c;
    }
    if (end < names) out += ' ';
    begin = end + 1;
  }
  return out.append(title.substr(names));
}

}  // namespace

void HtmlPage::close_fields() {
  if (in_fields_) text_ += "</dl>\n";
  in_fields_ = false;
}

void HtmlPage::heading(std::string_view written, std::string_view remark, Tone tone) {
  close_fields();
  const std::string title = sentence_case(written);
  text_ += "<h2";
  if (!in_fold_) {
    headings_.push_back({fmt::format("s{}", headings_.size() + 1), title});
    text_ += fmt::format(" id=\"{}\"", headings_.back().id);
  }
  text_ += fmt::format(">{}", html_text(title));
  if (!remark.empty()) {
    text_ +=
        fmt::format(": <span{}>{}</span>",
                    tone == Tone::Plain ? " class=\"remark\"" : class_of(tone), html_text(remark));
  }
  text_ += "</h2>\n";
}

void HtmlPage::field(std::string_view label, std::string_view value, Tone tone) {
  if (!in_fields_) text_ += "<dl>\n";
  in_fields_ = true;
  text_ +=
      fmt::format("<dt>{}</dt><dd{}>{}</dd>\n", html_text(label), class_of(tone), html_text(value));
}

void HtmlPage::paragraph(size_t indent, std::string_view text, Tone tone, size_t /*hanging*/) {
  close_fields();
  text_ += fmt::format("<p{}{}>{}</p>\n", class_of(tone), margin_of(indent), html_text(text));
}

void HtmlPage::moment(size_t indent, std::string_view text, int64_t start_ns, int64_t end_ns,
                      size_t /*hanging*/) {
  close_fields();
  text_ += fmt::format(
      "<p{}><a class=\"moment\" href=\"#timeline\" data-from=\"{}\" data-to=\"{}\">{}"
      "</a></p>\n",
      margin_of(indent), start_ns + offset_ns_, end_ns + offset_ns_, html_text(text));
}

void HtmlPage::table(const TextTable& table) {
  close_fields();
  text_ += fmt::format("<div class=\"table\"><table{}><thead><tr>",
                       is_tree(table) ? "" : " class=\"sortable\"");
  for (size_t i = 0; i < table.columns.size(); ++i) {
    text_ += fmt::format("<th{}>{}</th>", cell_class(table, i), html_text(table.columns[i].title));
  }
  text_ += "</tr></thead><tbody>\n";
  for (const auto& row : table.rows) {
    text_ += "<tr>";
    for (size_t i = 0; i < row.size() && i < table.columns.size(); ++i) {
      const std::string text = html_text(row[i]);
      text_ += fmt::format("<td{}{}>{}</td>", cell_class(table, i),
                           i == table.flexible ? fmt::format(" title=\"{}\"", text) : "", text);
    }
    text_ += "</tr>\n";
  }
  text_ += "</tbody></table></div>\n";
}

void HtmlPage::element(std::string_view html) {
  close_fields();
  text_ += html;
}

void HtmlPage::begin_fold(std::string_view title) {
  close_fields();
  in_fold_ = true;
  text_ += fmt::format("<details><summary>{}</summary>\n", html_text(title));
}

void HtmlPage::end_fold() {
  close_fields();
  in_fold_ = false;
  text_ += "</details>\n";
}

std::string HtmlPage::finish() {
  close_fields();
  return text_;
}

}  // namespace gpufl::report
