// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/math/figure.hpp"
#include "analysis/math/intervals.hpp"
#include "analysis/math/stats.hpp"
#include "analysis/session/analysis_options.hpp"
#include "analysis/session/session_data.hpp"

// The steps that a program repeats: from a scope that it opens again and again, else from a range
// of its markers, else from the sequence of its kernels' names. Where one kernel comes again and
// again, a step is several of them between what the loop does besides: waits, copies, fills. What
// has little of the GPU's work, and a scope or range that takes little of the time or comes many
// times within what kernels repeat, is a part of a step and none itself. Pure functions; time grows
// with the rows about linearly.
namespace gpufl::analysis {

enum class IterationSource : uint8_t { Scopes, Markers, KernelSequence };
std::string_view to_string(IterationSource source);

struct Iteration {
  Interval span;  // a scope or range: its own; a sequence: from its first kernel to the next one's
  uint64_t kernels = 0;
  int64_t kernel_ns = 0;  // their durations, added up
  // Of the first ones, while a program still compiles, allocates and fills caches: those that take
  // much longer than the others do.
  bool is_warmup = false;
  // The last of a sequence, which nothing follows: it ends with its last kernel, though the program
  // may have worked on. Its length is in no figure.
  bool is_cut = false;
};

struct Iterations {
  IterationSource source = IterationSource::KernelSequence;
  std::string label;  // the scope's path, the range's name, or the sequence's first kernel
  uint32_t scope_path = UINT32_MAX;  // of Scopes: index into Overview::scopes
  std::vector<Iteration> list;       // in order of time; none has a part that is not known
  bool is_lower_bound = false;       // some were lost, or may have been: there may have been more
  size_t warmups = 0;                // so many of the first
  // Of the others: their spans, and their kernels; unknown where none are recorded.
  Stats duration_ns;
  Figure<Stats> kernel_ns;
  double coverage = 0;  // share of the recorded time that all of them take
};

// Unknown where nothing repeats at least kMinIterations times.
Figure<Iterations> find_iterations(const SessionData& session, const AnalysisOptions& options);
inline constexpr size_t kMinIterations = 3;

// A part of a sequence that repeats others: [begin, end).
struct Repeat {
  size_t begin = 0, end = 0;
  bool operator==(const Repeat&) const = default;
};
// The parts in which a sequence of symbols repeats itself, in order. Of several ways to cut it the
// one with the shortest parts that explains nearly as much as the best. Parts need not all be
// alike: some steps of a program do a little more than others. None is mostly shorter than
// `shortest`. Empty: nothing repeats.
std::vector<Repeat> find_repeats(const std::vector<uint32_t>& sequence, size_t shortest = 1);

}  // namespace gpufl::analysis
