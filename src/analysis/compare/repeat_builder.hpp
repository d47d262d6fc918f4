// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/compare/item_sums.hpp"
#include "analysis/compare/repeat.hpp"
#include "analysis/figures/iterations.hpp"
#include "analysis/math/intervals.hpp"
#include "analysis/session/session_data.hpp"

// The figures of a repeat, from its sessions; every one of them is a figure of src/analysis. One
// thread; while it builds, eight bytes for each kernel and scope, twice where they are of
// iterations.
namespace gpufl::analysis::compare {

// Takes the sessions of one repeat, one after the other, none of which it keeps.
class RepeatBuilder {
 public:
  // `window`: only what begins in it, as if the session were no longer.
  void add(const SessionData& session, std::optional<Interval> window = {});
  // Call once.
  Repeat finish();

 private:
  struct Source;
  void add_facts(const SessionSummary& summary);
  void add_source(const Source& source, ItemSums& sums);
  void add_kernels(const Source& source, ItemSums& sums);
  void add_scopes(const Source& source, ItemSums& sums);
  void add_iterations(const Source& whole, const Iterations* found);

  Repeat repeat_;
  ItemSums sums_;
  ItemSums steady_sums_;  // of the iterations after those that warm up
  double steady_iterations_ = 0;
  bool are_iterations_alike_ = true;
};

// Why the figures of a session are less than the whole truth; empty: no loss is known.
std::vector<std::string> known_losses(const SessionSummary& summary);

}  // namespace gpufl::analysis::compare
