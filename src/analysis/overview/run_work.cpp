// SPDX-License-Identifier: Apache-2.0
#include "analysis/overview/run_work.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "analysis/math/saturating.hpp"

namespace gpufl::analysis {
namespace {

// Gathers groups of all ranks.
template <class Group>
class Gathering {
 public:
  void next_rank() { ++ranks_; }

  // Group `name` of the rank, with so many things that took so long together.
  Group& add(const std::string& name, std::string_view label, uint64_t count, int64_t rank_ns) {
    const auto [found, is_new] = places_.try_emplace(name, groups_.size());
    if (is_new) groups_.push_back({});
    Entry& entry = groups_[found->second];
    Group& group = entry.group;
    if (is_new) {
      group.label = label;
      group.min_rank_ns = group.max_rank_ns = rank_ns;
    }
    ++entry.ranks;
    group.count += count;
    group.total_ns = saturating_add(group.total_ns, rank_ns);
    group.min_rank_ns = std::min(group.min_rank_ns, rank_ns);
    group.max_rank_ns = std::max(group.max_rank_ns, rank_ns);
    return group;
  }

  // Most time first.
  std::vector<Group> finish() {
    std::vector<Group> groups;
    for (Entry& entry : groups_) {
      if (entry.ranks < ranks_) entry.group.min_rank_ns = 0;
      groups.push_back(std::move(entry.group));
    }
    std::stable_sort(groups.begin(), groups.end(),
                     [](const Group& a, const Group& b) { return a.total_ns > b.total_ns; });
    return groups;
  }

 private:
  struct Entry {
    Group group;
    size_t ranks = 0;
  };
  size_t ranks_ = 0;
  std::map<std::string, size_t> places_;
  std::vector<Entry> groups_;
};

}  // namespace

std::vector<RunKernel> run_kernels(const RunOverview& run) {
  Gathering<RunKernel> gathering;
  int64_t all_ns = 0;
  for (const RankFigures& rank : run.ranks) {
    if (!rank.overview.kernels) continue;
    gathering.next_rank();
    all_ns = saturating_add(all_ns, rank.overview.kernels->total_ns);
    for (const KernelGroup& group : rank.overview.kernels->by_name) {
      RunKernel& kernel = gathering.add(group.full_name, group.label, group.duration_ns.count,
                                        group.duration_ns.total);
      kernel.full_name = group.full_name;
      kernel.kernel_class = group.kernel_class;
    }
  }
  std::vector<RunKernel> kernels = gathering.finish();
  for (RunKernel& kernel : kernels) {
    kernel.share =
        all_ns > 0 ? static_cast<double>(kernel.total_ns) / static_cast<double>(all_ns) : 0;
  }
  return kernels;
}

std::vector<RunScope> run_scopes(const RunOverview& run) {
  Gathering<RunScope> gathering;
  for (const RankFigures& rank : run.ranks) {
    gathering.next_rank();
    for (const ScopeWork& scope : rank.overview.scopes) {
      RunScope& all = gathering.add(scope.path, scope.path, scope.duration_ns.count,
                                    static_cast<int64_t>(scope.duration_ns.total));
      all.gpu_ns = saturating_add(all.gpu_ns, scope.total.gpu_ns());
    }
  }
  std::vector<RunScope> scopes = gathering.finish();
  const bool is_lower_bound =
      std::any_of(run.ranks.begin(), run.ranks.end(),
                  [](const RankFigures& rank) { return rank.overview.lost_scopes.has_value(); });
  for (RunScope& scope : scopes) scope.is_lower_bound = is_lower_bound;
  return scopes;
}

std::vector<RunCopies> run_copies(const RunOverview& run) {
  Gathering<RunCopies> gathering;
  for (const RankFigures& rank : run.ranks) {
    if (!rank.overview.transfers.copies) continue;
    gathering.next_rank();
    for (const TransferGroup& group : rank.overview.transfers.copies->by_direction) {
      RunCopies& copies =
          gathering.add(group.label, group.label, group.duration_ns.count, group.duration_ns.total);
      copies.bytes = saturating_add(copies.bytes, group.bytes.total);
      copies.sized += group.bytes.count;
    }
  }
  return gathering.finish();
}

std::vector<RunGroup> run_waits(const RunOverview& run) {
  Gathering<RunGroup> gathering;
  for (const RankFigures& rank : run.ranks) {
    if (!rank.overview.waits) continue;
    gathering.next_rank();
    for (const WaitGroup& group : *rank.overview.waits) {
      gathering.add(group.call, group.call, group.blocked_ns.count, group.blocked_ns.total);
    }
  }
  return gathering.finish();
}

}  // namespace gpufl::analysis
