// SPDX-License-Identifier: Apache-2.0
#include "analysis/compare/moved_launches.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace gpufl::analysis::compare {
namespace {

std::set<Key> launches_of(const Group& group) {
  std::set<Key> launches;
  for (const Repeat& repeat : group.repeats) {
    for (const auto& [key, item] : repeat.items) {
      if (key.subject == Subject::Launch) launches.insert(key);
    }
  }
  return launches;
}

// What two launches must have in common to be the same one, changed. The first that fits counts.
enum class Stays { Scope, Config, Name };

Key common_part(const Key& launch, Stays stays) {
  return {Subject::Moved, stays == Stays::Scope ? launch.scope : "", launch.kernel,
          stays == Stays::Config ? launch.config : ""};
}

bool is_in_every_repeat(const Group& group, const std::vector<Key>& keys) {
  return std::all_of(group.repeats.begin(), group.repeats.end(), [&](const Repeat& repeat) {
    return std::all_of(keys.begin(), keys.end(),
                       [&](const Key& key) { return repeat.find(key) != nullptr; });
  });
}

// Adds up what can be added up; the rest of more than one is not known.
void merge(Item& into, const Item& other) {
  Item both;
  for (const Metric metric : {Metric::Count, Metric::Total}) {
    both[metric] = into[metric].value_or(0) + other[metric].value_or(0);
  }
  if (*both[Metric::Count] > 0) both[Metric::Mean] = *both[Metric::Total] / *both[Metric::Count];
  into = both;
}

void move(Group& group, const std::vector<Key>& launches, const Key& key) {
  for (Repeat& repeat : group.repeats) {
    for (const Key& launch : launches) {
      auto its = repeat.items.extract(launch);
      if (its.empty()) continue;
      const auto [place, is_first] = repeat.items.try_emplace(key, its.mapped());
      if (!is_first) merge(place->second, its.mapped());
    }
  }
}

}  // namespace

std::vector<MovedLaunch> match_moved_launches(Group& a, Group& b) {
  const std::set<Key> in_a = launches_of(a);
  const std::set<Key> in_b = launches_of(b);
  std::vector<Key> only_a, only_b;
  std::set_difference(in_a.begin(), in_a.end(), in_b.begin(), in_b.end(),
                      std::back_inserter(only_a));
  std::set_difference(in_b.begin(), in_b.end(), in_a.begin(), in_a.end(),
                      std::back_inserter(only_b));
  std::vector<MovedLaunch> all;
  for (const Stays stays : {Stays::Scope, Stays::Config, Stays::Name}) {
    std::map<Key, MovedLaunch> found;
    for (const Key& launch : only_a) found[common_part(launch, stays)].a.push_back(launch);
    for (const Key& launch : only_b) found[common_part(launch, stays)].b.push_back(launch);
    only_a.clear();
    only_b.clear();
    for (auto& [common, moved] : found) {
      if (moved.a.empty() || moved.b.empty()) {
        only_a.insert(only_a.end(), moved.a.begin(), moved.a.end());
        only_b.insert(only_b.end(), moved.b.begin(), moved.b.end());
        continue;
      }
      moved.key = moved.a.front();
      moved.key.subject = Subject::Moved;
      moved.is_in_all = is_in_every_repeat(a, moved.a) && is_in_every_repeat(b, moved.b);
      move(a, moved.a, moved.key);
      move(b, moved.b, moved.key);
      all.push_back(std::move(moved));
    }
  }
  return all;
}

}  // namespace gpufl::analysis::compare
