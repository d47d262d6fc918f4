// SPDX-License-Identifier: Apache-2.0
#include "report/diff_words.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "analysis/code/kernel_name.hpp"
#include "text/units.hpp"

namespace gpufl::report {

using analysis::compare::Change;
using analysis::compare::Entry;
using analysis::compare::IterationNumbers;
using analysis::compare::Key;
using analysis::compare::Metric;
using analysis::compare::Subject;

KernelLabels kernel_labels(std::span<const Entry* const> entries) {
  std::map<std::string, std::set<std::string_view>> by_short_name;
  for (const Entry* entry : entries) {
    const std::string& name = entry->key.kernel;
    if (!name.empty()) by_short_name[analysis::short_kernel_name(name)].insert(name);
  }
  KernelLabels labels;
  for (const auto& [short_name, names] : by_short_name) {
    if (names.size() == 1) continue;
    const std::vector<std::string_view> whole(names.begin(), names.end());
    const std::vector<std::string> texts = analysis::kernel_labels(short_name, whole);
    for (size_t i = 0; i < whole.size(); ++i) labels.emplace(whole[i], texts[i]);
  }
  return labels;
}

std::string compared_label(const Key& key, const KernelLabels& names) {
  switch (key.subject) {
    case Subject::Total: return "the whole run";
    case Subject::Scope: return key.scope;
    case Subject::Kernel:
    case Subject::Config:
    case Subject::Launch:
    case Subject::Moved: break;
  }
  const auto name = names.find(key.kernel);
  std::string label = name == names.end() ? analysis::short_kernel_name(key.kernel) : name->second;
  if (!key.scope.empty()) label += " in " + key.scope;
  if (!key.config.empty()) label += ", " + key.config;
  return label;
}

namespace {

// What one member of some launches is, each once.
std::set<std::string> texts_of(const std::vector<Key>& launches, std::string Key::* member,
                               bool is_shared_known) {
  std::set<std::string> texts;
  for (const Key& launch : launches) {
    texts.emplace(is_shared_known ? launch.*member
                                  : analysis::compare::without_shared(launch.*member));
  }
  return texts;
}

// "train > step", or "3 scopes" of several.
std::string common_text(const std::set<std::string>& texts, std::string_view what) {
  if (texts.size() > 1) return fmt::format("{} {}s", texts.size(), what);
  return texts.begin()->empty() ? fmt::format("no {}", what) : *texts.begin();
}

bool is_common(const Entry& entry, std::string Key::* member) {
  const auto has_it = [&](const Key& launch) { return launch.*member == entry.key.*member; };
  return std::all_of(entry.launches_a.begin(), entry.launches_a.end(), has_it) &&
         std::all_of(entry.launches_b.begin(), entry.launches_b.end(), has_it);
}

}  // namespace

std::string compared_label(const Entry& entry, const KernelLabels& names) {
  Key stays = entry.key;
  if (!is_common(entry, &Key::scope)) stays.scope.clear();
  if (!is_common(entry, &Key::config)) stays.config.clear();
  return compared_label(stays, names);
}

std::string launch_change(const Entry& entry) {
  if (entry.launches_a.empty()) return "";
  std::string text;
  const auto add = [&](std::string Key::* member, std::string_view what) {
    const auto a = texts_of(entry.launches_a, member, entry.is_shared_known);
    const auto b = texts_of(entry.launches_b, member, entry.is_shared_known);
    const std::string before = common_text(a, what);
    const std::string after = common_text(b, what);
    if (a == b) return;
    if (!text.empty()) text += "; ";
    text += before == after ? fmt::format("{} -> {} others", before, b.size())
                            : fmt::format("{} -> {}", before, after);
  };
  add(&Key::scope, "scope");
  add(&Key::config, "configuration");
  return text;
}

std::string figure_label(const Key& key, Metric metric, bool is_per_iteration) {
  if (key.subject == Subject::Total) {
    return metric == Metric::Time && is_per_iteration ? "time" : total_text(metric);
  }
  if (key.subject == Subject::Scope && metric == Metric::Busy) return "GPU busy";
  return std::string(to_string(metric));
}

std::string compared_value(Metric metric, double value) {
  if (metric != Metric::Count) return text::duration(value);
  const double rounded = std::round(value);
  return std::abs(value - rounded) < 1e-6 ? text::count(static_cast<uint64_t>(rounded))
                                          : fmt::format("{:.1f}", value);
}

std::string change_text(double change) {
  return std::isinf(change) ? "new" : fmt::format("{:+.1f}%", change * 100);
}

std::string interval_text(const Change& change) {
  if (!change.has_interval()) return "";
  if (change.low == change.high) return "exact";
  return fmt::format("{:+.1f}% to {:+.1f}%", change.low * 100, change.high * 100);
}

void set_key(base::Json& object, const Key& key) {
  object.set("subject", to_string(key.subject));
  if (key.subject != Subject::Total && !key.scope.empty()) object.set("scope", key.scope);
  if (!key.kernel.empty()) object.set("kernel", key.kernel);
  if (!key.config.empty()) object.set("config", key.config);
}

void set_change(base::Json& object, const Change& change) {
  const auto number = [](double value) {
    return std::isfinite(value) ? base::Json(value) : base::Json();
  };
  object.set("change", number(change.estimate));
  object.set("low", number(change.low));
  object.set("high", number(change.high));
}

base::Json iterations_json(const IterationNumbers& numbers, std::string_view a,
                           std::string_view b) {
  const auto side = [](const IterationNumbers::Side& its) {
    base::Json json = base::Json::object();
    json.set("found", its.label);
    json.set("fewest", uint64_t{its.low}).set("most", uint64_t{its.high});
    return json;
  };
  base::Json json = base::Json::object();
  json.set(a, side(numbers.a)).set(b, side(numbers.b));
  return json;
}

base::Json json_texts(const std::vector<std::string>& texts) {
  base::Json list = base::Json::array();
  for (const std::string& text : texts) list.push(text);
  return list;
}

size_t shown_of(size_t all, size_t top) { return top == 0 ? all : std::min(top, all); }

void write_warnings(Page& page, const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) {
    page.paragraph(2, "! " + warning, Tone::Warning, 2);
  }
}

}  // namespace gpufl::report
