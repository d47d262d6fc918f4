// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare/change.hpp"
#include "analysis/compare/group.hpp"
#include "analysis/compare/per_iteration.hpp"
#include "analysis/warp/warp_diff.hpp"

// What differs between two groups of repeats, for `gpufl diff`. Pure functions.
namespace gpufl::analysis::compare {

// How often the comparison of two groups that are alike may find anything at all, in all of its
// figures together.
inline constexpr double kCompareError = 0.02;
// What a single run may differ from another of the same program without anything having changed.
inline constexpr double kRunToRun = 0.05;
// Where a change as large as this is not ruled out, it cannot be said that nothing differs.
inline constexpr double kTellable = 0.10;

struct CompareOptions {
  double min_change = 0.01;  // smaller ones do not matter
  double min_share = 0.005;  // kernels with less of the GPU's time, scopes with less of the session
};

enum class Verdict : uint8_t {
  Same,    // and a change of kTellable, or of min_change where that is more, is ruled out
  Untold,  // no difference is proven, and such a change is not ruled out: too noisy
  Drifts,  // the halves of a session differ, and by no more than a drift within them explains
  Slower,
  Faster,
  More,
  Fewer,
  Changed,  // launched in another scope or with another configuration, and as fast as far as known
  Appeared,
  Vanished,
};
std::string_view to_string(Verdict verdict);  // "slower"
bool is_difference(Verdict verdict);

// One metric of one thing, in all repeats that have it.
struct Entry {
  Key key;
  Metric metric = Metric::Median;
  double a = 0, b = 0;  // in the middle of the repeats
  size_t repeats_a = 0, repeats_b = 0;
  Change change;  // infinite estimate: it is on one side only
  Verdict verdict = Verdict::Same;
  double impact_ns = 0;  // by how much a repeat's time in it is longer, about
  // False: that is of the phases alone in which a repeat was traced, and only good for an order.
  bool has_impact = true;
  // Of Subject::Moved: what the kernel was launched as on each side.
  std::vector<Key> launches_a, launches_b;
  bool is_shared_known = true;  // of those, their shared memory on both sides
};

// Why differences are as sure as they are.
enum class Proof : uint8_t {
  Repeats,  // of repeats on both sides
  Parts,    // of parts of one session, which says nothing of other runs
  None,     // too few repeats: what differs may be noise
};

struct Comparison {
  std::string label_a, label_b;
  size_t repeats_a = 0, repeats_b = 0;
  std::vector<std::string> devices_a, devices_b;
  // Else nothing of it is compared.
  bool records_gpu_work_a = true, records_gpu_work_b = true;
  // Else launches are compared whatever their scopes, and these are the paths of each side's, those
  // that take most of the time first.
  bool are_scopes_compared = true;
  bool has_scopes_a = false, has_scopes_b = false;
  std::vector<std::string> scopes_a, scopes_b;
  Proof proof = Proof::None;
  std::string parts;  // where the sides are parts of one session: how it was cut
  // Sums, counts and impacts are for one iteration, because the sides did different numbers of
  // them. What is outside of the iterations is not compared.
  std::optional<IterationNumbers> per_iteration;
  CompareOptions options;
  // What to know before reading on: losses first, then what cannot be compared.
  std::vector<std::string> warnings;
  std::vector<Entry> totals;      // session time, busy time, kernel time, kernels
  std::vector<Entry> findings;    // scopes and launches that differ, most time first
  std::vector<Entry> alike;       // the others: the same, or untold
  std::vector<WarpChange> warps;  // inside of kernels that both sides profiled
  size_t compared = 0;            // figures that could have differed
  size_t left_out = 0;            // scopes and launches below min_share

  bool has_difference() const;
};

Comparison compare(const Group& a, const Group& b, const CompareOptions& options = {});

// Values of one metric in the repeats that have it, above zero.
std::vector<double> values_of(std::span<const Repeat> repeats, const Key& key, Metric metric);
// By how much a metric's values may be off: through the step of the GPU's clock, or of counts
// through being for one iteration.
double rounding_of(Subject subject, Metric metric,
                   const std::optional<IterationNumbers>& per_iteration = {});
// What both gate and diff say first: losses, what could not be read, sides that are not alike.
std::vector<std::string> warnings_of(const Group& a, const Group& b);

}  // namespace gpufl::analysis::compare
