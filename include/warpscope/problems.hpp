// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <limits>

#include <warpscope/trace.hpp>

// How decoding counts what is wrong, and the sentences that say it.
namespace ws {
namespace detail {

struct ProblemWords {
  const char* name;
  const char* sentence;  // behind the count
};

inline constexpr size_t kProblemKinds = static_cast<size_t>(ProblemKind::UnknownFrequency) + 1;

inline constexpr std::array<ProblemWords, kProblemKinds> kProblemWords = {{
    {"unreadable", "file could not be read"},
    {"wrong_size", "words are missing, or belong to nothing"},
    {"missing_header",
     "header is empty: the thread that writes it did not call init; the shape was inferred"},
    {"bad_header", "header states a shape that cannot be true"},
    {"bad_side_block", "side block contradicts itself or the buffer and was ignored"},
    {"bad_names", "table of names cannot be read"},
    {"lane_outside_shape",
     "records belong to blocks that the header does not have; they were kept as additional blocks"},
    {"group_unknown", "records do not contain their group; it is taken as 0"},
    {"aliased_lanes",
     "records are in slots of another lane: write_stride is too small, or two kernels share the "
     "buffer"},
    {"unknown_event", "records have events without a name"},
    {"unknown_type", "records have a type that the dialect does not have; they were left out"},
    {"unmatched_begin", "begins have no end"},
    {"unmatched_end", "ends have no begin"},
    {"not_finalised",
     "lanes have no finalize: their kernel did not reach its end, or they were full"},
    {"stale_tail", "records are left over from an earlier launch and were left out"},
    {"dropped", "records did not fit into their lane and were dropped or overwritten"},
    {"possibly_lost", "lanes are full, and nothing counted what did not fit: records may be lost"},
    {"impossible_time",
     "records, lanes or costs have times or counts that cannot be true: a clock went back or "
     "leapt, more was dropped than offered, or an event takes a millisecond"},
    {"unplaced_lane", "lanes have no anchor of their clock and begin where the trace does"},
    {"unknown_frequency", "clock of unknown frequency: one cycle is shown as one nanosecond"},
}};

class ProblemTally {
 public:
  void add(ProblemKind kind, uint64_t count = 1, uint32_t lane = kNoLane) {
    if (count == 0) return;
    Problem& problem = problems_[static_cast<size_t>(kind)];
    problem.count = std::min(problem.count + std::min(count, kMostCounted), kMostCounted);
    problem.lane = std::min(problem.lane, lane);
  }
  // What was found, in the order of kinds.
  std::vector<Problem> take() const {
    std::vector<Problem> found;
    for (size_t kind = 0; kind < kProblemKinds; ++kind) {
      if (problems_[kind].count == 0) continue;
      Problem problem = problems_[kind];
      problem.kind = static_cast<ProblemKind>(kind);
      problem.text = std::to_string(problem.count) + ' ' + kProblemWords[kind].sentence;
      if (problem.lane != kNoLane) {
        problem.text += " (first in lane " + std::to_string(problem.lane) + ')';
      }
      found.push_back(std::move(problem));
    }
    return found;
  }

 private:
  static constexpr uint64_t kMostCounted = std::numeric_limits<int64_t>::max();

  std::array<Problem, kProblemKinds> problems_;
};

}  // namespace detail

inline const char* problem_name(ProblemKind kind) {
  return detail::kProblemWords[static_cast<size_t>(kind)].name;
}

}  // namespace ws
