// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analysis/session/session_data.hpp"

// What a framework was doing when work was asked for: the innermost of its operators and modules
// that was open on the calling thread (markers of the domains "torch.op" and "torch.module"). Work
// of a backward pass is led back to the forward operator that made its node of the graph, and has
// the module, the line and the scope of that. Reads every marker once when it is made; constant
// afterwards, any thread. Borrows the session.
namespace gpufl::analysis {

struct FrameworkLabel {
  uint32_t op = 0;                  // of Tables::names; 0: none
  uint32_t module = 0;              // likewise: the path of the module
  uint32_t stack = 0;               // for CodeMap: whose line it is
  uint32_t forward_op = 0;          // of a backward pass: of Tables::names; 0: none was found
  uint32_t forward_scope = kNoRow;  // and the row of Tables::scopes that it was in
  bool is_backward = false;
};

class FrameworkOps {
 public:
  explicit FrameworkOps(const SessionData& session);

  // No framework said anything.
  bool is_empty() const { return ops_.empty() && modules_.empty(); }
  // Of the call behind a row of one of the session's tables.
  FrameworkLabel at(const Work& work, size_t row) const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Range {
    int64_t start, end;
    uint32_t row;
    uint32_t outer;    // index of the one around it; kNone: none
    uint32_t node;     // of it and those around it, the innermost node of a backward pass; kNone
    uint32_t forward;  // operator behind the latest node of a backward pass up to here; kNoRow
  };
  // From a time on, until that of the next one.
  struct Change {
    int64_t time_ns;
    uint32_t
        innermost;  // index of the range that began last of those that are open; kNone: none is
  };
  // Of one thread. Most ranges nest; those that overlap cost no more.
  struct Ranges {
    std::vector<Range> list;  // in order of their start, an outer one before those inside of it
    std::vector<Change> changes;

    void nest();
    uint32_t latest_at(int64_t time_ns) const;  // index of the one that began last; kNone: none has
    uint32_t innermost_at(int64_t time_ns) const;
  };
  using RangesOfThread = std::unordered_map<int64_t, Ranges>;
  // A forward operator that made nodes.
  struct Maker {
    int64_t first_node, end_node;
    uint32_t row;
  };

  static const Range* find(const RangesOfThread& threads, int64_t thread, int64_t time_ns);
  void find_makers();
  void lead_back();
  // Of a node with a number; kNoRow: none, or more than one.
  uint32_t maker_of(uint32_t backward_row) const;
  void take_from_forward(uint32_t forward_row, FrameworkLabel& label) const;
  uint32_t stack_of(uint32_t marker_row) const {
    return tables_.markers.stack.empty() ? 0 : tables_.markers.stack[marker_row];
  }

  const Tables& tables_;
  RangesOfThread ops_, modules_, scopes_;
  std::unordered_set<int64_t> python_threads_;
  // By thread and the framework's number of it, which no other thread has; in the order of nodes.
  std::map<std::pair<int64_t, int64_t>, std::vector<Maker>> makers_;
};

}  // namespace gpufl::analysis
