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

namespace {

// The instruction at an offset; null: there is none.
SampleCount* find(const KernelCode& code, int64_t offset, SampledCode& joined) {
  const auto found =
      std::lower_bound(code.instructions.begin(), code.instructions.end(), offset,
                       [](const Instruction& a, int64_t at) { return int64_t{a.offset} < at; });
  if (found == code.instructions.end() || found->offset != offset) return nullptr;
  return &joined.instructions[static_cast<size_t>(found - code.instructions.begin())];
}

std::vector<SampledLine> lines_of(const KernelCode& code, const SampledCode& joined) {
  std::vector<SourcePlace> shown;  // by chain
  shown.reserve(code.chains.size());
  for (const auto& chain : code.chains) shown.push_back(shown_place(code, chain));
  std::map<std::pair<std::string, uint32_t>, SampledLine> lines;
  for (uint32_t i = 0; i < code.instructions.size(); ++i) {
    const uint32_t chain = code.instructions[i].chain;
    const bool has_line = chain < shown.size();
    const std::pair<std::string, uint32_t> key =
        has_line ? std::pair(code.files[shown[chain].file], shown[chain].line)
                 : std::pair(std::string(), 0U);
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
      if (SampleCount* instruction = find(code, begin + pc, joined)) {
        instruction->add(counts);
      } else {
        joined.unlocated += here.samples;
      }
    }
  }
  joined.lines = lines_of(code, joined);
  return joined;
}

}  // namespace gpufl::analysis
