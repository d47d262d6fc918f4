// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "report/text_sections.hpp"
#include "text/units.hpp"

namespace gpufl::report {

namespace {

using analysis::Distribution;
using analysis::ScopeItem;
using analysis::ScopeWork;

constexpr size_t kIndent = 2;
constexpr size_t kShownKernels = 3;
constexpr size_t kShownWaits = 2;

double time_in(const ScopeWork& scope) { return scope.duration_ns.total + scope.open_ns; }

// The host's time or the GPU's, whichever is more: what makes a scope worth a look.
double weight(const ScopeWork& scope) {
  return std::max(time_in(scope), static_cast<double>(scope.total.gpu_ns()));
}

std::string title(const ScopeWork& scope) {
  return scope.tag.empty() ? scope.name : scope.name + " / " + scope.tag;
}

// What the row of a scope cannot say; empty for most.
std::string note(const ScopeWork& scope) {
  std::string text;
  const auto part = [&](uint64_t count, std::string_view what) {
    if (count == 0) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", text::count(count), what);
  };
  part(scope.open, "still open (in count, total and share only)");
  part(scope.cut, "ended by the end of its thread or session");
  part(scope.lost, "whose end was dropped (in count only)");
  return text;
}

class ScopeRows {
 public:
  ScopeRows(const SessionReport& report, size_t top, Detail detail)
      : scopes_(report.overview.scopes),
        session_ns_(static_cast<double>(report.session.summary.duration_ns)),
        is_lower_bound_(report.overview.lost_scopes.has_value()),
        has_end_(report.session.summary.ended),
        detail_(detail) {
    for (const ScopeWork& scope : scopes_) {
      has_work_ |= scope.total.gpu_ns() > 0 || scope.total.waits > 0;
      has_iterations_ |= scope.iteration_ns.count > 0;
      has_energy_ |= scope.energy_joules.is_known();
    }
    choose(top);
    add_columns();
    for (size_t i = 0; i < scopes_.size(); ++i) {
      if (shown_[i]) add_scope(scopes_[i]);
    }
    if (detail_ == Detail::Brief) table_.drop_empty_columns();
  }

  const TextTable& table() const { return table_; }
  const std::vector<std::string>& notes() const { return notes_; }
  size_t shown() const {
    return static_cast<size_t>(std::count(shown_.begin(), shown_.end(), true));
  }

 private:
  // The `top` with the most time, and every scope that one of them lies in; briefly, no more than
  // `top` together.
  void choose(size_t top) {
    std::vector<size_t> order(scopes_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    if (detail_ == Detail::Brief) {
      choose_at_most(top, order);
      return;
    }
    if (order.size() > top) {
      std::nth_element(
          order.begin(), order.begin() + static_cast<ptrdiff_t>(top), order.end(),
          [this](size_t a, size_t b) { return weight(scopes_[a]) > weight(scopes_[b]); });
      order.resize(top);
    }
    shown_.assign(scopes_.size(), false);
    for (size_t i : order) {
      while (i < scopes_.size() && !shown_[i]) {
        shown_[i] = true;
        i = scopes_[i].parent;
      }
    }
  }

  void choose_at_most(size_t top, std::vector<size_t>& order) {
    std::stable_sort(order.begin(), order.end(), [this](size_t a, size_t b) {
      return weight(scopes_[a]) > weight(scopes_[b]);
    });
    shown_.assign(scopes_.size(), false);
    size_t left = top;
    for (const size_t chosen : order) {
      if (left == 0) return;
      std::vector<size_t> chain;  // up to one that is shown already
      for (size_t i = chosen; i < scopes_.size() && !shown_[i] && chain.size() <= left;) {
        chain.push_back(i);
        i = scopes_[i].parent;
      }
      if (chain.size() > left) continue;
      for (const size_t i : chain) shown_[i] = true;
      left -= chain.size();
    }
  }

  void add_columns() {
    table_.columns = {{"scope"}, {"count"}, {"total"}, {"share", false, 3}, {"mean", false, 1}};
    if (has_work_) {
      table_.columns.push_back({"GPU time"});
      table_.columns.push_back({"kernels", false, 4});
      table_.columns.push_back({"waited", false, 2});
    } else {
      table_.columns.push_back({"min", false, 6});
      table_.columns.push_back({"max", false, 5});
    }
    if (has_iterations_) table_.columns.push_back({"per iteration"});
    if (has_energy_) table_.columns.push_back({"energy", false, 5});
  }

  void add_scope(const ScopeWork& scope) {
    const Distribution& duration = scope.duration_ns;
    const auto known = [&](double ns) {
      return duration.count > 0 ? text::duration(ns) : std::string("-");
    };
    std::vector<std::string> row = {
        std::string(scope.depth * kIndent, ' ') + title(scope),
        at_least(text::count(duration.count + scope.open + scope.lost)),
        time_in(scope) > 0 || duration.count > 0 ? at_least(text::duration(time_in(scope))) : "-",
        session_ns_ > 0 ? at_least_share(text::percent(time_in(scope) / session_ns_)) : "-",
        known(duration.mean())};
    if (has_work_) {
      const analysis::ActivityTotals& total = scope.total;
      row.push_back(total.gpu_ns() > 0 ? duration_text(total.gpu_ns()) : "-");
      row.push_back(total.kernels > 0 ? text::count(total.kernels) : "-");
      row.push_back(total.waits > 0 ? duration_text(total.wait_ns) : "-");
    } else {
      row.push_back(known(duration.min));
      row.push_back(known(duration.max));
    }
    if (has_iterations_) row.push_back(iteration_text(scope));
    if (has_energy_) {
      row.push_back(
          scope.energy_joules ? text::metric_value("energy_mj", *scope.energy_joules * 1000) : "-");
    }
    if (const std::string text = note(scope); !text.empty()) {
      notes_.push_back(fmt::format("{}: {}", title(scope), text));
    }
    table_.rows.push_back(std::move(row));
    if (detail_ == Detail::Brief) return;
    // Where all of it is of scopes inside, it is listed there.
    if (scope.own.kernels > 0) {
      add_items(scope, scope.kernels, kShownKernels, scope.kernel_names, false);
    }
    if (scope.own.waits > 0) add_items(scope, scope.waits, kShownWaits, scope.waits.size(), true);
  }

  std::string at_least(const std::string& text) const { return at_least_if(is_lower_bound_, text); }
  // Without an end, the session's time is a lower bound as well.
  std::string at_least_share(const std::string& text) const {
    return at_least_if(is_lower_bound_ && has_end_, text);
  }

  static std::string iteration_text(const ScopeWork& scope) {
    const Distribution& iteration = scope.iteration_ns;
    if (iteration.count == 0) return {};
    std::string text =
        fmt::format("{} x {}", text::count(iteration.count), text::duration(iteration.mean()));
    if (scope.iteration_gpu_ns && *scope.iteration_gpu_ns > 0) {
      text += fmt::format(", GPU {}", text::duration(*scope.iteration_gpu_ns));
    }
    return text;
  }

  // Kernels or waits under their scope, those with the most time.
  void add_items(const ScopeWork& scope, const std::vector<ScopeItem>& items, size_t most,
                 uint64_t all, bool is_wait) {
    constexpr size_t kCount = 1;
    const size_t time_column = is_wait ? 7 : 5;
    const std::string indent((scope.depth + 1) * kIndent, ' ');
    const size_t count = std::min(most, items.size());
    for (size_t i = 0; i < count; ++i) {
      auto& row = table_.rows.emplace_back(table_.columns.size());
      row[0] = indent + "- " + items[i].label;
      row[kCount] = text::count(items[i].count);
      row[time_column] = duration_text(items[i].total_ns);
    }
    if (all > count) {
      auto& row = table_.rows.emplace_back(table_.columns.size());
      row[0] = indent + fmt::format("- {} more {}", text::count(all - count),
                                    is_wait ? "calls that wait" : "kernels");
    }
  }

  const std::vector<ScopeWork>& scopes_;
  double session_ns_;
  bool is_lower_bound_, has_end_;
  Detail detail_;
  bool has_work_ = false, has_iterations_ = false, has_energy_ = false;
  std::vector<bool> shown_;  // by index
  TextTable table_;
  std::vector<std::string> notes_;
};

void write_rates(Page& page, const SessionReport& report, size_t top) {
  constexpr size_t kMaxPaths = 120;  // bytes of them
  TextTable table{{{"counters by scope", true}, {"counter", true}, {"increase"}, {"per second"}}};
  size_t all = 0;
  std::string untold;  // paths
  for (const ScopeWork& scope : report.overview.scopes) {
    for (const analysis::ScopeCounter& counter : scope.counters.list) {
      if (!counter.growth || ++all > top) continue;
      table.rows.push_back({scope.path, report.session.tables.name(counter.name),
                            text::signed_count(counter.growth->increase),
                            text::rate(counter.growth->per_second)});
    }
    if (scope.counters.unknown > 0 && untold.size() <= kMaxPaths) {
      untold.append(untold.empty() ? "" : ", ").append(scope.path);
    }
  }
  if (!table.rows.empty()) page.table(table);
  write_more(page, all, table.rows.size());
  if (untold.empty()) return;
  if (untold.size() > kMaxPaths) untold.replace(kMaxPaths - 3, std::string::npos, "...");
  page.paragraph(
      2,
      fmt::format("Counters of {} are unknown: {}.", untold, analysis::unsampled_growth().reason),
      Tone::Plain, 2);
}

}  // namespace

void write_scopes(Page& page, const SessionReport& report, size_t top, Detail detail) {
  const std::vector<ScopeWork>& scopes = report.overview.scopes;
  if (scopes.empty()) return;
  page.heading("SCOPES");
  const ScopeRows rows(report, top, detail);
  page.table(rows.table());
  write_more(page, scopes.size(), rows.shown());
  write_lower_bound(page, report.overview.lost_scopes);
  if (detail == Detail::Brief) return;
  for (const std::string& text : rows.notes()) page.paragraph(2, text, Tone::Plain, 2);
  write_rates(page, report, top);
}

}  // namespace gpufl::report
