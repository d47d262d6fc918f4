// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/compare/group.hpp"
#include "analysis/session/session_data.hpp"
#include "base/status.hpp"
#include "bench/compare/random_noise.hpp"

// Sessions of a program that is always the same. Launches are those of a training run recorded on
// an H200, in its order; each takes as long as a recorded launch of its configuration did. Runs
// differ as a whole, in each kernel, and with a drift within a run; a few are disturbed: by how
// much, Noise says. Deterministic.
namespace gpufl::bench {

// Spreads are standard deviations of logarithms: what is assumed where nobody measured
// (measured_noise.hpp).
struct Noise {
  double run = 0.005;            // all kernels of a run: clocks and temperature
  double kernel = 0.005;         // one kernel in a run: where its memory lies
  double drift = 0.003;          // all kernels within a run, over many launches
  double host = 0.10;            // what the host takes between launches, in a run
  double disturbed_runs = 0.03;  // share of runs that something else slows down, by 2% to 8%
};

// What is made slower on purpose.
struct Planted {
  double factor = 1;
  std::string kernel;  // part of its name; empty: every kernel
};

class SteadyProgram {
 public:
  // `trace`: what data/extract_trace.py makes.
  static base::Result<SteadyProgram> load(const std::filesystem::path& trace);

  // One run of so many steps, each a scope "step" inside of "train".
  analysis::SessionData run(const Noise& noise, const Planted& planted = {}, size_t steps = 10);
  // Repeats of it.
  analysis::compare::Group group(std::string label, size_t repeats, const Noise& noise,
                                 const Planted& planted = {});

 private:
  // One step of the recording.
  struct Step {
    std::vector<uint32_t> configs;                   // in order of launch
    std::vector<int64_t> gaps_ns;                    // before each
    std::vector<std::vector<int64_t>> durations_ns;  // by configuration, in order
  };
  SteadyProgram() = default;
  // The step at `from`, or the next one after it, that launches `config` as often as the first.
  const Step& like_first(size_t config, size_t from) const;

  analysis::Tables prototype_;     // dictionaries and lanes
  uint32_t train_ = 0, step_ = 0;  // names
  std::vector<Step> steps_;
  RandomNoise random_{1};
  int64_t wall_ns_ = 1'794'714'312'000'000'000;
};

}  // namespace gpufl::bench
