// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/kernel_callers.hpp"

#include <algorithm>
#include <utility>

#include "analysis/math/saturating.hpp"

namespace gpufl::analysis {
namespace {

CallerStack with_frames(KernelGroup group, const CodeMap& code, size_t most) {
  CallerStack stack;
  const auto& frames = code.frames(static_cast<uint32_t>(group.key));
  const size_t kept = std::min(frames.size(), most);
  for (size_t i = 0; i < kept; ++i) stack.frames.push_back(symbols::frame_text(frames[i]));
  stack.more_frames = frames.size() - kept;
  stack.group = std::move(group);
  stack.group.full_name = stack.group.label;  // which had all frames
  return stack;
}

// `make` makes an entry of a group.
template <typename Entry, typename Make>
Callers<Entry> first_of(std::vector<KernelGroup> groups, size_t most, Make make) {
  Callers<Entry> callers;
  for (KernelGroup& group : groups) {
    if (callers.entries.size() < most) {
      callers.entries.push_back(make(std::move(group)));
      continue;
    }
    ++callers.more;
    callers.more_launches += group.duration_ns.count;
    callers.more_ns = saturating_add(callers.more_ns, group.duration_ns.total);
  }
  return callers;
}

}  // namespace

KernelCallers kernel_callers(const SessionData& session, const AnalysisOptions& options,
                             std::string_view function, const CallerLimits& limits) {
  const auto by = [&](GroupBy grouping) -> Figure<Callers<KernelGroup>> {
    auto groups = kernel_groups(session, options, grouping, function);
    if (!groups) return groups.unknown();
    return first_of<KernelGroup>(std::move(*groups), limits.entries,
                                 [](KernelGroup group) { return group; });
  };
  const auto by_stack = [&]() -> Figure<Callers<CallerStack>> {
    auto groups = kernel_groups(session, options, GroupBy::Stack, function);
    if (!groups) return groups.unknown();
    return first_of<CallerStack>(std::move(*groups), limits.stacks, [&](KernelGroup group) {
      return with_frames(std::move(group), session.code, limits.frames);
    });
  };
  return {by(GroupBy::Op),    by(GroupBy::Module),  by(GroupBy::Line),
          by(GroupBy::Scope), by(GroupBy::ApiCall), by_stack()};
}

}  // namespace gpufl::analysis
