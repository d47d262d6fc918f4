// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "analysis/compare/group.hpp"

// Kernels whose launch configuration or scope is another on the other side, so that they are one
// thing that changed and not one that vanished and one that appeared. Pure functions.
namespace gpufl::analysis::compare {

struct MovedLaunch {
  Key key;                // of Subject::Moved, else as the first of `a`
  std::vector<Key> a, b;  // what it was launched as on each side
  bool is_in_all = true;  // each of those in every repeat of its side: it is not by chance
  // Launches of one kind on each side; else medians are not known, and their mean is.
  bool is_one_to_one() const { return a.size() == 1 && b.size() == 1; }
};

// Of the launches that only one side has, those that the other has in the same scope with another
// configuration, else with the same configuration in another scope, else in any other way. In both
// groups the launches give way to one item, of Subject::Moved.
std::vector<MovedLaunch> match_moved_launches(Group& a, Group& b);

}  // namespace gpufl::analysis::compare
