// SPDX-License-Identifier: Apache-2.0
#include "analysis/insights/counted_places.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "text/units.hpp"

namespace gpufl::analysis {

CountedPlaces::CountedPlaces(const SessionView& view)
    : functions_(counted_functions(view.tables, view.overview.options)),
      lines_(view.session.counted().summary.dir) {}

void CountedPlaces::add_places(const CountedFunction& function, std::vector<Place>& places) {
  const disassembly::KernelCode* const code = lines_.find(function.module, function.function);
  if (code != nullptr && !code->chains.empty()) {
    for (const CountedLine& line : join_counts(*code, {&function}).lines) {
      const InstructionCounts& counts = line;
      if (!line.file.empty()) places.push_back({counts, line.file, line.line});
    }
    return;
  }
  for (const auto& [pc, counts] : function.by_pc) places.push_back({counts, "", 0, pc});
}

std::optional<Evidence> CountedPlaces::most(const SampledKernel& kernel, Amount amount,
                                            Words words) {
  std::vector<Place> places;
  uint64_t all = 0;
  for (const CountedFunction& function : functions_) {
    if (function.function != kernel.function) continue;
    for (const auto& [pc, counts] : function.by_pc) all += amount(counts);
    add_places(function, places);
  }
  const auto worst = std::max_element(
      places.begin(), places.end(),
      [&](const Place& a, const Place& b) { return amount(a.counts) < amount(b.counts); });
  if (worst == places.end() || amount(worst->counts) == 0) return std::nullopt;
  Evidence evidence;
  const std::string share =
      text::percent(static_cast<double>(amount(worst->counts)) / static_cast<double>(all));
  evidence.text = worst->file.empty()
                      ? fmt::format("most at instruction {:#06x}: {}; {} of the waste", worst->pc,
                                    words(worst->counts), share)
                      : fmt::format("{}; {} of the waste", words(worst->counts), share);
  evidence.file = worst->file;
  evidence.line = worst->line;
  return evidence;
}

}  // namespace gpufl::analysis
