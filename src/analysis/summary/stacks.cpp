// SPDX-License-Identifier: Apache-2.0
#include "analysis/summary/stacks.hpp"

#include <algorithm>

#include "analysis/code/code_map.hpp"
#include "analysis/tables/wait_calls.hpp"

namespace gpufl::analysis {
namespace {

template <typename Site, typename Time>
void sort_by_time(std::vector<Site>& sites, Time time) {
  std::sort(sites.begin(), sites.end(), [&](const Site& a, const Site& b) {
    return time(a) != time(b) ? time(a) > time(b) : a.site < b.site;
  });
}

}  // namespace

void StackFigures::add_waits(const format::Batch& rows) {
  namespace column = format::sync_column;
  for (size_t row = 0; row < rows.rows(); ++row) {
    waits_[{rows.at(column::kStack, row), rows.at(column::kCall, row)}].add(
        static_cast<double>(rows.at(column::kDuration, row)));
  }
}

void StackFigures::add_kernels(const format::Batch& rows) {
  namespace column = format::kernel_column;
  if (!rows.has(column::kDuration)) return;
  const std::vector<int64_t>& durations = rows.column(column::kDuration);
  for (size_t row = 0; row < rows.rows();) {
    // Kernels of one stack follow each other, and most logs have none: figures are kept at hand.
    const int64_t stack = rows.at(column::kStack, row);
    Distribution& known = kernels_[stack];
    Distribution figures = known;
    do {
      figures.add(static_cast<double>(durations[row]));
      ++row;
    } while (row < rows.rows() && rows.at(column::kStack, row) == stack);
    known = figures;
  }
}

CodeSummary StackFigures::finish(const symbols::SymbolFile& symbols, const CodeMap& code) const {
  CodeSummary summary;
  summary.stacks = frames_.stacks().size();
  for (const symbols::BinaryNote& binary : symbols.binaries) {
    const bool is_its_own = symbols::origin_of_native(binary.path, {}) == symbols::Origin::User;
    if (is_its_own && binary.resolved == 0) summary.unresolved.push_back(binary);
  }

  // Many stacks lead to one line.
  std::map<std::pair<CodeSite, std::string>, Distribution> waits;
  for (const auto& [key, blocked_ns] : waits_) {
    const auto& [stack, kind] = key;
    const uint32_t id = stack_id(stack);
    const std::string& function = code.api_function(id);
    waits[{code.site(id), function.empty() ? std::string(wait_call_name(kind)) : function}].merge(
        blocked_ns);
    summary.blocked_ns.merge(blocked_ns);
  }
  for (auto& [key, blocked_ns] : waits) {
    summary.waits.push_back({key.first, key.second, blocked_ns});
  }
  sort_by_time(summary.waits, [](const WaitSite& wait) { return wait.blocked_ns.total; });

  std::map<CodeSite, Distribution> launches;
  bool has_stacks = false;
  for (const auto& [stack, gpu_ns] : kernels_) {
    has_stacks |= stack != kNoStack;
    launches[code.site(stack_id(stack))].merge(gpu_ns);
    summary.gpu_ns.merge(gpu_ns);
  }
  if (!has_stacks) return summary;
  for (auto& [site, gpu_ns] : launches) summary.launches.push_back({site, gpu_ns});
  sort_by_time(summary.launches, [](const LaunchSite& launch) { return launch.gpu_ns.total; });
  return summary;
}

}  // namespace gpufl::analysis
