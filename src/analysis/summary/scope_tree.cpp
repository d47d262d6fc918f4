// SPDX-License-Identifier: Apache-2.0
#include "analysis/summary/scope_tree.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "analysis/math/saturating.hpp"

namespace gpufl::analysis {

namespace {

constexpr uint32_t kRoot = 0;
constexpr int64_t kNoScope = 0;  // the parent of an outermost scope

}  // namespace

void ScopeFigures::merge(const ScopeFigures& other) {
  duration_ns.merge(other.duration_ns);
  iteration_ns.merge(other.iteration_ns);
  warmup += other.warmup;
  cut += other.cut;
  lost += other.lost;
  open += other.open;
  open_ns += other.open_ns;
  first_start_ns = std::min(first_start_ns, other.first_start_ns);
}

void ScopeFigures::add_ended(int64_t start_ns, int64_t duration, format::ScopeEnding ending,
                             int64_t repeat, int64_t warmup_count) {
  using format::ScopeEnding;
  first_start_ns = std::min(first_start_ns, start_ns);
  if (ending == ScopeEnding::Lost) {
    ++lost;
    return;
  }
  duration_ns.add(static_cast<double>(duration));
  const bool was_cut = ending == ScopeEnding::ThreadExit || ending == ScopeEnding::Shutdown;
  if (was_cut) ++cut;
  if (repeat <= 0 || was_cut) return;
  iteration_ns.add(static_cast<double>(duration) / static_cast<double>(repeat),
                   static_cast<uint64_t>(repeat));
  warmup += static_cast<uint64_t>(std::max<int64_t>(warmup_count, 0));
}

void ScopeFigures::add_open(int64_t start_ns, int64_t lasted_ns) {
  ++open;
  open_ns += static_cast<double>(std::max<int64_t>(lasted_ns, 0));
  first_start_ns = std::min(first_start_ns, start_ns);
}

size_t ScopeTree::EdgeHash::operator()(const Edge& edge) const {
  // Two rounds of a 64-bit mixer: ids are small and dense, so they must be spread.
  uint64_t hash = (uint64_t{edge.key.name} << 32 | edge.key.tag) * 0x9e3779b97f4a7c15u;
  hash = (hash ^ (hash >> 29) ^ edge.parent) * 0xbf58476d1ce4e5b9u;
  return hash ^ (hash >> 32);
}

ScopeTree::ScopeTree(NameTable& names) : names_(names) { make_node({}); }

ScopeTree::Index ScopeTree::make_node(Key key) {
  if (free_.empty()) {
    nodes_.push_back({key, {}, {}});
    return static_cast<Index>(nodes_.size() - 1);
  }
  const Index node = free_.back();
  free_.pop_back();
  nodes_[node] = {key, {}, {}};
  return node;
}

ScopeTree::Index ScopeTree::child(Index parent, Key key) {
  const auto found = edges_.find({parent, key});
  if (found != edges_.end()) return found->second;
  const Index node = make_node(key);
  edges_.emplace(Edge{parent, key}, node);
  nodes_[parent].children.push_back(node);
  return node;
}

ScopeTree::Index ScopeTree::home(int64_t id) {
  std::vector<Key> path;
  // A well-formed log has no cycle of parents; one that is not must not hang its reader.
  while (id != kNoScope && path.size() < kMaxScopeDepth) {
    const auto found = known_.find(id);
    if (found == known_.end()) break;
    path.push_back(found->second.key);
    id = found->second.parent;
  }
  Index node = id == kNoScope ? kRoot : waiting_for(id);
  for (auto key = path.rbegin(); key != path.rend(); ++key) node = child(node, *key);
  return node;
}

ScopeTree::Index ScopeTree::waiting_for(int64_t id) {
  const auto found = waiting_.find(id);
  if (found != waiting_.end()) {
    ages_.splice(ages_.end(), ages_, found->second.age);
    return found->second.children_of;
  }
  if (waiting_.size() >= kMaxWaiting) give_up_oldest();
  const Index node = make_node({});
  waiting_.emplace(id, Waiting{node, ages_.insert(ages_.end(), id)});
  return node;
}

std::optional<ScopeTree::Index> ScopeTree::take_waiting(int64_t id) {
  const auto found = waiting_.find(id);
  if (found == waiting_.end()) return std::nullopt;
  const Index node = found->second.children_of;
  ages_.erase(found->second.age);
  waiting_.erase(found);
  return node;
}

void ScopeTree::merge_children(Index from, Index to) {
  std::vector<std::pair<Index, Index>> left{{from, to}};
  while (!left.empty()) {
    const auto [source, target] = left.back();
    left.pop_back();
    for (const Index moved : std::exchange(nodes_[source].children, {})) {
      const Key key = nodes_[moved].key;
      edges_.erase({source, key});
      const auto [edge, is_new] = edges_.try_emplace({target, key}, moved);
      if (is_new) {
        nodes_[target].children.push_back(moved);
      } else {
        nodes_[edge->second].figures.merge(nodes_[moved].figures);
        left.emplace_back(moved, edge->second);
      }
    }
    free_.push_back(source);
  }
}

void ScopeTree::give_up_oldest() {
  if (!unknown_) {
    unknown_ = make_node({});
    nodes_[kRoot].children.push_back(*unknown_);
  }
  merge_children(*take_waiting(ages_.front()), *unknown_);
}

void ScopeTree::remember_ended_early(int64_t id, Known scope) {
  scope.ended_early = true;
  if (ended_early_.size() >= kMaxEndedEarly) {
    known_.erase(ended_early_.front());
    ended_early_.pop_front();
  }
  known_.insert_or_assign(id, scope);
  ended_early_.push_back(id);
}

void ScopeTree::add_ended(const format::Batch& rows, const format::Dictionaries& dictionaries) {
  namespace column = format::scope_column;
  using format::ScopeEnding;
  names_.resolve(rows, column::kName, dictionaries, row_names_);
  names_.resolve(rows, column::kTag, dictionaries, row_tags_);
  for (size_t row = 0; row < rows.rows(); ++row) {
    const int64_t id = rows.at(column::kId, row);
    const int64_t parent = rows.at(column::kParent, row);
    const Key key{row_names_[row], row_tags_[row]};
    const int64_t start_ns = rows.at(column::kStart, row);
    const auto ending = static_cast<ScopeEnding>(rows.at(column::kEnding, row));

    const std::optional<Index> waiting = take_waiting(id);
    const Index node = child(home(parent), key);
    nodes_[node].figures.add_ended(start_ns, rows.at(column::kDuration, row), ending,
                                   rows.at(column::kRepeat, row), rows.at(column::kWarmup, row));
    if (waiting) merge_children(*waiting, node);
    // Only these can end while children of theirs are open.
    if (ending == ScopeEnding::OutOfOrder || ending == ScopeEnding::OtherThread) {
      remember_ended_early(id, {key, parent, start_ns});
    } else {
      ended_in_window_.push_back(id);
    }
  }
}

void ScopeTree::add_open(const format::Batch& rows, const format::Dictionaries& dictionaries) {
  namespace column = format::scope_open_column;
  names_.resolve(rows, column::kName, dictionaries, row_names_);
  names_.resolve(rows, column::kTag, dictionaries, row_tags_);
  for (size_t row = 0; row < rows.rows(); ++row) {
    const int64_t id = rows.at(column::kId, row);
    const Key key{row_names_[row], row_tags_[row]};
    known_.try_emplace(id, Known{key, rows.at(column::kParent, row), rows.at(column::kStart, row)});
    if (const std::optional<Index> waiting = take_waiting(id)) merge_children(*waiting, home(id));
  }
}

void ScopeTree::end_window() {
  for (const int64_t id : ended_in_window_) known_.erase(id);
  ended_in_window_.clear();
}

std::vector<ScopeNode> ScopeTree::finish(int64_t now_ns) {
  end_window();
  for (const auto& [id, scope] : known_) {
    if (scope.ended_early) continue;
    nodes_[home(id)].figures.add_open(scope.start_ns, saturating_subtract(now_ns, scope.start_ns));
  }
  known_.clear();
  ended_early_.clear();
  while (!ages_.empty()) give_up_oldest();
  ScopeNode root;
  fill(kRoot, root);
  return std::move(root.children);
}

void ScopeTree::fill(Index from, ScopeNode& to) const {
  if (to.depth == kMaxScopeDepth) {
    to.deeper = count_below(from);
    return;
  }
  to.children.reserve(nodes_[from].children.size());
  for (const Index index : nodes_[from].children) {
    ScopeNode& node = to.children.emplace_back();
    static_cast<ScopeFigures&>(node) = nodes_[index].figures;
    node.name = names_.text(nodes_[index].key.name);
    node.tag = names_.text(nodes_[index].key.tag);
    node.depth = to.depth + 1;
    node.is_unknown = unknown_ == index;
    fill(index, node);
  }
  std::sort(to.children.begin(), to.children.end(), [](const ScopeNode& a, const ScopeNode& b) {
    return std::tie(a.first_start_ns, a.name, a.tag) < std::tie(b.first_start_ns, b.name, b.tag);
  });
}

uint64_t ScopeTree::count_below(Index node) const {
  uint64_t count = 0;
  std::vector<Index> left = nodes_[node].children;
  while (!left.empty()) {
    const Index next = left.back();
    left.pop_back();
    ++count;
    left.insert(left.end(), nodes_[next].children.begin(), nodes_[next].children.end());
  }
  return count;
}

}  // namespace gpufl::analysis
