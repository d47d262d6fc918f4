// SPDX-License-Identifier: Apache-2.0
#include "report/diff_words.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/code/kernel_name.hpp"
#include "text/units.hpp"

namespace gpufl::report {

using analysis::compare::Change;
using analysis::compare::Key;
using analysis::compare::Metric;
using analysis::compare::Subject;

std::string compared_label(const Key& key) {
  switch (key.subject) {
    case Subject::Total: return "everything";
    case Subject::Scope: return key.scope;
    case Subject::Kernel:
    case Subject::Launch: break;
  }
  std::string label = analysis::short_kernel_name(key.kernel);
  if (!key.scope.empty()) label += " in " + key.scope;
  if (!key.config.empty()) label += ", " + key.config;
  return label;
}

std::string figure_label(const Key& key, Metric metric) {
  if (key.subject == Subject::Total) {
    switch (metric) {
      case Metric::Time: return "session time";
      case Metric::Busy: return "GPU busy time";
      case Metric::Total: return "kernel time";
      case Metric::Count: return "kernels";
      default: return fmt::format("iteration {}", to_string(metric));
    }
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
