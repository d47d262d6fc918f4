// SPDX-License-Identifier: Apache-2.0
#include "analysis/compare/without_scopes.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace gpufl::analysis::compare {
namespace {

std::set<std::string> scope_names(const Group& group) {
  std::set<std::string> names;
  for (const Repeat& repeat : group.repeats) {
    names.insert(repeat.scope_names.begin(), repeat.scope_names.end());
  }
  return names;
}

}  // namespace

bool has_scopes(const Group& group) {
  return std::any_of(group.repeats.begin(), group.repeats.end(),
                     [](const Repeat& repeat) { return !repeat.scope_names.empty(); });
}

bool have_scopes_in_common(const Group& a, const Group& b) {
  const std::set<std::string> in_a = scope_names(a);
  const std::set<std::string> in_b = scope_names(b);
  if (in_a.empty() && in_b.empty()) return true;
  return std::any_of(in_a.begin(), in_a.end(),
                     [&](const std::string& name) { return in_b.contains(name); });
}

void leave_scopes_out(Group& group) {
  for (Repeat& repeat : group.repeats) {
    std::map<Key, Item> items;
    for (const auto& [key, item] : repeat.items) {
      if (key.subject == Subject::Launch) continue;
      Key without = key;
      if (key.subject == Subject::Config) without.subject = Subject::Launch;
      items.emplace(std::move(without), item);
    }
    repeat.items = std::move(items);
  }
}

}  // namespace gpufl::analysis::compare
