// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "report/text_sections.hpp"
#include "report/units.hpp"

namespace gpufl::report {

namespace {

using analysis::Distribution;
using analysis::ScopeNode;
using analysis::SessionSummary;

constexpr size_t kIndent = 2;

double time_in(const ScopeNode& node) { return node.duration_ns.total + node.open_ns; }

std::string title(const ScopeNode& node) {
  if (node.is_unknown) return "(parent not in the log)";
  return node.tag.empty() ? node.name : node.name + " / " + node.tag;
}

// What the row of a scope cannot say; empty for most.
std::string note(const ScopeNode& node) {
  std::string text;
  const auto part = [&](uint64_t count, std::string_view what) {
    if (count == 0) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", format_count(count), what);
  };
  part(node.open, "still open (in count, total and share only)");
  part(node.cut, "ended by the end of its thread or session");
  part(node.lost, "whose end was dropped (in count only)");
  part(node.deeper, "paths nested too deep to show");
  return text;
}

class ScopeRows {
 public:
  ScopeRows(const SessionSummary& summary, size_t top) : session_ns_(summary.duration_ns) {
    list_all(summary.scopes, nullptr);
    choose(top);
    table_.columns = {{"scope"}, {"count"},         {"total"},        {"share", false, 1},
                      {"mean"},  {"min", false, 3}, {"max", false, 2}};
    if (has_iterations_) table_.columns.push_back({"per iteration"});
    add(summary.scopes, 0);
  }

  const TextTable& table() const { return table_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Placed {
    const ScopeNode* node;
    const ScopeNode* parent;
  };

  void list_all(const std::vector<ScopeNode>& nodes, const ScopeNode* parent) {
    for (const ScopeNode& node : nodes) {
      all_.push_back({&node, parent});
      has_iterations_ |= node.iteration_ns.count > 0;
      list_all(node.children, &node);
    }
  }

  // The `top` with the most time, and every scope that one of them lies in.
  void choose(size_t top) {
    std::unordered_map<const ScopeNode*, const ScopeNode*> parents;
    for (const Placed& placed : all_) parents.emplace(placed.node, placed.parent);
    if (all_.size() > top) {
      std::nth_element(
          all_.begin(), all_.begin() + static_cast<ptrdiff_t>(top), all_.end(),
          [](const Placed& a, const Placed& b) { return time_in(*a.node) > time_in(*b.node); });
      all_.resize(top);
    }
    for (const Placed& placed : all_) {
      for (const ScopeNode* node = placed.node; node != nullptr; node = parents[node]) {
        if (!shown_.insert(node).second) break;
      }
    }
  }

  void add(const std::vector<ScopeNode>& nodes, size_t depth) {
    size_t hidden = 0;
    double hidden_ns = 0;
    for (const ScopeNode& node : nodes) {
      if (!shown_.contains(&node)) {
        ++hidden;
        hidden_ns += time_in(node);
        continue;
      }
      add_row(node, depth);
      add(node.children, depth + 1);
    }
    if (hidden == 0) return;
    auto& row = table_.rows.emplace_back(table_.columns.size());
    row[0] = std::string(depth * kIndent, ' ') + fmt::format("... {} more", format_count(hidden));
    row[2] = format_duration(hidden_ns);
  }

  void add_row(const ScopeNode& node, size_t depth) {
    const Distribution& duration = node.duration_ns;
    const auto known = [&](double ns) {
      return duration.count > 0 ? format_duration(ns) : std::string("-");
    };
    std::vector<std::string> row = {
        std::string(depth * kIndent, ' ') + title(node),
        node.is_unknown ? "-" : format_count(duration.count + node.open + node.lost),
        time_in(node) > 0 || duration.count > 0 ? format_duration(time_in(node)) : "-",
        session_ns_ > 0 && !node.is_unknown
            ? format_percent(time_in(node) / static_cast<double>(session_ns_))
            : "-",
        known(duration.mean()),
        known(duration.min),
        known(duration.max)};
    if (has_iterations_) {
      const Distribution& iteration = node.iteration_ns;
      row.push_back(iteration.count == 0 ? std::string()
                                         : fmt::format("{} x {}", format_count(iteration.count),
                                                       format_duration(iteration.mean())));
    }
    if (const std::string text = note(node); !text.empty()) {
      notes_.push_back(fmt::format("{}: {}", title(node), text));
    }
    table_.rows.push_back(std::move(row));
  }

  int64_t session_ns_;
  bool has_iterations_ = false;
  std::vector<Placed> all_;
  std::unordered_set<const ScopeNode*> shown_;
  TextTable table_;
  std::vector<std::string> notes_;
};

}  // namespace

void write_scopes(TextPage& page, const SessionSummary& summary, size_t top) {
  if (summary.scopes.empty()) return;
  page.heading("SCOPES");
  const ScopeRows rows(summary, top);
  page.table(rows.table());
  for (const std::string& text : rows.notes()) page.paragraph(2, text, Tone::Plain, 2);
}

void write_counters(TextPage& page, const SessionSummary& summary, size_t top) {
  if (summary.counters.empty()) return;
  page.heading("COUNTERS");
  TextTable table{{{"counter"}, {"value"}, {"in session"}, {"per second"}, {"samples", false, 1}}};
  for (const analysis::CounterTotal& counter : summary.counters) {
    if (table.rows.size() == top) break;
    const std::optional<double> rate = counter.per_second();
    table.rows.push_back({counter.name, format_signed_count(counter.last),
                          format_signed_count(counter.increase()),
                          rate ? format_rate(*rate) : "unknown", format_count(counter.samples)});
  }
  page.table(table);
  if (summary.counters.size() > table.rows.size()) {
    page.paragraph(
        2, fmt::format("... {} more", format_count(summary.counters.size() - table.rows.size())));
  }
}

}  // namespace gpufl::report
