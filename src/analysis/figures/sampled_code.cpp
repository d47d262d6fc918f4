// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/sampled_code.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "symbols/code_stack.hpp"

namespace gpufl::analysis {

using disassembly::Instruction;
using disassembly::KernelCode;
using disassembly::SourcePlace;

void SampleCount::add(const StallCounts& more) {
  for (const auto& [reason, count] : more) {
    samples += count.samples;
    StallCount& sum = stalls[reason];
    sum.samples += count.samples;
    sum.not_issued += count.not_issued;
  }
}

const SourcePlace& shown_place(const KernelCode& code, const disassembly::InlineChain& chain) {
  const auto found = std::find_if(chain.begin(), chain.end(), [&](const SourcePlace& place) {
    return symbols::origin_of_source(code.files[place.file]) == symbols::Origin::User;
  });
  return found != chain.end() ? *found : chain.front();
}

std::optional<size_t> instruction_at(const KernelCode& code, int64_t offset) {
  const auto found =
      std::lower_bound(code.instructions.begin(), code.instructions.end(), offset,
                       [](const Instruction& a, int64_t at) { return int64_t{a.offset} < at; });
  if (found == code.instructions.end() || found->offset != offset) return std::nullopt;
  return static_cast<size_t>(found - code.instructions.begin());
}

std::pair<std::string, uint32_t> line_of(const KernelCode& code, const Instruction& instruction) {
  if (instruction.chain >= code.chains.size()) return {};
  const SourcePlace& place = shown_place(code, code.chains[instruction.chain]);
  return {code.files[place.file], place.line};
}

namespace {

std::vector<SampledLine> lines_of(const KernelCode& code, const SampledCode& joined) {
  std::map<std::pair<std::string, uint32_t>, SampledLine> lines;
  for (uint32_t i = 0; i < code.instructions.size(); ++i) {
    const std::pair<std::string, uint32_t> key = line_of(code, code.instructions[i]);
    SampledLine& line = lines[key];
    std::tie(line.file, line.line) = key;
    line.instructions.push_back(i);
    line.add(joined.instructions[i].stalls);
  }
  std::vector<SampledLine> sorted;
  for (auto& [place, line] : lines) sorted.push_back(std::move(line));
  std::stable_sort(sorted.begin(), sorted.end(), [](const SampledLine& a, const SampledLine& b) {
    return a.samples > b.samples;
  });
  return sorted;
}

}  // namespace

SampledCode join_samples(const KernelCode& code, const std::vector<const KernelStalls*>& stalls) {
  SampledCode joined;
  joined.instructions.resize(code.instructions.size());
  for (const KernelStalls* function : stalls) {
    const disassembly::Routine* routine = code.find_routine(function->function);
    const int64_t begin = routine != nullptr ? routine->offset : 0;
    for (const auto& [pc, counts] : function->by_pc) {
      SampleCount here;
      here.add(counts);
      joined.add(counts);
      if (const auto place = instruction_at(code, begin + pc)) {
        joined.instructions[*place].add(counts);
      } else {
        joined.unlocated += here.samples;
      }
    }
  }
  joined.lines = lines_of(code, joined);
  return joined;
}

}  // namespace gpufl::analysis
