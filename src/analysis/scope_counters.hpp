// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/intervals.hpp"
#include "analysis/scope_work.hpp"
#include "analysis/tables.hpp"

// The program's counters as steps over time: what each grew by in any spans. A counter is sampled
// when it has changed, so what it grew by shows at the next sample. Constant once made.
namespace gpufl::analysis {

class CounterCurves {
 public:
  explicit CounterCurves(const Tables& tables);
  // Those that grew in these spans, by name.
  std::vector<ScopeCounter> increases(const Tables& tables, const Intervals& spans) const;

 private:
  struct Step {
    int64_t time_ns, value;
  };
  using Curve = std::vector<Step>;
  static int64_t at(const Curve& curve, int64_t time_ns);

  std::map<uint32_t, Curve> curves_;  // by id of Tables::names
};

}  // namespace gpufl::analysis
