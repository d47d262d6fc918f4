// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/figures/kernel_stalls.hpp"
#include "analysis/math/figure.hpp"
#include "analysis/math/ratio_estimate.hpp"
#include "analysis/session/analysis_options.hpp"
#include "analysis/session/session_data.hpp"

// What warps waited for, by kernel and by scope, from samples of the program counter. They are
// taken in windows, which count by the time of the run that they stand for. Pure functions; time is
// that of sorting the rows.
namespace gpufl::analysis {

struct StallShare {
  std::string reason;  // "long_scoreboard"
  StallCount count;
  // Of the kernel's samples in the run. The wider of two intervals: from how much attachments and
  // windows differ, where that is known, and that of as many independent samples.
  Estimate share;
};

struct SampledInstruction {
  uint64_t module = 0;
  int64_t pc = 0;
  uint64_t samples = 0;
  std::string reason;  // that has most of them
};

struct SampledFunction {
  uint32_t name = 0;             // id of Tables::names
  std::string label, full_name;  // short, and demangled
  uint64_t samples = 0;
  std::map<int64_t, uint64_t> by_device;
  // Of the samples of the whole run; unknown with fewer than kMinClusters attachments that are not
  // all of the run, and where all of its samples were asked for.
  Figure<Estimate> share;
  std::vector<StallShare> stalls;           // largest share first
  std::vector<SampledInstruction> hottest;  // options.top of them, most samples first
};

// Samples of kernels by the innermost scope that they were launched in. Rows that name their scope
// are exact; others are an estimate: each kernel's samples are divided as its traced time is while
// they were taken (ScopeShares), as if it stalled alike in all scopes.
struct ScopeSamples {
  std::string path;  // "train > step / 3"; empty: in none
  double exact = 0, estimated = 0;
  std::map<std::string, double, std::less<>> stalls;  // both, by reason
  double samples() const { return exact + estimated; }
};

struct StallFigures {
  uint64_t samples = 0;  // that rows tell of
  uint64_t windows = 0;  // that have any of them, without those of deep scopes
  std::optional<std::string> no_shares_because;  // why no function's share is known
  std::vector<SampledFunction> functions;        // most samples first
  std::vector<ScopeSamples> scopes;              // likewise; empty where the program has no scope
  uint64_t without_scope = 0;  // samples of functions of which no kernel was traced meanwhile
};

// Unknown where nothing was sampled. Options' scope is not looked at.
Figure<StallFigures> stall_figures(const SessionData& session, const AnalysisOptions& options);

}  // namespace gpufl::analysis
