// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/window_sums.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/figures/phases.hpp"
#include "analysis/figures/recorded_time.hpp"
#include "analysis/figures/sample_rows.hpp"
#include "analysis/figures/sample_windows.hpp"

namespace gpufl::analysis {
namespace {

// Windows of an attachment that stand for the pause next to it: as many as a turn of sampling has.
// The first turn has more, and its beginning is not like what comes long after it.
constexpr size_t kWindowsInBlock = 10;

struct Window {
  int64_t device = -1;
  Interval span;
  bool is_asked = false;  // by a deep scope, or by hand: it is no sample of the run
  ByPauseRule weight = {1, 1, 1};
  double total = 0;
  double length_ns() const { return static_cast<double>(std::max<int64_t>(1, span.length())); }
  std::map<uint32_t, std::map<uint32_t, double>> samples;  // by function and stall
};
using Windows = std::vector<Window*>;

// What the samples are to stand for.
Intervals time_of_run(const SessionData& session, const AnalysisOptions& options) {
  if (!session.summary.is_budgeted()) return recorded_spans(session, options);
  const Interval whole{0, session.summary.duration_ns};
  return clip({whole}, options.window.value_or(whole));
}

// When samples were taken, in order of time; the session where the log does not say.
Intervals attached_spans(const SessionData& session, const Intervals& run) {
  Intervals spans = engine_phases(session, "PcSampling");
  if (const auto open = session.summary.open_phase()) spans = unite(spans, {*open});
  if (!run.empty()) spans = clip(spans, {run.front().start, run.back().end});
  if (spans.empty() && !run.empty()) spans = {{run.front().start, run.back().end}};
  return spans;
}

class WindowReader {
 public:
  WindowReader(const SessionData& session, const AnalysisOptions& options)
      : session_(session), options_(options), rows_(session.tables, options) {}

  std::map<std::pair<int64_t, int64_t>, Window> read() {
    const SampleWindows known(session_);
    asked_ = session_.summary.is_budgeted() ? asked_phases(session_) : Intervals{};
    rows_.visit([&](const SampleRow& row) {
      if (row.is_not_issued) return;
      if (devices_.insert(row.device).second) add_all(known, row.device);
      const int64_t start_ns = known.start_of(row);
      Window& window = add(row.device, {start_ns, start_ns}, known.stretch_of(row) != 0);
      window.total += static_cast<double>(row.samples);
      window.samples[row.function][row.stall] += static_cast<double>(row.samples);
    });
    return std::move(windows_);
  }
  const std::string& reason(uint32_t stall) const { return rows_.reason(stall); }
  // Whether windows came back empty although something ran in them.
  bool has_lost() const {
    const auto& ledger = session_.summary.ledger;
    return ledger && ledger->sampling_buffers_full.value_or(0) > 0;
  }

 private:
  // GPUs are sampled in windows of their own.
  Window& add(int64_t device, Interval span, bool is_deep) {
    const auto [found, is_new] = windows_.try_emplace({device, span.start});
    if (is_new) {
      const bool is_asked = std::any_of(asked_.begin(), asked_.end(), [&](const Interval& phase) {
        return phase.start <= span.start && span.start < phase.end;
      });
      found->second.device = device;
      found->second.span = span;
      found->second.is_asked = is_deep || is_asked;
    }
    return found->second;
  }
  void add_all(const SampleWindows& known, int64_t device) {
    const Interval wanted = options_.window.value_or(Selection::kAlways);
    for (const SampleWindow& window : known.of_device(device)) {
      if (window.span.start < wanted.start || window.span.start >= wanted.end) continue;
      (void)add(device, window.span, window.stretch != 0);
    }
  }

  const SessionData& session_;
  const AnalysisOptions& options_;
  SampleRows rows_;
  Intervals asked_;
  std::set<int64_t> devices_;
  std::map<std::pair<int64_t, int64_t>, Window> windows_;  // by device and start
};

// Windows of one device and one attachment in groups of about equal size.
void add_blocks(const Windows& windows, std::vector<Windows>& blocks) {
  const size_t count = (windows.size() + kWindowsInBlock - 1) / kWindowsInBlock;
  for (size_t i = 0; i < count; ++i) {
    const size_t begin = windows.size() * i / count, end = windows.size() * (i + 1) / count;
    blocks.emplace_back(windows.begin() + static_cast<std::ptrdiff_t>(begin),
                        windows.begin() + static_cast<std::ptrdiff_t>(end));
  }
}

// Windows by the attachment that they were taken in, with weights.
class Attachments {
 public:
  Attachments(const SessionData& session, const Intervals& run)
      : run_(run), spans_(attached_spans(session, run)), all_(std::max<size_t>(1, spans_.size())) {}

  // Of one device, in order of time.
  void add(const Windows& windows) {
    std::vector<Windows> blocks;
    for (size_t begin = 0; begin < windows.size();) {
      const size_t attachment = attachment_of(*windows[begin]);
      size_t end = begin;
      while (end < windows.size() && attachment_of(*windows[end]) == attachment) ++end;
      const Windows its_windows(windows.begin() + static_cast<std::ptrdiff_t>(begin),
                                windows.begin() + static_cast<std::ptrdiff_t>(end));
      add_blocks(its_windows, blocks);
      Attachment& to = all_[attachment];
      to.windows.insert(to.windows.end(), its_windows.begin(), its_windows.end());
      if (!spans_.empty()) {
        to.length_ns += static_cast<double>(total_length(clip(run_, spans_[attachment])));
      }
      begin = end;
    }
    if (!run_.empty()) weigh(blocks);
  }

  template <typename Visit>
  void visit(Visit visit) const {
    for (const Attachment& one : all_) {
      Cluster cluster{{1, 1, 1}, false};
      for (size_t rule = 0; rule < kPauseRules; ++rule) {
        if (one.stands_for_ns[rule] <= 0) continue;
        cluster.seen[rule] = std::min(1.0, one.length_ns / one.stands_for_ns[rule]);
      }
      visit(cluster, one.windows);
    }
  }

 private:
  struct Attachment {
    Windows windows;
    double length_ns = 0;  // of all devices, like what it stands for
    ByPauseRule stands_for_ns = {0, 0, 0};
  };

  // The one that began last before the window.
  size_t attachment_of(const Window& window) const {
    const auto next = std::upper_bound(
        spans_.begin(), spans_.end(), window.span.start,
        [](int64_t time_ns, const Interval& span) { return time_ns < span.start; });
    return next == spans_.begin() ? 0 : static_cast<size_t>(next - spans_.begin()) - 1;
  }
  void weigh(const std::vector<Windows>& blocks) {
    Intervals spans;
    for (const Windows& block : blocks) {
      const int64_t not_before = spans.empty() ? INT64_MIN : spans.back().end;
      const int64_t start_ns = std::max(not_before, block.front()->span.start);
      spans.push_back({start_ns, std::max(start_ns, block.back()->span.end)});
    }
    const std::vector<ByPauseRule> times = time_stood_for(spans, run_);
    for (size_t i = 0; i < blocks.size(); ++i) {
      double length_ns = 0;
      for (const Window* window : blocks[i]) length_ns += window->length_ns();
      ByPauseRule& stands_for_ns = all_[attachment_of(*blocks[i].front())].stands_for_ns;
      for (size_t rule = 0; rule < kPauseRules; ++rule) {
        stands_for_ns[rule] += times[i][rule];
        for (Window* window : blocks[i]) window->weight[rule] = times[i][rule] / length_ns;
      }
    }
  }

  const Intervals& run_;
  const Intervals spans_;
  std::vector<Attachment> all_;
};

class Summation {
 public:
  Summation(const WindowReader& reader, WindowSums& sums) : reader_(reader), sums_(sums) {}

  // The windows of a cluster; `is_of_run`: they say something of the run.
  void add(const Cluster& cluster, const Windows& windows, bool is_of_run) {
    std::vector<Piece> all;
    std::map<uint32_t, std::vector<const Window*>> by_function;
    for (const Window* window : windows) {
      all.push_back({0, window->total, window->weight});
      for (const auto& [function, stalls] : window->samples) {
        by_function[function].push_back(window);
      }
    }
    if (is_of_run) sums_.all.add(cluster, all);
    for (const auto& [function, its_windows] : by_function) {
      const auto known = sums_.functions.find(function);
      if (!is_of_run && known != sums_.functions.end() && known->second.is_of_run) continue;
      FunctionSums& sums = sums_.functions[function];
      sums.is_of_run = is_of_run;
      add(cluster, its_windows, function, sums);
    }
  }

 private:
  void add(const Cluster& cluster, const std::vector<const Window*>& windows, uint32_t function,
           FunctionSums& sums) {
    std::vector<Piece> of_all, own;
    std::map<uint32_t, std::vector<Piece>> by_stall;
    for (const Window* window : windows) {
      double its = 0;
      for (const auto& [stall, count] : window->samples.at(function)) its += count;
      of_all.push_back({its, window->total, window->weight});
      own.push_back({0, its, window->weight});
      for (const auto& [stall, count] : window->samples.at(function)) {
        by_stall[stall].push_back({count, its, window->weight});
      }
      const double weight = window->weight[static_cast<size_t>(PauseLike::Both)];
      sums.weighted += weight * its;
      sums.squared_weights += weight * weight * its;
    }
    if (sums.is_of_run) sums.of_all.add(sums_.all, cluster, of_all);
    sums.whole.add(cluster, own);
    for (const auto& [stall, pieces] : by_stall) {
      sums.of_stalls[reader_.reason(stall)].add(sums.whole, cluster, pieces);
    }
  }

  const WindowReader& reader_;
  WindowSums& sums_;
};

}  // namespace

WindowSums window_sums(const SessionData& session, const AnalysisOptions& options) {
  WindowReader reader(session, options);
  auto windows = reader.read();
  std::map<int64_t, Windows> of_run;  // by device
  Windows asked;
  for (auto& [key, window] : windows) {
    // A window without samples says that the GPU was idle, unless it may have lost them.
    if (window.samples.empty() && (reader.has_lost() || window.is_asked)) continue;
    (window.is_asked ? asked : of_run[window.device]).push_back(&window);
  }
  const Intervals run = time_of_run(session, options);
  Attachments attachments(session, run);
  for (const auto& [device, its_windows] : of_run) attachments.add(its_windows);
  WindowSums sums;
  Summation summation(reader, sums);
  attachments.visit([&](const Cluster& cluster, const Windows& its_windows) {
    summation.add(cluster, its_windows, true);
  });
  summation.add({{1, 1, 1}, false}, asked, false);
  return sums;
}

}  // namespace gpufl::analysis
