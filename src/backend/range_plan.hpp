// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Which scope of the program is measured in which pass. Hardware counters come in groups, one at a
// time; each group takes one pass or several, and each pass one iteration of the scope: none runs
// more often for it. Pure; one thread.
namespace gpufl::backend {

class RangePlan {
 public:
  // Of several passes, the rest has to follow before another scope is measured: it is given up when
  // so many others that were due had to wait.
  static constexpr uint32_t kMostPassedOver = 64;
  // A scope in which one of the same name begins so often is a loop around it: it would keep all
  // others waiting, and is not measured.
  static constexpr uint32_t kLoop = 64;
  static constexpr size_t kMostScopes = 256;  // by name

  // How many passes each group takes. What was measured stays; of GPUs that differ, the most.
  void set_groups(const std::vector<uint32_t>& passes);

  // A scope begins, and no range is open: the group that it is to be measured for. Nothing: it has
  // everything, or another one comes first. Scopes named "..._warmup" are not measured.
  std::optional<size_t> begin(std::string_view name);
  // Passes that the group of the range which begin() allowed has had before it.
  uint32_t pass() const { return running_ != nullptr ? running_->pass : 0; }
  // Another one begins inside of it. True: it is a loop, and is to be given up.
  bool begin_inside(std::string_view name);
  // The range that begin() has allowed; `is_group_done`: it was the last pass of its group.
  void end(bool is_group_done);
  // It was not measured; `was_open`: what its group had before is lost.
  void give_up(bool was_open);

  // Whether all scopes that have begun were measured.
  bool is_complete() const;
  // Groups that scopes got no pass for, or not all of them.
  std::map<std::string, std::vector<size_t>> missing() const;

 private:
  struct Scope {
    size_t group = 0;
    uint32_t pass = 0;  // of it
    uint64_t measured = 0;
    bool is_loop = false;
    std::vector<size_t> missed;  // groups that were given up
    std::map<std::string, uint32_t, std::less<>> inside;
  };
  Scope* find(std::string_view name);
  bool is_due(const Scope& scope) const { return !scope.is_loop && scope.group < passes_.size(); }
  bool is_outdone(const Scope& scope) const;

  std::vector<uint32_t> passes_;
  std::map<std::string, Scope, std::less<>> scopes_;
  Scope* running_ = nullptr;
  Scope* unfinished_ = nullptr;  // in the middle of a group
  uint32_t passed_over_ = 0;
};

}  // namespace gpufl::backend
