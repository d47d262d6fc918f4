// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/figures/kernel_groups.hpp"

// Who launches one kernel: its launches by operator and module of a framework, by line, call stack,
// scope and API call. Lists have bounds, and what they leave out is counted. Pure functions; time
// is linear in the session's kernels.
namespace gpufl::analysis {

struct CallerStack {
  KernelGroup group;
  std::vector<std::string> frames;  // innermost first, as people read them
  uint64_t more_frames = 0;         // that are left out, the outermost
};

// Most time first; shares are of the kernel's time.
template <typename Entry>
struct Callers {
  std::vector<Entry> entries;
  uint64_t more = 0;  // that are left out,
  uint64_t more_launches = 0;
  int64_t more_ns = 0;
};

struct KernelCallers {
  Figure<Callers<KernelGroup>> by_op, by_module, by_line, by_scope, by_api_call;
  Figure<Callers<CallerStack>> by_stack;
};

struct CallerLimits {
  size_t entries = 50;
  size_t stacks = 20;
  size_t frames = 64;  // of a stack
};

// `function`: the kernel, by its name in the log.
KernelCallers kernel_callers(const SessionData& session, const AnalysisOptions& options,
                             std::string_view function, const CallerLimits& limits = {});

}  // namespace gpufl::analysis
