// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/compare/repeat.hpp"
#include "analysis/session/session_data.hpp"
#include "base/status.hpp"

// One side of a comparison: repeats of the same program. Plain data.
namespace gpufl::analysis::compare {

struct Group {
  std::string label;                  // what it is called: a folder, "first half"
  std::vector<Repeat> repeats;        // by start
  std::vector<std::string> problems;  // sentences: what could not be read
  std::vector<std::string> copies;    // sentences: sessions that are there twice, and count once
  std::vector<std::string> cut;  // sentences: sessions and passes of which only a part is compared
  // Its repeats are parts of one session, so they are not independent of each other.
  bool is_of_one_session = false;
  std::string parts;  // of one session: a sentence that says how it was cut

  // Whether any of its repeats was traced in phases: sums and counts are not to be compared.
  bool is_budgeted() const;
};

// Every session at or below these paths. Sessions of one launch are one repeat: those that lie in
// their run's folder, or that have the same run and were recorded at the same time. Of a run of
// several passes, which repeat nothing, the one of passes_by_cost() is taken. One is in
// memory at a time. Fails where loading is stopped, and nowhere else: what cannot be read is among
// its problems.
base::Result<Group> load_group(std::string label, std::span<const std::filesystem::path> paths,
                               const LoadOptions& options = {});

// The two halves of a session, each cut into at most kPartsOfHalf repeats: between iterations where
// it has any, however few, because times in between hold different parts of them; else into equal
// times. Parts have equally many iterations: of ten and more, so many parts that the fewest are
// left out, never more than nine. Fails where there is nothing to cut.
inline constexpr size_t kPartsOfHalf = 10;
base::Result<std::pair<Group, Group>> halves_of(const SessionData& session);

}  // namespace gpufl::analysis::compare
