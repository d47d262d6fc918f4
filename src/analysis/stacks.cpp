// SPDX-License-Identifier: Apache-2.0
#include "analysis/stacks.hpp"

#include <algorithm>

namespace gpufl::analysis {
namespace {

constexpr int64_t kNoStack = 0;

// What a wait is called where no symbol tells: the vendor's number of its kind (CUPTI's).
std::string wait_name(int64_t kind) {
  switch (kind) {
    case 1: return "EventSynchronize";
    case 2: return "StreamWaitEvent";
    case 3: return "StreamSynchronize";
    case 4: return "ContextSynchronize";
    default: return "wait";
  }
}

void find_source(CodeSite& site, const symbols::SymbolFile& symbols) {
  for (const symbols::SourceText& source : symbols.sources) {
    const int64_t index = site.line - source.first_line;
    if (source.path != site.file || index < 0 ||
        index >= static_cast<int64_t>(source.lines.size())) {
      continue;
    }
    site.source = source.lines[static_cast<size_t>(index)];
    site.is_newer = source.is_newer;
    return;
  }
}

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
  int64_t last = kNoStack;
  Distribution* of_last = nullptr;  // references into the map stay good while it grows
  for (size_t row = 0; row < rows.rows(); ++row) {
    const int64_t stack = rows.at(column::kStack, row);
    if (of_last == nullptr || stack != last) {
      of_last = &kernels_[stack];
      last = stack;
    }
    of_last->add(static_cast<double>(rows.at(column::kDuration, row)));
  }
}

StackFigures::StackSite StackFigures::site_of(int64_t stack,
                                              const symbols::SymbolFile& symbols) const {
  const auto found = frames_.stacks().find(stack);
  if (stack == kNoStack || found == frames_.stacks().end()) return {};
  const auto frames = symbols::resolve_stack(found->second, frames_, symbols);
  const symbols::CodeFrame* user = symbols::user_frame(frames);
  StackSite result;
  result.api_function = symbols::api_function(frames);
  if (user == nullptr) {
    result.site.text = symbols::kDriverInternal;
    return result;
  }
  result.site.text = symbols::site_text(*user);
  result.site.file = user->file;
  result.site.line = user->line;
  find_source(result.site, symbols);
  return result;
}

CodeSummary StackFigures::finish(const symbols::SymbolFile& symbols) const {
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
    StackSite place = site_of(stack, symbols);
    std::string call = place.api_function.empty() ? wait_name(kind) : std::move(place.api_function);
    waits[{std::move(place.site), std::move(call)}].merge(blocked_ns);
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
    launches[site_of(stack, symbols).site].merge(gpu_ns);
    summary.gpu_ns.merge(gpu_ns);
  }
  if (!has_stacks) return summary;
  for (auto& [site, gpu_ns] : launches) summary.launches.push_back({site, gpu_ns});
  sort_by_time(summary.launches, [](const LaunchSite& launch) { return launch.gpu_ns.total; });
  return summary;
}

}  // namespace gpufl::analysis
