// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "report/text_sections.hpp"
#include "text/display.hpp"
#include "text/units.hpp"

namespace gpufl::report {

void MissingFigures::add(std::string_view what, const analysis::Unknown& unknown) {
  const auto found = std::find_if(reasons_.begin(), reasons_.end(),
                                  [&](const auto& entry) { return entry.first == unknown; });
  if (found == reasons_.end()) {
    reasons_.emplace_back(unknown, what);
  } else {
    found->second.append(", ").append(what);
  }
}

void MissingFigures::write(Page& page) const {
  if (reasons_.empty()) return;
  page.heading("NOT RECORDED");
  for (const auto& [unknown, what] : reasons_) {
    page.paragraph(2, fmt::format("{}: {}", what, unknown.reason), Tone::Plain, 2);
    if (!unknown.remedy.empty()) page.paragraph(4, "-> " + unknown.remedy, Tone::Plain, 3);
  }
}

size_t width_of(const TextOptions& options) { return std::max<size_t>(options.width, 60); }

size_t rows_of(const TextOptions& options) {
  return options.top == 0 ? std::numeric_limits<size_t>::max() : options.top;
}

std::string chosen_text(const analysis::AnalysisOptions& options) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (!options.scope.empty()) add("scope " + options.scope);
  if (options.device) add(fmt::format("GPU {}", *options.device));
  if (options.window) {
    add(fmt::format("from {} to {}", duration_text(options.window->start),
                    duration_text(options.window->end)));
  }
  return text;
}

std::string full_report_command(const analysis::AnalysisOptions& options,
                                const std::filesystem::path& dir) {
  std::string text = "gpufl report --full ";
  if (!options.scope.empty()) text += fmt::format("--scope {} ", text::shell_word(options.scope));
  if (options.device) text += fmt::format("--device {} ", *options.device);
  return text + text::shell_word(dir.string());
}

void write_more(Page& page, size_t all, size_t shown) {
  if (all > shown) page.paragraph(2, fmt::format("... {} more", text::count(all - shown)));
}

std::string at_least_if(bool is_lower_bound, const std::string& text) {
  return is_lower_bound ? ">= " + text : text;
}

void write_lower_bound(Page& page, const std::optional<analysis::Unknown>& lost) {
  if (!lost) return;
  page.paragraph(2, fmt::format("At least so many (>=): {}.", lost->reason), Tone::Warning, 2);
  page.paragraph(2, "-> " + lost->remedy, Tone::Plain, 3);
}

std::string duration_text(int64_t duration_ns) {
  return text::duration(static_cast<double>(duration_ns));
}

std::string bytes_text(int64_t bytes) { return text::bytes(static_cast<double>(bytes)); }

std::string copied_text(int64_t bytes, uint64_t sized, uint64_t copies) {
  if (sized == 0 && copies > 0) return "unknown";
  return bytes_text(bytes) + (sized < copies ? " or more" : "");
}

std::string share_text(double part, double whole) {
  return whole > 0 ? fmt::format(" ({})", text::percent(part / whole)) : std::string();
}

}  // namespace gpufl::report
