// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/stalls.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "analysis/code/kernel_name.hpp"
#include "analysis/figures/missing.hpp"
#include "analysis/figures/sample_rows.hpp"
#include "analysis/figures/sample_windows.hpp"
#include "analysis/figures/scope_shares.hpp"
#include "symbols/demangle.hpp"

namespace gpufl::analysis {
namespace {

struct WindowSample {
  int64_t window = 0;
  int64_t device = -1;
  uint32_t function = 0, stall = 0;
  uint64_t samples = 0;
  bool is_deep = false;
};

// Sums over windows.
struct FunctionSums {
  WholeSums whole;                            // of its own samples
  PartSums of_all;                            // of those of all functions, without deep windows
  std::map<std::string, PartSums> of_stalls;  // of its own
};

class WindowSums {
 public:
  WindowSums(const SessionData& session, const AnalysisOptions& options)
      : rows_(session.tables, options) {
    const SampleWindows windows(session);
    std::vector<WindowSample> samples;
    rows_.visit([&](const SampleRow& row) {
      if (row.is_not_issued) return;
      samples.push_back({windows.start_of(row), row.device, row.function, row.stall, row.samples,
                         windows.stretch_of(row) != 0});
    });
    // GPUs are sampled in windows of their own.
    const auto key = [](const WindowSample& sample) {
      return std::pair(sample.window, sample.device);
    };
    std::stable_sort(samples.begin(), samples.end(),
                     [&](const auto& a, const auto& b) { return key(a) < key(b); });
    for (size_t begin = 0; begin < samples.size();) {
      size_t end = begin;
      while (end < samples.size() && key(samples[end]) == key(samples[begin])) ++end;
      add_window({samples.data() + begin, end - begin}, samples[begin].is_deep);
      begin = end;
    }
  }

  WholeSums all;
  std::unordered_map<uint32_t, FunctionSums> functions;

 private:
  void add_window(std::span<const WindowSample> samples, bool is_deep) {
    std::map<uint32_t, std::map<uint32_t, uint64_t>> by_function;
    uint64_t total = 0;
    for (const WindowSample& sample : samples) {
      by_function[sample.function][sample.stall] += sample.samples;
      total += sample.samples;
    }
    if (!is_deep) all.add(static_cast<double>(total));
    for (const auto& [function, stalls] : by_function) {
      uint64_t own = 0;
      for (const auto& [stall, count] : stalls) own += count;
      FunctionSums& sums = functions[function];
      sums.whole.add(static_cast<double>(own));
      if (!is_deep) sums.of_all.add(static_cast<double>(own), static_cast<double>(total));
      for (const auto& [stall, count] : stalls) {
        sums.of_stalls[rows_.reason(stall)].add(static_cast<double>(count),
                                                static_cast<double>(own));
      }
    }
  }

  SampleRows rows_;
};

Estimate stall_share(uint64_t part, uint64_t total, const std::optional<Estimate>& of_windows,
                     uint64_t windows) {
  Estimate share = binomial_estimate(part, total);
  share.clusters = windows;
  if (of_windows) {
    share.low = std::min(share.low, of_windows->low);
    share.high = std::min(1.0, std::max(share.high, of_windows->high));
  }
  return share;
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
    const std::optional<Estimate> estimate =
        found == sums.of_stalls.end() ? std::nullopt : of_windows.of(found->second);
    function.stalls.push_back(
        {reason, count,
         stall_share(count.samples, function.samples, estimate, sums.whole.clusters)});
  }
  std::stable_sort(function.stalls.begin(), function.stalls.end(),
                   [](const auto& a, const auto& b) { return a.count.samples > b.count.samples; });
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
  const WindowSums sums(session, all_scopes);
  std::map<uint32_t, std::vector<const KernelStalls*>> by_name;
  for (const KernelStalls& part : parts) by_name[part.name].push_back(&part);

  StallFigures figures;
  figures.windows = sums.all.clusters;
  const RatioEstimator of_all(sums.all);
  for (const auto& [name, its_parts] : by_name) {
    const auto found = sums.functions.find(name);
    const FunctionSums of_function = found == sums.functions.end() ? FunctionSums{} : found->second;
    SampledFunction function = function_of(its_parts, session.tables, of_function, options.top);
    if (of_function.of_all.sum <= 0 && of_function.whole.sum > 0) {
      function.share = Unknown{"it was sampled only while a deep scope or window was open", ""};
    } else if (const auto share = of_all.of(of_function.of_all)) {
      function.share = *share;
      function.share->high = std::min(1.0, share->high);
    } else {
      function.share = Unknown{
          "at least " + std::to_string(kMinClusters) + " windows with samples are needed", ""};
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
