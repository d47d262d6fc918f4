// SPDX-License-Identifier: Apache-2.0
#include "analysis/session/scope_paths.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "text/glob.hpp"

namespace gpufl::analysis {

namespace {

// Parents and names of a scope as one key.
struct PathKey {
  uint32_t parent, name, tag;
  bool operator==(const PathKey&) const = default;
};
struct PathKeyHash {
  size_t operator()(const PathKey& key) const {
    // Ids are small and dense, so they must be spread.
    uint64_t hash = (uint64_t{key.name} << 32 | key.tag) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ (hash >> 29) ^ key.parent) * 0xbf58476d1ce4e5b9u;
    return hash ^ (hash >> 32);
  }
};

std::string component(const Tables& tables, const ScopePaths::Path& path) {
  const std::string& tag = tables.name(path.tag);
  return tag.empty() ? tables.name(path.name) : tables.name(path.name) + " / " + tag;
}

// Names can be long and deep: what lies far outside is left out of a path's text.
std::string join(const std::string& outer, const std::string& own) {
  constexpr size_t kMaxOuterBytes = 4096;
  return (outer.size() > kMaxOuterBytes ? "..." : outer) + " > " + own;
}

// Gathers paths as rows need them. A row's parents have theirs first; a path that is deeper than
// kMaxScopeDepth, or part of a circle that no recorder writes, is that of its parent.
class PathBuilder {
 public:
  explicit PathBuilder(const Tables& tables)
      : tables_(tables), of_scope_(tables.scopes.rows(), kNoRow) {}

  void build() {
    std::vector<uint32_t> chain;
    for (uint32_t row = 0; row < of_scope_.size(); ++row) {
      for (uint32_t at = row; at != kNoRow && of_scope_[at] == kNoRow;
           at = tables_.scopes.parent[at]) {
        chain.push_back(at);
        if (chain.size() > of_scope_.size()) break;
      }
      while (!chain.empty()) {
        add(chain.back());
        chain.pop_back();
      }
    }
  }

  std::vector<ScopePaths::Path> paths;
  std::vector<uint32_t> take_rows() { return std::move(of_scope_); }

 private:
  void add(uint32_t row) {
    const Scopes& scopes = tables_.scopes;
    const uint32_t parent_row = scopes.parent[row];
    const uint32_t parent = parent_row == kNoRow ? kNoRow : of_scope_[parent_row];
    if (parent != kNoRow && paths[parent].depth + 1 == kMaxScopeDepth) {
      of_scope_[row] = parent;
      return;
    }
    const auto [place, is_new] = known_.try_emplace(
        PathKey{parent, scopes.name[row], scopes.tag[row]}, static_cast<uint32_t>(paths.size()));
    if (is_new) {
      ScopePaths::Path& path = paths.emplace_back();
      path.name = scopes.name[row];
      path.tag = scopes.tag[row];
      path.parent = parent;
      path.depth = parent == kNoRow ? 0 : paths[parent].depth + 1;
      path.first_start_ns = scopes.start[row];
    }
    ScopePaths::Path& path = paths[place->second];
    path.first_start_ns = std::min(path.first_start_ns, scopes.start[row]);
    of_scope_[row] = place->second;
  }

  const Tables& tables_;
  std::vector<uint32_t> of_scope_;
  std::unordered_map<PathKey, uint32_t, PathKeyHash> known_;
};

// The order of a walk through the tree: parents before what is inside of them, siblings by their
// first start.
std::vector<uint32_t> walk(const std::vector<ScopePaths::Path>& paths) {
  std::vector<std::vector<uint32_t>> inside(paths.size() + 1);  // the last one: the outermost
  for (uint32_t i = 0; i < paths.size(); ++i) {
    inside[paths[i].parent == kNoRow ? paths.size() : paths[i].parent].push_back(i);
  }
  std::vector<uint32_t> order, left;
  const auto push = [&](std::vector<uint32_t>& siblings) {
    // Backwards: what is put down last is taken first.
    std::sort(siblings.begin(), siblings.end(), [&](uint32_t a, uint32_t b) {
      return std::tie(paths[a].first_start_ns, a) > std::tie(paths[b].first_start_ns, b);
    });
    left.insert(left.end(), siblings.begin(), siblings.end());
  };
  push(inside.back());
  while (!left.empty()) {
    const uint32_t path = left.back();
    left.pop_back();
    order.push_back(path);
    push(inside[path]);
  }
  return order;
}

}  // namespace

ScopePaths scope_paths(const Tables& tables, const AnalysisOptions& options) {
  PathBuilder builder(tables);
  builder.build();
  std::vector<ScopePaths::Path>& all = builder.paths;
  const std::vector<uint32_t> order = walk(all);
  std::vector<bool> is_chosen(all.size()), is_kept(all.size());
  for (const uint32_t i : order) {
    ScopePaths::Path& path = all[i];
    const std::string own = component(tables, path);
    path.text = path.parent == kNoRow ? own : join(all[path.parent].text, own);
    is_chosen[i] = options.scope.empty() || (path.parent != kNoRow && is_chosen[path.parent]) ||
                   text::matches_glob(options.scope, tables.name(path.name)) ||
                   text::matches_glob(options.scope, own) ||
                   text::matches_glob(options.scope, path.text);
  }
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    if (is_chosen[*i]) is_kept[*i] = true;
    if (is_kept[*i] && all[*i].parent != kNoRow) is_kept[all[*i].parent] = true;
  }

  ScopePaths out;
  std::vector<uint32_t> place_of(all.size(), kNoRow);
  for (const uint32_t i : order) {
    if (!is_kept[i]) continue;
    place_of[i] = static_cast<uint32_t>(out.paths.size());
    ScopePaths::Path& path = out.paths.emplace_back(std::move(all[i]));
    if (path.parent != kNoRow) path.parent = place_of[path.parent];
    path.end = place_of[i] + 1;
    out.is_chosen.push_back(is_chosen[i]);
  }
  for (size_t i = out.paths.size(); i-- > 0;) {
    const ScopePaths::Path& path = out.paths[i];
    if (path.parent == kNoRow) continue;
    uint32_t& end = out.paths[path.parent].end;
    end = std::max(end, path.end);
  }
  out.of_scope = builder.take_rows();
  for (uint32_t& path : out.of_scope) path = place_of[path];
  return out;
}

}  // namespace gpufl::analysis
