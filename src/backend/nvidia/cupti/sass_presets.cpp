// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/sass_presets.hpp"

#include <algorithm>
#include <string_view>

namespace gpufl::backend {
namespace {

constexpr std::string_view kExecution[] = {"smsp__sass_inst_executed",
                                           "smsp__sass_thread_inst_executed",
                                           "smsp__sass_thread_inst_executed_pred_on"};
constexpr std::string_view kGlobal[] = {
    "smsp__sass_sectors_mem_global", "smsp__sass_sectors_mem_global_ideal",
    "smsp__sass_sectors_mem_local", "smsp__sass_l1tex_tags_mem_global"};
constexpr std::string_view kShared[] = {"smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared",
                                        "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal"};
constexpr std::string_view kBranches[] = {"smsp__sass_inst_executed_op_branch",
                                          "smsp__sass_branch_targets_threads_divergent",
                                          "smsp__sass_branch_targets_threads_uniform"};
// What the derived figures and the insights are made of.
constexpr std::string_view kEfficiency[] = {
    "smsp__sass_inst_executed",
    "smsp__sass_thread_inst_executed",
    "smsp__sass_thread_inst_executed_pred_on",
    "smsp__sass_sectors_mem_global",
    "smsp__sass_sectors_mem_global_ideal",
    "smsp__sass_sectors_mem_local",
    "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared",
    "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal",
};

struct Preset {
  std::string_view name;
  std::span<const std::string_view> metrics;
};
constexpr Preset kPresets[] = {
    {"efficiency", kEfficiency}, {"execution", kExecution}, {"global", kGlobal},
    {"shared", kShared},         {"branches", kBranches},
};

}  // namespace

std::vector<std::string> resolve_sass_metrics(std::span<const std::string> wanted) {
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  };
  for (const std::string& one : wanted) {
    const auto* const preset = std::find_if(std::begin(kPresets), std::end(kPresets),
                                            [&](const Preset& p) { return p.name == one; });
    if (preset == std::end(kPresets)) {
      add(one);
    } else {
      for (const std::string_view name : preset->metrics) add(name);
    }
  }
  return names;
}

}  // namespace gpufl::backend
