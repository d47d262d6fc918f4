// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/math/figure.hpp"
#include "analysis/math/intervals.hpp"
#include "analysis/tables/tables.hpp"

// The program's counters as steps over time: what each grew by in any spans. A counter is read now
// and then, and sampled when it has changed: when it did between two samples nobody knows, so that
// its value at a time is between theirs. Constant once made.
namespace gpufl::analysis {

// What a counter grew by while such a scope was open, whoever counted. Unknown where it is read too
// seldom to tell what grew inside from what grew outside.
struct ScopeCounter {
  std::string name;
  Figure<int64_t> increase;
  Figure<double> per_second;
};

class CounterCurves {
 public:
  explicit CounterCurves(const Tables& tables);
  // Those that grew in these spans, or may have, by name. Unknown where the samples around the
  // spans' ends leave more than kMaxDoubt of the increase open.
  std::vector<ScopeCounter> increases(const Tables& tables, const Intervals& spans) const;

  static constexpr double kMaxDoubt = 0.1;

 private:
  struct Step {
    int64_t time_ns, value;
  };
  using Curve = std::vector<Step>;
  struct Bounds {
    int64_t least, most;
  };
  static Bounds at(const Curve& curve, int64_t time_ns);

  std::map<uint32_t, Curve> curves_;  // by id of Tables::names
};

}  // namespace gpufl::analysis
