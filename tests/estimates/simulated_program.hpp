// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "capture/overhead_budget.hpp"

// A program of two parts that alternate over time, one of which is dear to record, and the phases
// in which a budget records it. The same seed gives the same run. For tests only.
namespace gpufl::estimates {

inline constexpr int64_t kSecond = capture::OverheadBudget::kSecond_ns;

struct Part {
  int64_t begin_ns = 0, end_ns = 0;
  bool is_dear = false;
};

struct Alternation {
  double dear_s = 300, cheap_s = 300;  // on average
  bool is_regular = false;             // lengths differ by a tenth at most
};

class SimulatedProgram {
 public:
  SimulatedProgram(const Alternation& alternation, int64_t end_ns, uint64_t seed) : random_(seed) {
    int64_t now_ns = 0;
    for (bool is_dear = seed % 2 == 0; now_ns < end_ns; is_dear = !is_dear) {
      const double mean_s = is_dear ? alternation.dear_s : alternation.cheap_s;
      // It begins in the middle of a part.
      double length_s = mean_s * (parts_.empty() ? uniform(0, 1) : 1);
      length_s *= alternation.is_regular ? uniform(0.95, 1.05)
                                         : std::exponential_distribution<double>(1)(random_);
      const int64_t next_ns = now_ns + std::max<int64_t>(1, static_cast<int64_t>(length_s * 1e9));
      parts_.push_back({now_ns, std::min(next_ns, end_ns), is_dear});
      now_ns = next_ns;
    }
  }

  // It is dear for a while, and cheap from then on.
  static SimulatedProgram of_start_up(int64_t length_ns, int64_t end_ns) {
    SimulatedProgram program;
    program.parts_ = {{0, length_ns, true}, {length_ns, end_ns, false}};
    return program;
  }

  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  // What of a span of time is of which part.
  std::vector<Part> within(int64_t begin_ns, int64_t end_ns) const {
    std::vector<Part> found;
    for (auto part = at(begin_ns); part != parts_.end() && part->begin_ns < end_ns; ++part) {
      found.push_back(
          {std::max(begin_ns, part->begin_ns), std::min(end_ns, part->end_ns), part->is_dear});
    }
    return found;
  }
  bool is_dear_at(int64_t time_ns) const {
    const auto part = at(time_ns);
    return part != parts_.end() && part->is_dear;
  }
  double dear_ns() const {
    double sum_ns = 0;
    for (const Part& part : parts_) {
      if (part.is_dear) sum_ns += static_cast<double>(part.end_ns - part.begin_ns);
    }
    return sum_ns;
  }

 private:
  SimulatedProgram() = default;
  std::vector<Part>::const_iterator at(int64_t time_ns) const {
    return std::upper_bound(parts_.begin(), parts_.end(), time_ns,
                            [](int64_t time, const Part& part) { return time < part.end_ns; });
  }

  std::mt19937_64 random_;
  std::vector<Part> parts_;
};

// What recording costs the program.
struct Costs {
  int64_t attach_ns = 15'000'000, detach_ns = 25'000'000;
  double dear = 0.2, cheap = 0.01;  // of each second
};
inline constexpr Costs kTraceCosts{};
inline constexpr Costs kSamplingCosts{250'000'000, 250'000'000};

struct SimulatedPhase {
  int64_t begin_ns = 0, end_ns = 0;
};

inline std::vector<SimulatedPhase> record(SimulatedProgram& program, const Costs& costs,
                                          int64_t until_ns, uint64_t seed) {
  constexpr int64_t kStep = 20'000'000;
  capture::OverheadBudget budget(0.02, seed);
  std::vector<SimulatedPhase> phases;
  int64_t now_ns = 0;
  while (now_ns < until_ns) {
    if (now_ns < budget.next_begin_ns()) {
      now_ns += kStep;
      continue;
    }
    now_ns += costs.attach_ns;
    capture::PhaseCost cost{costs.attach_ns, 0};
    const int64_t begin_ns = now_ns;
    do {
      now_ns += kStep;
      const double rate = program.is_dear_at(now_ns) ? costs.dear : costs.cheap;
      cost.running_ns += static_cast<int64_t>(rate * program.uniform(0.9, 1.1) * kStep);
    } while (!budget.is_over(now_ns, now_ns - begin_ns, cost));
    const int64_t end_ns = now_ns;
    now_ns += costs.detach_ns;
    cost.switching_ns += costs.detach_ns;
    budget.spend(now_ns, end_ns - begin_ns, cost);
    if (begin_ns < until_ns) phases.push_back({begin_ns, std::min(end_ns, until_ns)});
  }
  return phases;
}

}  // namespace gpufl::estimates
