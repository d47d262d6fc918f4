// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/code/kernel_class.hpp"
#include "analysis/math/figure.hpp"
#include "analysis/math/stats.hpp"
#include "analysis/session/analysis_options.hpp"
#include "analysis/session/session_data.hpp"

// Kernels put together by what they have in common, with exact figures of their durations. Pure
// functions; time is linear in the kernels. Groups are whole, most time first.
namespace gpufl::analysis {

enum class GroupBy : uint8_t {
  Name,
  Config,
  Class,
  Scope,
  Stream,
  Device,
  Line,
  ApiCall,
  Op,      // of a framework
  Module,  // likewise
  Stack    // the whole of it; whose label is its line
};

struct KernelGroup {
  // What people call it: a short name; a scope's path ("train > step / 3"); "GPU 0, stream 7";
  // "train.py:90 in step()"; "cudaLaunchKernel"; "matrix product". Kernels of which the log does
  // not tell have a group as well: "(no scope)", "(no stack)", "(no module)", "(unknown)".
  std::string label;
  std::string full_name;  // Name, Config: the demangled name, whole; Line: the whole path; Stack: a
                          // line for each frame; else label
  bool is_rest = false;   // the group of kernels of which the log does not tell
  // Name: id of Tables::names. Config: id of Tables::config. Stream: index into Tables::lanes.
  // Device: its number. Class: the KernelClass. Scope: index into Overview::scopes. Op, Module: id
  // of Tables::names. Stack: id for CodeMap. Else 0.
  int64_t key = 0;
  KernelClass kernel_class = KernelClass::Other;  // Name, Config, Class
  Stats duration_ns;
  double share = 0;  // of the durations of all kernels
};

// Line, ApiCall and Stack are unknown where no kernel has a stack, Op and Module where no framework
// told of its operators. `function`: launches of this kernel alone, by its name in the log; shares
// are of its time.
Figure<std::vector<KernelGroup>> kernel_groups(const SessionData& session,
                                               const AnalysisOptions& options, GroupBy by,
                                               std::optional<std::string_view> function = {});

// The kernels of the groups that are called so, by their full name or label; shares are of their
// time. Empty: no group is.
Figure<std::vector<KernelGroup>> kernels_of_group(const SessionData& session,
                                                  const AnalysisOptions& options, GroupBy by,
                                                  std::string_view group);

}  // namespace gpufl::analysis
