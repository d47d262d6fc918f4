// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/metric_presets.hpp"

#include <algorithm>

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

constexpr MetricSet kSass[] = {
    {"efficiency", kEfficiency}, {"execution", kExecution}, {"global", kGlobal},
    {"shared", kShared},         {"branches", kBranches},
};

// Chosen so that few passes are needed: of these two, by what libnvperf plans for GH100.
constexpr std::string_view kOverview[] = {
    "gpu__time_duration.sum",
    "smsp__inst_executed.sum",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active",
    "l1tex__t_sector_hit_rate.pct",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "lts__t_bytes.sum",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
};
constexpr std::string_view kOccupancy[] = {"sm__warps_active.avg.pct_of_peak_sustained_active",
                                           "smsp__issue_active.avg.pct_of_peak_sustained_active"};
constexpr std::string_view kMemory[] = {
    "l1tex__t_bytes.sum",
    "l1tex__t_sector_hit_rate.pct",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "lts__t_bytes.sum",
    "lts__t_sector_hit_rate.pct",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
};
constexpr std::string_view kTensor[] = {
    "sm__inst_executed_pipe_tensor.sum",
    "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active",
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"};
constexpr std::string_view kThroughput[] = {
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "l1tex__throughput.avg.pct_of_peak_sustained_elapsed",
    "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
};
constexpr MetricSet kRange[] = {
    {"overview", kOverview}, {"occupancy", kOccupancy},   {"memory", kMemory},
    {"tensor", kTensor},     {"throughput", kThroughput},
};

// Of samples over time. Each is one pass, by what libnvperf plans for GH100, GB100, GA100 and
// AD102.
constexpr std::string_view kPmOverview[] = {
    "sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
    "sm__warps_active.avg.pct_of_peak_sustained_elapsed",
    "sm__inst_executed.sum",
    "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_elapsed",
    "lts__t_bytes.sum",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "pcie__read_bytes.sum",
    "pcie__write_bytes.sum",
};
constexpr std::string_view kPmTensor[] = {
    "sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "sm__inst_executed_pipe_tensor.sum",
    "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_elapsed",
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"};
constexpr std::string_view kPmMemory[] = {
    "l1tex__t_bytes.sum",    "l1tex__t_sector_hit_rate.pct",
    "lts__t_bytes.sum",      "dram__bytes_read.sum",
    "dram__bytes_write.sum", "dram__throughput.avg.pct_of_peak_sustained_elapsed",
};
constexpr MetricSet kPm[] = {
    {"overview", kPmOverview}, {"tensor", kPmTensor}, {"memory", kPmMemory}};

}  // namespace

MetricOption sass_option() { return {"sass_metrics", kSass}; }

MetricOption range_option() { return {"range_metrics", kRange}; }

MetricOption pm_option() { return {"pm_sampling_metrics", kPm}; }

std::vector<std::string> resolve_metrics(std::span<const MetricSet> presets,
                                         std::span<const std::string> wanted) {
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  };
  for (const std::string& one : wanted) {
    const auto preset = std::find_if(presets.begin(), presets.end(),
                                     [&](const MetricSet& p) { return p.name == one; });
    if (preset == presets.end()) {
      add(one);
    } else {
      for (const std::string_view name : preset->metrics) add(name);
    }
  }
  return names;
}

std::string preset_names(std::span<const MetricSet> presets) {
  std::string names;
  for (const MetricSet& preset : presets) {
    names.append(names.empty() ? "" : ", ").append(preset.name);
  }
  return names;
}

}  // namespace gpufl::backend
