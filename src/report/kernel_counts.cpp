// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <functional>

#include <fmt/format.h>

#include "report/kernel_report.hpp"
#include "report/text_sections.hpp"
#include "text/display.hpp"
#include "text/units.hpp"

namespace gpufl::report {
namespace {

using analysis::CountedLine;
using analysis::InstructionCounts;

std::string factor_text(const std::optional<double>& factor) {
  return factor ? fmt::format("{:.1f}x", *factor) : std::string();
}

std::string threads_text(const std::optional<double>& active) {
  return active ? fmt::format("{:.1f}", *active) : std::string();
}

std::string count_text(uint64_t count) { return count == 0 ? std::string() : text::count(count); }

// The line that wastes the most, and in which way.
struct Waste {
  const char* name;
  uint64_t (*of)(const InstructionCounts&);
  std::string (*text)(const InstructionCounts&);
};
constexpr std::array kWastes = {
    Waste{"uncoalesced", [](const InstructionCounts& c) { return c.excess_sectors(); },
          [](const InstructionCounts& c) {
            return fmt::format("{:.1f} times the sectors needed", c.sector_factor().value_or(0));
          }},
    Waste{"bank conflicts", [](const InstructionCounts& c) { return c.excess_passes(); },
          [](const InstructionCounts& c) {
            return fmt::format("{:.1f} times the passes needed", c.shared_factor().value_or(0));
          }},
    Waste{"divergent", [](const InstructionCounts& c) { return c.idle_threads(); },
          [](const InstructionCounts& c) {
            return fmt::format("{:.1f} of 32 threads active", c.active_threads().value_or(0));
          }},
};

void write_wastes(Page& page, const std::vector<CountedLine>& lines) {
  for (const Waste& waste : kWastes) {
    const auto worst = std::max_element(
        lines.begin(), lines.end(),
        [&](const CountedLine& a, const CountedLine& b) { return waste.of(a) < waste.of(b); });
    if (worst == lines.end() || waste.of(*worst) == 0) continue;
    page.field(waste.name, fmt::format("most at {}: {}", line_text(worst->file, worst->line),
                                       waste.text(*worst)));
  }
}

}  // namespace

std::string counts_text(const InstructionCounts& counts) {
  std::string text;
  const auto add = [&](const std::string& part) {
    text.append(text.empty() ? "" : ", ").append(part);
  };
  if (counts.warps > 0) add(text::count(counts.warps) + " warp instructions");
  if (const auto active = counts.active_threads()) {
    add(fmt::format("{:.1f} of 32 threads active", *active));
  }
  if (const auto off = counts.predicated_off(); off && *off > 0) {
    add(text::percent(*off) + " of them predicated off");
  }
  if (const auto factor = counts.sector_factor()) {
    add(fmt::format("{:.1f} times the sectors needed", *factor));
  }
  if (const auto factor = counts.shared_factor()) {
    add(fmt::format("{:.1f} times the passes over shared memory needed", *factor));
  }
  if (counts.local_sectors > 0) {
    add(text::count(counts.local_sectors) + " sectors of local memory");
  }
  return text;
}

void write_counts(Page& page, const KernelReport& report, const KernelImage& image, size_t top) {
  const std::vector<CountedLine>& lines = image.counted.lines;
  if (lines.empty()) return;
  TextTable table{{{"line", true},
                   {"executed"},
                   {"threads"},
                   {"sectors"},
                   {"needed"},
                   {"shared", false, 2},
                   {"needed", false, 2},
                   {"local", false, 2},
                   {"source", true, 3}}};
  table.flexible = 8;
  table.min_flexible = 12;
  const size_t shown = std::min(top, lines.size());
  for (size_t i = 0; i < shown; ++i) {
    const CountedLine& line = lines[i];
    const std::string* source = source_line(report.sources, line.file, line.line);
    const size_t begin = source != nullptr ? source->find_first_not_of(" \t") : std::string::npos;
    table.rows.push_back({line_text(line.file, line.line), count_text(line.warps),
                          threads_text(line.active_threads()), count_text(line.sectors),
                          factor_text(line.sector_factor()), count_text(line.shared_passes),
                          factor_text(line.shared_factor()), count_text(line.local_sectors),
                          begin != std::string::npos ? source->substr(begin) : ""});
  }
  table.drop_empty_columns();
  page.heading("COUNTED LINES", "executed by warps; sectors and passes as times those needed");
  write_wastes(page, lines);
  page.table(table);
  write_more(page, lines.size(), shown);
}

}  // namespace gpufl::report
