// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

// What recording costs the program, from its own steps: how long a range of the same name takes
// while it is recorded, against its neighbours before and after the phase, so that a program which
// gets slower or faster by itself is not mistaken for one that is slowed down. Pure; one thread.
namespace gpufl::capture {

// A scope or range that the program has marked and that has ended. Session time.
struct Step {
  int64_t name = 0;  // the log's id
  int64_t begin_ns = 0, end_ns = 0;
};

// By which part steps take longer while they are recorded (0.19: 1.19 times as long), never less
// than 0, and how long the middle one of them then takes.
struct Slowdown {
  double part = 0;
  int64_t step_ns = 0;
};

class StepCost {
 public:
  static constexpr size_t kLeastSteps = 8;  // inside of a phase, and before it
  static constexpr size_t kMostSteps = 32;  // of the neighbours, on each side
  static constexpr size_t kMostInside = 1024;
  static constexpr size_t kLeastPhases = 3;  // before anything is said
  static constexpr size_t kMostPhases = 9;   // the last ones, whose median it is
  static constexpr size_t kNames = 32;
  static constexpr int64_t kShortestStep_ns = 1'000'000;  // shorter ones say more of the noise

  // In the order in which they ended, or nearly so.
  void add(const Step& step);
  // Attaching began and was done; detaching began and was done. What a step has of the times in
  // between is not known, so it is on neither side.
  void begin_phase(int64_t switch_begin_ns, int64_t begin_ns);
  void end_phase(int64_t end_ns, int64_t switch_end_ns);
  // From the name that most of the time is spent in. Nothing: not enough steps.
  std::optional<Slowdown> slowdown() const;

 private:
  // Durations of one name's steps around the latest phase, and what earlier phases came to.
  struct Name {
    std::deque<int64_t> outside;  // since the phase, the last of them: the next phase's `before`
    std::deque<int64_t> before;
    std::vector<Step> inside;
    std::vector<int64_t> after;
    std::deque<double> ratios;
    int64_t step_ns = 0;  // the middle one of the last phase that had enough
    int64_t total_ns = 0;
  };
  static std::optional<double> ratio(const Name& name);
  static double median_inside(const Name& name);
  static std::optional<double> median_ratio(const Name& name);

  std::map<int64_t, Name> names_;
  bool is_attached_ = false;
  int64_t pause_begin_ns_ = 0;  // the one before the phase
  int64_t switch_begin_ns_ = 0, begin_ns_ = 0, end_ns_ = 0, switch_end_ns_ = 0;
};

}  // namespace gpufl::capture
