// SPDX-License-Identifier: Apache-2.0
#include "analysis/compare/gate_rules.hpp"

#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/json.hpp"

namespace gpufl::analysis::compare {
namespace {

using base::Code;
using base::Json;
using base::Status;

constexpr int kLargestPercent = 1000;

class RuleReader {
 public:
  explicit RuleReader(std::string_view file) : file_(file) {}

  Status mistake(int line, std::string_view what) const {
    return {Code::InvalidArgument, fmt::format("{}:{}: {}", file_, line, what)};
  }

  base::Result<Rule> read(const Json& json) const {
    if (!json.is_object()) return mistake(json.line(), "a rule is an object");
    Rule rule;
    std::optional<Metric> metric;
    int subjects = 0;
    for (const auto& [key, value] : json.members()) {
      Status status;
      if (key == "kernel" || key == "scope" || key == "total") {
        ++subjects;
        status = read_subject(key, value, rule);
      } else if (key == "name") {
        status = read_text(key, value, rule.name);
      } else if (key == "metric") {
        status = read_metric(value, metric);
      } else if (key == "max_increase") {
        status = read_share(key, value, rule.max_increase);
      } else if (key == "min_share") {
        status = read_share(key, value, rule.min_share);
      } else if (key == "allow_noisy") {
        if (!value.is_bool()) return mistake(value.line(), "allow_noisy is true or false");
        rule.allow_noisy = value.as_bool();
      } else {
        status = mistake(value.line(), fmt::format("there is no key '{}'", key));
      }
      if (!status.is_ok()) return status;
    }
    if (subjects != 1) {
      return mistake(json.line(), "a rule has one of the keys kernel, scope and total");
    }
    rule.metric = metric.value_or(default_metric(rule.subject));
    const Status status = check_rule(rule);
    if (!status.is_ok()) return mistake(json.line(), status.message());
    return rule;
  }

 private:
  Status read_text(std::string_view key, const Json& value, std::string& text) const {
    if (!value.is_string() || value.as_string().empty()) {
      return mistake(value.line(), fmt::format("{} is a text", key));
    }
    text = value.as_string();
    return Status::ok();
  }

  Status read_subject(std::string_view key, const Json& value, Rule& rule) const {
    if (key == "total") {
      rule.subject = Subject::Total;
      return value.as_bool() ? Status::ok() : mistake(value.line(), "total is true, or not there");
    }
    rule.subject = key == "kernel" ? Subject::Kernel : Subject::Scope;
    return read_text(key, value, rule.pattern);
  }

  Status read_metric(const Json& value, std::optional<Metric>& metric) const {
    metric = metric_named(value.as_string());
    if (metric) return Status::ok();
    return mistake(value.line(), "metric is median, mean, p90, p99, total, count, busy or time");
  }

  Status read_share(std::string_view key, const Json& value, double& share) const {
    const auto parsed = parse_share(value.is_number() ? value.dump() : value.as_string());
    if (!parsed)
      return mistake(value.line(), fmt::format("{}: {}", key, parsed.status().message()));
    share = *parsed;
    return Status::ok();
  }

  std::string_view file_;
};

}  // namespace

base::Result<double> parse_share(std::string_view text) {
  const bool is_percent = text.ends_with('%');
  std::string_view digits = text.substr(0, text.size() - (is_percent ? 1 : 0));
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value)) {
    return Status(Code::InvalidArgument, fmt::format("'{}' is not a share, such as 5%", text));
  }
  // A bare 5 is meant as 5% and would let everything pass as 500%.
  if (!is_percent && std::abs(value) >= 1) {
    return Status(Code::InvalidArgument,
                  fmt::format("'{0}' is ambiguous; write {0}% or a share below 1", text));
  }
  if (value < 0 || (is_percent && value > kLargestPercent)) {
    return Status(Code::InvalidArgument,
                  fmt::format("'{}' is out of range; write 0% to {}%", text, kLargestPercent));
  }
  return is_percent ? value / 100 : value;
}

Metric default_metric(Subject subject) {
  return subject == Subject::Total ? Metric::Busy : Metric::Median;
}

base::Result<std::vector<Rule>> parse_rules(std::string_view text, std::string_view file) {
  const RuleReader reader(file);
  const auto document = Json::parse(text);
  if (!document) {
    return Status(Code::InvalidArgument, fmt::format("{}: {}", file, document.status().message()));
  }
  const Json* list = document->find("rules");
  if (list == nullptr || !list->is_array() || list->items().empty()) {
    return reader.mistake(std::max(1, document->line()),
                          "a rules file is an object with a list 'rules' that is not empty");
  }
  for (const auto& [key, value] : document->members()) {
    if (key != "rules")
      return reader.mistake(value.line(), fmt::format("there is no key '{}'", key));
  }
  std::vector<Rule> rules;
  for (const Json& json : list->items()) {
    auto rule = reader.read(json);
    if (!rule) return rule.status();
    rules.push_back(std::move(*rule));
  }
  return rules;
}

}  // namespace gpufl::analysis::compare
