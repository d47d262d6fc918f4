// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/counted_code.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/figures/sampled_code.hpp"
#include "analysis/session/selection.hpp"
#include "format/columns.hpp"

namespace gpufl::analysis {
namespace {

using disassembly::KernelCode;

struct CountedMetric {
  std::string_view name;
  uint64_t InstructionCounts::* count;
};
constexpr CountedMetric kMetrics[] = {
    {"smsp__sass_inst_executed", &InstructionCounts::warps},
    {"smsp__sass_thread_inst_executed", &InstructionCounts::threads},
    {"smsp__sass_thread_inst_executed_pred_on", &InstructionCounts::threads_on},
    {"smsp__sass_sectors_mem_global", &InstructionCounts::sectors},
    {"smsp__sass_sectors_mem_global_ideal", &InstructionCounts::sectors_ideal},
    {"smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared", &InstructionCounts::shared_passes},
    {"smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal",
     &InstructionCounts::shared_passes_ideal},
    {"smsp__sass_sectors_mem_local", &InstructionCounts::local_sectors},
};

std::optional<double> ratio(uint64_t count, uint64_t of) {
  if (count == 0 || of == 0) return std::nullopt;
  return static_cast<double>(count) / static_cast<double>(of);
}

constexpr uint64_t kWarpThreads = 32;

uint64_t beyond(uint64_t count, uint64_t needed) {
  return needed != 0 && count > needed ? count - needed : 0;
}

// By the log's id of the metric; those that are not among ours are null.
std::vector<uint64_t InstructionCounts::*> members_by_id(const Tables& tables) {
  std::vector<uint64_t InstructionCounts::*> members(tables.metrics.size(), nullptr);
  for (uint32_t id = 0; id < members.size(); ++id) {
    for (const CountedMetric& metric : kMetrics) {
      if (tables.metric(id) == metric.name) members[id] = metric.count;
    }
  }
  return members;
}

}  // namespace

void InstructionCounts::add(const InstructionCounts& more) {
  for (const CountedMetric& metric : kMetrics) this->*metric.count += more.*metric.count;
}

std::optional<double> InstructionCounts::active_threads() const { return ratio(threads, warps); }

std::optional<double> InstructionCounts::predicated_off() const {
  if (threads == 0 || threads_on == 0) return std::nullopt;
  return 1 - static_cast<double>(threads_on) / static_cast<double>(threads);
}

std::optional<double> InstructionCounts::sector_factor() const {
  return ratio(sectors, sectors_ideal);
}

std::optional<double> InstructionCounts::shared_factor() const {
  return ratio(shared_passes, shared_passes_ideal);
}

uint64_t InstructionCounts::idle_threads() const { return beyond(warps * kWarpThreads, threads); }

uint64_t InstructionCounts::excess_sectors() const { return beyond(sectors, sectors_ideal); }

uint64_t InstructionCounts::excess_passes() const {
  return beyond(shared_passes, shared_passes_ideal);
}

std::vector<CountedFunction> counted_functions(const Tables& tables,
                                               const AnalysisOptions& options) {
  namespace column = format::sass_metric_column;
  const auto rows = tables.others.find(format::Kind::SassMetric);
  if (rows == tables.others.end()) return {};
  const format::Batch& batch = rows->second;
  const auto members = members_by_id(tables);
  const Interval window = options.window.value_or(Selection::kAlways);
  std::map<std::tuple<int64_t, int64_t, int64_t>, CountedFunction> found;
  for (size_t row = 0; row < batch.rows(); ++row) {
    const auto metric = static_cast<size_t>(batch.at(column::kMetric, row));
    if (metric >= members.size() || members[metric] == nullptr) continue;
    const int64_t device = batch.at(column::kDevice, row, -1);
    const int64_t time_ns = batch.at(column::kTime, row);
    if (options.device && device != *options.device) continue;
    if (time_ns < window.start || time_ns >= window.end) continue;
    const int64_t name = batch.at(column::kFunction, row);
    const int64_t module = batch.at(column::kModule, row);
    CountedFunction& function = found[{name, module, device}];
    function.device = device;
    function.module = static_cast<uint64_t>(module);
    if (function.function.empty()) function.function = tables.name(static_cast<uint32_t>(name));
    const auto value = static_cast<uint64_t>(std::max<int64_t>(batch.at(column::kValue, row), 0));
    function.total.*members[metric] += value;
    function.by_pc[batch.at(column::kPc, row)].*members[metric] += value;
  }
  std::vector<CountedFunction> functions;
  functions.reserve(found.size());
  for (auto& [key, function] : found) functions.push_back(std::move(function));
  return functions;
}

CountedCode join_counts(const KernelCode& code,
                        const std::vector<const CountedFunction*>& functions) {
  CountedCode joined;
  joined.instructions.resize(code.instructions.size());
  for (const CountedFunction* function : functions) {
    const disassembly::Routine* routine = code.find_routine(function->function);
    const int64_t begin = routine != nullptr ? routine->offset : 0;
    joined.total.add(function->total);
    for (const auto& [pc, counts] : function->by_pc) {
      if (const auto place = instruction_at(code, begin + pc)) {
        joined.instructions[*place].add(counts);
      }
    }
  }
  std::map<std::pair<std::string, uint32_t>, CountedLine> lines;
  for (size_t i = 0; i < joined.instructions.size(); ++i) {
    if (joined.instructions[i].empty()) continue;
    const auto place = line_of(code, code.instructions[i]);
    CountedLine& line = lines[place];
    std::tie(line.file, line.line) = place;
    line.add(joined.instructions[i]);
  }
  for (auto& [place, line] : lines) joined.lines.push_back(std::move(line));
  std::stable_sort(joined.lines.begin(), joined.lines.end(),
                   [](const auto& a, const auto& b) { return a.warps > b.warps; });
  return joined;
}

}  // namespace gpufl::analysis
