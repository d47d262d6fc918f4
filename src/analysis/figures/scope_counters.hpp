// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/math/figure.hpp"
#include "analysis/math/intervals.hpp"
#include "analysis/tables/tables.hpp"

// The program's counters as steps over time: what each grew by in any spans. A counter is read now
// and then, and sampled when it has changed: when it did between two samples nobody knows, so that
// its value at a time is between theirs. Constant once made; borrows the tables.
namespace gpufl::analysis {

// What a counter grew by while such a scope was open, whoever counted.
struct ScopeCounter {
  struct Growth {
    int64_t increase;
    double per_second;
  };
  uint32_t name = 0;             // of Tables::names
  std::optional<Growth> growth;  // none: unsampled_growth() says why
};
// It is read too seldom to tell what grew inside from what grew outside. The same for all, because
// most pairs of a counter and a scope are like that.
const Unknown& unsampled_growth();

struct ScopeCounters {
  std::vector<ScopeCounter> list;  // by name: all that are known, and the first of the others
  uint64_t unknown = 0;            // how many of the others there are in all
};

class CounterCurves {
 public:
  explicit CounterCurves(const Tables& tables);

  // For each of several sets of spans, the counters that have a sample inside of one. Of the others
  // nobody can tell more than whether they may have grown. One walk through the samples, whose time
  // grows with those times the sets that are open then.
  std::vector<std::vector<uint32_t>> sampled_in(std::span<const Intervals* const> sets) const;

  // Those that grew in these spans, or may have. Unknown where the samples around the spans' ends
  // leave more than kMaxDoubt of the increase open. `sampled`: what sampled_in() has for them;
  // `most_unknown`: how many of those are listed.
  ScopeCounters increases(const Intervals& spans, const std::vector<uint32_t>& sampled,
                          size_t most_unknown) const;

  static constexpr double kMaxDoubt = 0.1;

 private:
  struct Step {
    int64_t time_ns, value;
  };
  struct Curve {
    uint32_t name = 0;  // of Tables::names
    std::vector<Step> steps;
    // It grows from one sample to the next between these times, and nowhere else.
    bool is_plain = true;
    Interval growing;
    // Curves up to this one are as plain and grow between the same times: samples of all counters
    // are taken at once, so that most do.
    uint32_t alike_until = 0;

    void see_growth();
    bool may_grow_in(const Intervals& spans) const;  // of a plain one
  };
  struct Bounds {
    int64_t least, most;
  };
  static Bounds at(const Curve& curve, int64_t time_ns);
  static void add(const Curve& curve, Interval span, Bounds& increase);
  static Bounds increase_in(const Curve& curve, const Intervals& spans);

  void find_alike();

  const Tables& tables_;
  std::vector<Curve> curves_;  // by their names' text
};

}  // namespace gpufl::analysis
