// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/stalls.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "analysis/code/kernel_name.hpp"
#include "analysis/figures/missing.hpp"
#include "analysis/figures/sample_rows.hpp"
#include "analysis/figures/scope_shares.hpp"
#include "analysis/figures/window_sums.hpp"
#include "symbols/demangle.hpp"

namespace gpufl::analysis {
namespace {

// Where windows differ less than samples by chance, or too few of them tell how much they do, the
// interval is that of as many samples.
Estimate stall_share(double share, double samples, const std::optional<Estimate>& of_windows,
                     uint64_t windows) {
  Estimate estimate = binomial_estimate(share, std::max(samples, 1.0));
  estimate.pieces = windows;
  if (of_windows) {
    estimate.low = std::min(estimate.low, of_windows->low);
    estimate.high = std::min(1.0, std::max(estimate.high, of_windows->high));
  }
  return estimate;
}

std::string top_reason(const StallCounts& stalls) {
  return std::max_element(
             stalls.begin(), stalls.end(),
             [](const auto& a, const auto& b) { return a.second.samples < b.second.samples; })
      ->first;
}

uint64_t samples_of(const StallCounts& stalls) {
  uint64_t samples = 0;
  for (const auto& [reason, count] : stalls) samples += count.samples;
  return samples;
}

void add(StallCounts& to, const StallCounts& from) {
  for (const auto& [reason, count] : from) {
    to[reason].samples += count.samples;
    to[reason].not_issued += count.not_issued;
  }
}

// One function out of its parts in modules and on GPUs.
SampledFunction function_of(const std::vector<const KernelStalls*>& parts, const Tables& tables,
                            const FunctionSums& sums, size_t top) {
  SampledFunction function;
  function.name = parts.front()->name;
  function.full_name = symbols::demangle(tables.name(function.name));
  function.label = short_kernel_name(function.full_name);
  StallCounts stalls;
  std::map<std::pair<uint64_t, int64_t>, StallCounts> by_pc;
  for (const KernelStalls* const part : parts) {
    function.samples += part->samples;
    function.by_device[part->device] += part->samples;
    add(stalls, part->stalls);
    for (const auto& [pc, counts] : part->by_pc) add(by_pc[{part->module, pc}], counts);
  }
  const RatioEstimator of_windows(sums.whole);
  for (auto& [reason, count] : stalls) {
    if (function.samples == 0) break;
    const auto found = sums.of_stalls.find(reason);
    const PartSums part = found == sums.of_stalls.end() ? PartSums{} : found->second;
    const double share = sums.whole.sum() <= 0 ? 0 : part.sum() / sums.whole.sum();
    function.stalls.push_back(
        {reason, count,
         stall_share(share, sums.effective_samples(), of_windows.of(part), sums.whole.pieces())});
  }
  std::stable_sort(function.stalls.begin(), function.stalls.end(),
                   [](const auto& a, const auto& b) {
                     return std::pair(a.share.value, a.count.samples) >
                            std::pair(b.share.value, b.count.samples);
                   });
  for (const auto& [where, counts] : by_pc) {
    function.hottest.push_back({where.first, where.second, samples_of(counts), top_reason(counts)});
  }
  std::stable_sort(function.hottest.begin(), function.hottest.end(),
                   [](const auto& a, const auto& b) { return a.samples > b.samples; });
  if (function.hottest.size() > top) function.hottest.resize(top);
  return function;
}

class ScopeDivision {
 public:
  ScopeDivision(const SessionData& session, const AnalysisOptions& all)
      : session_(session), paths_(session.scope_paths(all)) {
    for (size_t row = 0; row < session.tables.scopes.rows(); ++row) {
      path_of_id_.emplace(session.tables.scopes.id[row], paths_->of_scope[row]);
    }
  }

  void divide(const AnalysisOptions& options, StallFigures& figures) {
    if (paths_->paths.empty()) return;
    const ScopeShares shares(session_, options);
    const SampleRows rows(session_.tables, options);
    // By group and function, and by reason.
    std::map<std::pair<size_t, uint32_t>, std::map<std::string, uint64_t>> unnamed;
    rows.visit([&](const SampleRow& row) {
      if (row.is_not_issued) return;
      const auto path = path_of_id_.find(row.scope);
      if (row.scope == 0 || path == path_of_id_.end()) {
        unnamed[{shares.group_of(row), row.function}][rows.reason(row.stall)] += row.samples;
      } else {
        add(path->second, rows.reason(row.stall), static_cast<double>(row.samples), true);
      }
    });
    for (const auto& [key, stalls] : unnamed) {
      const std::vector<ScopeShare>* const parts = shares.of(key.first, key.second);
      for (const auto& [reason, samples] : stalls) {
        if (parts == nullptr) {
          figures.without_scope += samples;
          continue;
        }
        for (const auto& [path, share] : *parts) {
          add(path, reason, static_cast<double>(samples) * share, false);
        }
      }
    }
    for (auto& [path, scope] : scopes_) figures.scopes.push_back(std::move(scope));
    std::stable_sort(figures.scopes.begin(), figures.scopes.end(),
                     [](const auto& a, const auto& b) { return a.samples() > b.samples(); });
  }

 private:
  void add(uint32_t path, const std::string& reason, double samples, bool is_exact) {
    ScopeSamples& scope = scopes_[path];
    if (path != kNoRow) scope.path = paths_->paths[path].text;
    (is_exact ? scope.exact : scope.estimated) += samples;
    scope.stalls[reason] += samples;
  }

  const SessionData& session_;
  std::shared_ptr<const ScopePaths> paths_;
  std::unordered_map<int64_t, uint32_t> path_of_id_;
  std::map<uint32_t, ScopeSamples> scopes_;
};

// Of another pass, whose windows and times are its own.
Figure<StallFigures> of_other_pass(const SessionData& session, AnalysisOptions options) {
  if (options.window != session.window) {
    return Unknown{"samples are of another pass, and its times are others",
                   "choose all of the session"};
  }
  const SessionData& other = session.sampled();
  options.window = other.window;
  auto figures = stall_figures(other, options);
  if (!figures) return figures;
  std::unordered_map<std::string, uint32_t> names;
  for (uint32_t id = 0; id < session.tables.names.size(); ++id) {
    names.try_emplace(session.tables.names[id], id);
  }
  for (SampledFunction& function : figures->functions) {
    const auto name = names.find(other.tables.name(function.name));
    function.name = name == names.end() ? kNoRow : name->second;
  }
  return figures;
}

}  // namespace

Figure<StallFigures> stall_figures(const SessionData& session, const AnalysisOptions& options) {
  if (&session.sampled() != &session) return of_other_pass(session, options);
  AnalysisOptions all_scopes = options;
  all_scopes.scope.clear();
  const std::vector<KernelStalls> parts = kernel_stalls(session.tables, all_scopes);
  if (parts.empty()) return missing_samples(session.summary);
  const WindowSums sums = window_sums(session, all_scopes);
  std::map<uint32_t, std::vector<const KernelStalls*>> by_name;
  for (const KernelStalls& part : parts) by_name[part.name].push_back(&part);

  StallFigures figures;
  figures.windows = sums.all.pieces();
  const RatioEstimator of_all(sums.all);
  for (const auto& [name, its_parts] : by_name) {
    const auto found = sums.functions.find(name);
    const FunctionSums of_function = found == sums.functions.end() ? FunctionSums{} : found->second;
    SampledFunction function = function_of(its_parts, session.tables, of_function, options.top);
    if (!of_function.is_of_run) {
      function.share = Unknown{"it was sampled only while a deep scope or window was open", ""};
    } else if (const auto share = of_all.of(of_function.of_all)) {
      function.share = *share;
      function.share->high = std::min(1.0, share->high);
    } else {
      const bool has_windows = sums.all.pieces() >= kMinClusters;
      figures.no_shares_because = "at least " + std::to_string(kMinClusters) +
                                  (has_windows ? " phases or turns" : " windows") +
                                  " with samples are needed";
      function.share = Unknown{*figures.no_shares_because, "record for longer"};
    }
    figures.samples += function.samples;
    figures.functions.push_back(std::move(function));
  }
  std::stable_sort(figures.functions.begin(), figures.functions.end(),
                   [](const auto& a, const auto& b) { return a.samples > b.samples; });
  ScopeDivision(session, all_scopes).divide(all_scopes, figures);
  return figures;
}

}  // namespace gpufl::analysis
