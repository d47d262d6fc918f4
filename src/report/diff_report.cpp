// SPDX-License-Identifier: Apache-2.0
#include "report/diff_report.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.hpp"
#include "report/diff_warps.hpp"
#include "report/diff_words.hpp"
#include "report/markdown_page.hpp"
#include "report/text_page.hpp"
#include "report/text_sections.hpp"
#include "text/units.hpp"

namespace gpufl::report {
namespace {

using analysis::compare::Comparison;
using analysis::compare::Entry;
using analysis::compare::Key;
using analysis::compare::kMinRepeats;
using analysis::compare::kRunToRun;
using analysis::compare::Metric;
using analysis::compare::Proof;
using analysis::compare::Verdict;

// What a reader is shown of the findings, most time first.
struct Shown {
  std::vector<const Entry*> rows;      // what differs in time or number
  std::vector<const Entry*> launches;  // what is launched differently, each once
  KernelLabels names;
};

Shown sort_out(const Comparison& comparison) {
  Shown shown;
  std::set<Key> launched;
  for (const Entry& entry : comparison.findings) {
    if (entry.verdict != Verdict::Changed) shown.rows.push_back(&entry);
    const bool is_changed = !launch_change(entry).empty();
    if (is_changed && launched.insert(entry.key).second) shown.launches.push_back(&entry);
  }
  std::vector<const Entry*> named = shown.rows;
  named.insert(named.end(), shown.launches.begin(), shown.launches.end());
  shown.names = kernel_labels(named);
  return shown;
}

std::string repeats_text(size_t repeats, bool is_of_one_session) {
  const std::string_view what = is_of_one_session ? "part" : "repeat";
  return fmt::format("{} {}{}", repeats, what, repeats == 1 ? "" : "s");
}

std::string side_text(const std::string& label, size_t repeats, bool is_of_one_session,
                      const std::vector<std::string>& devices) {
  return fmt::format("{} ({}{}{})", label, repeats_text(repeats, is_of_one_session),
                     devices.empty() ? "" : ", ", fmt::join(devices, ", "));
}

size_t different_totals(const Comparison& comparison) {
  return static_cast<size_t>(
      std::count_if(comparison.totals.begin(), comparison.totals.end(),
                    [](const Entry& entry) { return is_difference(entry.verdict); }));
}

size_t count_of(const std::vector<Entry>& entries, Verdict verdict) {
  return static_cast<size_t>(std::count_if(entries.begin(), entries.end(), [&](const Entry& entry) {
    return entry.verdict == verdict;
  }));
}

// Of the totals that are too noisy to tell, or drift: GPU busy time before kernel time before the
// others, then the widest.
const Entry* least_told_total(const Comparison& comparison) {
  const Entry* found = nullptr;
  const auto rank = [](const Entry& entry) {
    return std::tuple(entry.metric == Metric::Busy, entry.metric == Metric::Total,
                      entry.change.noise());
  };
  for (const Entry& entry : comparison.totals) {
    if (entry.verdict != Verdict::Untold && entry.verdict != Verdict::Drifts) continue;
    if (found == nullptr || rank(entry) > rank(*found)) found = &entry;
  }
  return found;
}

// Where no difference is proven and this total is the least told of all: what is known of the GPU's
// time all the same; empty: nothing.
std::string alike_gpu_time(const Comparison& comparison, const Entry& least_told) {
  const bool has_busy =
      std::any_of(comparison.totals.begin(), comparison.totals.end(),
                  [](const Entry& entry) { return entry.metric == Metric::Busy; });
  if (!has_busy || least_told.metric == Metric::Busy) return "";
  return least_told.metric == Metric::Total ? "GPU busy time alike" : "GPU time alike";
}

// Where no difference is proven: whether none is there, or it cannot be told.
std::string no_difference_text(const Comparison& comparison) {
  if (const Entry* total = least_told_total(comparison)) {
    const std::string what =
        figure_label(total->key, total->metric, comparison.per_iteration.has_value());
    const std::string range = fmt::format("between {:+.1f}% and {:+.1f}%", total->change.low * 100,
                                          total->change.high * 100);
    const std::string alike = alike_gpu_time(comparison, *total);
    return alike.empty()
               ? fmt::format("{}: {} {}", to_string(total->verdict), what, range)
               : fmt::format("{}; {} {}: {}", alike, what, to_string(total->verdict), range);
  }
  std::string unsure;
  if (const size_t untold = count_of(comparison.alike, Verdict::Untold)) {
    unsure = fmt::format("; {} of kernels and scopes too noisy", text::plural(untold, "figure"));
  }
  if (const size_t drifting = count_of(comparison.alike, Verdict::Drifts)) {
    unsure += unsure.empty()
                  ? fmt::format("; {} of kernels and scopes {}", text::plural(drifting, "figure"),
                                drifting == 1 ? "drifts" : "drift")
                  : fmt::format(", {} {}", drifting, drifting == 1 ? "drifts" : "drift");
  }
  return unsure.empty() ? "no difference" : "no difference in total" + unsure;
}

// Whose GPU work is not known; empty: it is of both sides.
std::string missing_work_text(const Comparison& comparison) {
  if (comparison.records_gpu_work_a && comparison.records_gpu_work_b) return "";
  if (!comparison.records_gpu_work_a && !comparison.records_gpu_work_b) {
    return "; GPU work not known";
  }
  return fmt::format("; GPU work of {} not known, so not compared",
                     comparison.records_gpu_work_a ? comparison.label_b : comparison.label_a);
}

// "2 slower, 1 appeared"
std::string verdicts_text(const Shown& shown) {
  std::map<Verdict, size_t> counts;
  for (const Entry* entry : shown.rows) ++counts[entry->verdict];
  std::vector<std::string> parts;
  for (const auto& [verdict, count] : counts) {
    const std::string_view what = verdict == Verdict::More    ? "run more often"
                                  : verdict == Verdict::Fewer ? "run less often"
                                                              : to_string(verdict);
    parts.push_back(fmt::format("{} {}", count, what));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// "2 slower, 1 appeared, 3 launched differently"; empty: nothing differs.
std::string differences_text(const Comparison& comparison, const Shown& shown) {
  std::string text = verdicts_text(shown);
  if (!shown.launches.empty()) {
    text +=
        fmt::format("{}{} launched differently", text.empty() ? "" : ", ", shown.launches.size());
  }
  const size_t totals = different_totals(comparison);
  return text.empty() && totals > 0 ? fmt::format("{} of the totals", totals) : text;
}

std::string result_text(const Comparison& comparison, const Shown& shown) {
  const bool is_proven = comparison.proof != Proof::None;
  if (comparison.totals.empty() && comparison.alike.empty() && comparison.findings.empty()) {
    return "nothing to compare";
  }
  const std::string missing = missing_work_text(comparison);
  const std::string what = differences_text(comparison, shown);
  if (what.empty()) {
    return (is_proven ? no_difference_text(comparison) : "no difference seen") + missing;
  }
  return (is_proven ? "different: " : "too few repeats to be sure, but different: ") + what +
         missing;
}

// From where on it is shown what differs, where nothing is proven.
std::string limits_text(const Comparison& comparison, std::string_view what) {
  const double least = comparison.options.min_change;
  return fmt::format(
      "Times are shown if they differ by {} or more in all {}, and counts if they differ by {} or "
      "more",
      text::percent(std::max(kRunToRun, least)), what, text::percent(least));
}

// How sure it is.
std::string proof_text(const Comparison& comparison) {
  switch (comparison.proof) {
    case Proof::Repeats:
    case Proof::Parts: break;
    case Proof::None:
      if (!comparison.parts.empty()) {
        return fmt::format(
            "{} Too few parts to separate a difference from noise: {} per half are needed. {}.",
            comparison.parts, kMinRepeats, limits_text(comparison, "parts"));
      }
      return fmt::format(
          "Too few repeats to separate a difference from noise: {} per side are needed. {}; runs "
          "of the same program may differ as much.",
          kMinRepeats, limits_text(comparison, "repeats"));
  }
  std::string text = fmt::format(
      "{} {} compared; if nothing differs, one comparison in {:.0f} still finds something. "
      "Intervals hold for all of them together. Differences below {} are not shown.",
      text::plural(comparison.compared, "figure"), comparison.compared == 1 ? "was" : "were",
      1 / analysis::compare::kCompareError, text::percent(comparison.options.min_change));
  for (const Entry& entry : comparison.totals) {
    if (entry.metric != Metric::Busy) continue;
    const double least = std::max(entry.change.noise(), comparison.options.min_change);
    text += fmt::format(" GPU busy time: a difference of about {} or more would be found.",
                        text::percent(least));
  }
  if (comparison.proof == Proof::Parts) {
    text += " " + comparison.parts +
            " Parts of one session show whether it was steady, not how runs differ.";
  }
  return text;
}

std::vector<std::string> total_row(const Entry& entry, bool is_per_iteration) {
  return {figure_label(entry.key, entry.metric, is_per_iteration),
          compared_value(entry.metric, entry.a),
          compared_value(entry.metric, entry.b),
          change_text(entry.change.estimate),
          interval_text(entry.change),
          entry.verdict == Verdict::Same ? "" : std::string(to_string(entry.verdict))};
}

std::string impact_text(double impact_ns) {
  return fmt::format("{}{}", impact_ns < 0 ? "-" : "+", text::duration(std::abs(impact_ns)));
}

std::vector<std::string> finding_row(const Entry& entry, const KernelLabels& names) {
  return {std::string(to_string(entry.verdict)),
          change_text(entry.change.estimate),
          std::isinf(entry.change.estimate) || entry.verdict == Verdict::Vanished
              ? ""
              : interval_text(entry.change),
          figure_label(entry.key, entry.metric, false),
          compared_value(entry.metric, entry.a),
          compared_value(entry.metric, entry.b),
          entry.has_impact ? impact_text(entry.impact_ns) : "-",
          compared_label(entry, names)};
}

std::string rest_text(const Shown& shown, size_t top) {
  const size_t all = shown.rows.size();
  const size_t hidden = all - shown_of(all, top);
  return hidden == 0 ? "" : fmt::format("{} more findings with less time (--top 0: all).", hidden);
}

std::string alike_text(const Comparison& comparison) {
  if (comparison.alike.empty() && comparison.left_out == 0) return "";
  const size_t untold = count_of(comparison.alike, Verdict::Untold);
  const size_t drifting = count_of(comparison.alike, Verdict::Drifts);
  const size_t alike = comparison.alike.size() - untold - drifting;
  std::string text = fmt::format("{} of kernels and scopes {} alike", text::plural(alike, "figure"),
                                 alike == 1 ? "is" : "are");
  if (untold > 0) {
    const double limit = std::max(analysis::compare::kTellable, comparison.options.min_change);
    text += fmt::format("; {} too noisy: a change of {} is not ruled out", untold,
                        text::percent(limit));
  }
  if (drifting > 0) {
    text += fmt::format("; {} {}: the halves differ by no more than a steady drift explains",
                        drifting, drifting == 1 ? "drifts" : "drift");
  }
  if (comparison.left_out > 0) {
    text += fmt::format("; {} kernels and scopes with less than {} of the time were left out",
                        comparison.left_out, text::percent(comparison.options.min_share));
  }
  return text + ".";
}

// As programs like it: without spaces.
std::string_view verdict_name(Verdict verdict) {
  return verdict == Verdict::Untold ? "too_noisy" : to_string(verdict);
}

base::Json launches_json(const std::vector<Key>& launches) {
  base::Json list = base::Json::array();
  for (const Key& launch : launches) {
    base::Json json = base::Json::object();
    json.set("scope", launch.scope).set("config", launch.config);
    list.push(std::move(json));
  }
  return list;
}

base::Json entry_json(const Entry& entry) {
  base::Json json = base::Json::object();
  set_key(json, entry.key);
  if (!entry.launches_a.empty()) {
    json.set("launches_a", launches_json(entry.launches_a));
    json.set("launches_b", launches_json(entry.launches_b));
  }
  json.set("metric", to_string(entry.metric));
  json.set("verdict", verdict_name(entry.verdict));
  json.set("a", entry.a).set("b", entry.b);
  set_change(json, entry.change);
  json.set("repeats_a", uint64_t{entry.repeats_a}).set("repeats_b", uint64_t{entry.repeats_b});
  json.set("impact_ns", entry.has_impact ? base::Json(entry.impact_ns) : base::Json());
  return json;
}

base::Json entries_json(const std::vector<Entry>& entries) {
  base::Json list = base::Json::array();
  for (const Entry& entry : entries) list.push(entry_json(entry));
  return list;
}

base::Json side_json(const std::string& label, size_t repeats,
                     const std::vector<std::string>& devices, bool records_gpu_work) {
  base::Json side = base::Json::object();
  side.set("label", label).set("repeats", uint64_t{repeats}).set("devices", json_texts(devices));
  side.set("records_gpu_work", records_gpu_work);
  return side;
}

std::string_view to_string(Proof proof) {
  switch (proof) {
    case Proof::Repeats: return "repeats";
    case Proof::Parts: return "parts";
    case Proof::None: break;
  }
  return "none";
}

void write_totals(Page& page, const Comparison& comparison) {
  if (comparison.totals.empty()) return;
  page.heading("Totals", comparison.per_iteration ? "per iteration" : "");
  TextTable table{{{"", true}, {"A"}, {"B"}, {"change"}, {"interval", false, 1}, {"", true}}};
  for (const Entry& entry : comparison.totals) {
    table.rows.push_back(total_row(entry, comparison.per_iteration.has_value()));
  }
  table.drop_empty_columns();
  page.table(table);
}

void write_findings(Page& page, const Comparison& comparison, const Shown& shown, size_t top) {
  if (shown.rows.empty()) return;
  page.heading("Kernels and scopes", verdicts_text(shown));
  TextTable table{{{"", true},
                   {"change"},
                   {"interval", false, 3},
                   {"of", true, 2},
                   {"A"},
                   {"B"},
                   {comparison.per_iteration ? "an iteration" : "a run", false, 1},
                   {"what", true}},
                  {},
                  7,
                  30};
  for (size_t i = 0; i < shown_of(shown.rows.size(), top); ++i) {
    table.rows.push_back(finding_row(*shown.rows[i], shown.names));
  }
  table.drop_empty_columns();
  page.table(table);
  const std::string rest = rest_text(shown, top);
  if (!rest.empty()) page.paragraph(2, rest);
}

void write_changed_launches(Page& page, const Shown& shown, size_t top) {
  if (shown.launches.empty()) return;
  page.heading("Launched differently", text::plural(shown.launches.size(), "kernel"));
  const size_t rows = shown_of(shown.launches.size(), top);
  for (size_t i = 0; i < rows; ++i) {
    const Entry& entry = *shown.launches[i];
    page.paragraph(2,
                   fmt::format("{}: {}", compared_label(entry, shown.names), launch_change(entry)),
                   Tone::Plain, 2);
  }
  write_more(page, shown.launches.size(), rows);
}

// Nothing has become slower or faster by them. `of`: what they are of, where both sides have some.
void write_scopes(Page& page, const std::vector<std::string>& scopes, std::string_view of,
                  size_t top) {
  const size_t rows = shown_of(scopes.size(), top);
  if (rows == 0) return;
  page.paragraph(2,
                 fmt::format("{}{}", of, fmt::join(scopes.begin(), scopes.begin() + rows, ", ")));
  write_more(page, scopes.size(), rows);
}

void write_scopes_apart(Page& page, const Comparison& comparison, size_t top) {
  if (comparison.are_scopes_compared) return;
  const bool are_both = comparison.has_scopes_a && comparison.has_scopes_b;
  page.heading("Scopes", are_both                  ? "A and B have no name in common"
                         : comparison.has_scopes_a ? "A has scopes, B has none"
                                                   : "B has scopes, A has none");
  write_scopes(page, comparison.scopes_a, are_both ? "A: " : "", top);
  write_scopes(page, comparison.scopes_b, are_both ? "B: " : "", top);
  page.paragraph(2, "Kernels are compared whatever the scopes that they were launched in.");
}

void write_comparison(Page& page, const Comparison& comparison, size_t top) {
  const Shown shown = sort_out(comparison);
  const bool is_alike = differences_text(comparison, shown).empty() &&
                        least_told_total(comparison) == nullptr &&
                        missing_work_text(comparison).empty();
  page.heading("Comparison", result_text(comparison, shown), is_alike ? Tone::Good : Tone::Warning);
  const bool is_of_one_session = !comparison.parts.empty();
  page.field("A", side_text(comparison.label_a, comparison.repeats_a, is_of_one_session,
                            comparison.devices_a));
  page.field("B", side_text(comparison.label_b, comparison.repeats_b, is_of_one_session,
                            comparison.devices_b));
  write_warnings(page, comparison.warnings);
  if (comparison.per_iteration) {
    page.paragraph(2,
                   iterations_text(*comparison.per_iteration, "A", "B") +
                       ". Warm-up iterations, and what runs outside of iterations, are left out.");
  }
  page.paragraph(2, proof_text(comparison));
  write_totals(page, comparison);
  write_findings(page, comparison, shown, top);
  write_changed_launches(page, shown, top);
  write_scopes_apart(page, comparison, top);
  const std::string alike = alike_text(comparison);
  if (!alike.empty()) page.paragraph(2, alike);
  write_warp_changes(page, comparison.warps, top);
}

}  // namespace

std::string diff_text(const Comparison& comparison, const TextOptions& options) {
  TextPage page(width_of(options), options.has_color);
  write_comparison(page, comparison, options.top);
  return page.text();
}

std::string diff_markdown(const Comparison& comparison, size_t top) {
  MarkdownPage page;
  write_comparison(page, comparison, top);
  return page.text();
}

std::string diff_json(const Comparison& comparison) {
  base::Json json = base::Json::object();
  json.set("has_difference", comparison.has_difference());
  json.set("proof", to_string(comparison.proof));
  if (!comparison.parts.empty()) json.set("parts", comparison.parts);
  json.set("a", side_json(comparison.label_a, comparison.repeats_a, comparison.devices_a,
                          comparison.records_gpu_work_a));
  json.set("b", side_json(comparison.label_b, comparison.repeats_b, comparison.devices_b,
                          comparison.records_gpu_work_b));
  if (comparison.per_iteration) {
    json.set("per_iteration", iterations_json(*comparison.per_iteration, "a", "b"));
  }
  if (!comparison.are_scopes_compared) {
    base::Json scopes = base::Json::object();
    scopes.set("has_scopes_a", comparison.has_scopes_a).set("a", json_texts(comparison.scopes_a));
    scopes.set("has_scopes_b", comparison.has_scopes_b).set("b", json_texts(comparison.scopes_b));
    json.set("scopes_apart", std::move(scopes));
  }
  json.set("warnings", json_texts(comparison.warnings));
  json.set("min_change", comparison.options.min_change);
  json.set("min_share", comparison.options.min_share);
  json.set("compared", uint64_t{comparison.compared});
  json.set("left_out", uint64_t{comparison.left_out});
  json.set("totals", entries_json(comparison.totals));
  json.set("findings", entries_json(comparison.findings));
  json.set("alike", entries_json(comparison.alike));
  json.set("warps", warp_changes_json(comparison.warps));
  return json.dump() + '\n';
}

}  // namespace gpufl::report
