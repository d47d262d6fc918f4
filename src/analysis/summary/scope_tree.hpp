// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/math/distribution.hpp"
#include "analysis/summary/name_table.hpp"
#include "format/batch.hpp"
#include "format/session_reader.hpp"

// Scopes gathered by path of nested names. Memory grows with distinct paths and with scopes that
// are open at the same time, plus eight bytes for each scope of one window. One thread.
namespace gpufl::analysis {

// Figures of all scopes with the same path.
struct ScopeFigures {
  Distribution duration_ns;  // of those whose end was recorded
  Distribution
      iteration_ns;     // benchmark scopes: count is iterations; min and max are of scopes' means
  uint64_t warmup = 0;  // iterations that ran before, in `<name>_warmup`
  uint64_t cut = 0;     // in duration_ns, but ended by their thread's end or by shutdown
  uint64_t lost = 0;    // not in duration_ns: their end was dropped
  uint64_t open = 0;    // not in duration_ns: open when the log ended
  double open_ns = 0;   // what the open ones had lasted until then
  int64_t first_start_ns = INT64_MAX;

  void merge(const ScopeFigures& other);
  // One more scope: one whose end the log has, or one that was open when it ended.
  void add_ended(int64_t start_ns, int64_t duration, format::ScopeEnding ending, int64_t repeat,
                 int64_t warmup_count);
  void add_open(int64_t start_ns, int64_t lasted_ns);
};

struct ScopeNode : ScopeFigures {
  std::string name, tag;
  uint32_t depth = 0;
  bool is_unknown = false;          // stands for parents that the log does not hold
  uint64_t deeper = 0;              // paths below kMaxScopeDepth, which have no node
  std::vector<ScopeNode> children;  // by first start
};

inline constexpr uint32_t kMaxScopeDepth = 200;

// Takes rows in log order. A scope's row comes when it ends, so children come before their parent:
// they are gathered below their parent's id until its row, or a row saying that it is open, tells
// what it is called. Sealing keeps the order within a kind only, so whether a scope is open is
// known when its window has been read.
class ScopeTree {
 public:
  explicit ScopeTree(NameTable& names);

  void add_ended(const format::Batch& rows, const format::Dictionaries& dictionaries);
  void add_open(const format::Batch& rows, const format::Dictionaries& dictionaries);
  void end_window();

  // The tree of everything so far. `now_ns`: when scopes that are still open are looked at.
  std::vector<ScopeNode> finish(int64_t now_ns);

  // Parents that are waited for at the same time; beyond it the one that waits longest is given up
  // and its children are shown below an unknown parent.
  static constexpr size_t kMaxWaiting = 65536;
  // Scopes that ended before a child of theirs did and are remembered for its sake.
  static constexpr size_t kMaxEndedEarly = 65536;

 private:
  using Index = uint32_t;

  struct Key {  // name and tag
    uint32_t name = NameTable::kEmpty, tag = NameTable::kEmpty;
    bool operator==(const Key&) const = default;
  };
  struct Edge {
    Index parent;
    Key key;
    bool operator==(const Edge&) const = default;
  };
  struct EdgeHash {
    size_t operator()(const Edge& edge) const;
  };
  struct Node {
    Key key;
    ScopeFigures figures;
    std::vector<Index> children;
  };
  // A scope whose name and parent are known while children of it may still come.
  struct Known {
    Key key;
    int64_t parent = 0;
    int64_t start_ns = 0;
    bool ended_early = false;  // before a child of it did
  };
  struct Waiting {
    Index children_of;  // a node without a name
    std::list<int64_t>::iterator age;
  };

  Index make_node(Key key);
  Index child(Index parent, Key key);
  // The node that gathers the children of the scope `id`.
  Index home(int64_t id);
  Index waiting_for(int64_t id);
  // Takes what has waited for `id` out of the tree. Before home() is asked for a place to put it:
  // ids that claim to be their own ancestors then cannot make a circle.
  std::optional<Index> take_waiting(int64_t id);
  // Moves the children of `from` below `to` and frees `from`.
  void merge_children(Index from, Index to);
  void give_up_oldest();
  void remember_ended_early(int64_t id, Known scope);
  void fill(Index from, ScopeNode& to) const;
  uint64_t count_below(Index node) const;

  NameTable& names_;
  std::vector<Node> nodes_;
  std::vector<Index> free_;
  std::optional<Index> unknown_;  // stands for parents given up
  std::unordered_map<Edge, Index, EdgeHash> edges_;
  std::unordered_map<int64_t, Known> known_;
  std::unordered_map<int64_t, Waiting> waiting_;
  std::list<int64_t> ages_;         // ids in waiting_, longest untouched first
  std::list<int64_t> ended_early_;  // ids in known_ with that flag, oldest first
  std::vector<int64_t> ended_in_window_;
  std::vector<uint32_t> row_names_, row_tags_;  // scratch
};

}  // namespace gpufl::analysis
