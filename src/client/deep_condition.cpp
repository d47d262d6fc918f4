// SPDX-License-Identifier: Apache-2.0
#include "client/deep_condition.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "text/near_names.hpp"
#include "text/quantity.hpp"

namespace gpufl::client {

namespace {

using capture::DeepCondition;
using capture::DeepMetric;
using Order = DeepCondition::Order;

constexpr DeepMetric kMetrics[] = {DeepMetric::KernelLaunchRate, DeepMetric::GpuUtilization};
// Longer ones first.
constexpr std::pair<std::string_view, Order> kOperators[] = {{"<=", Order::LessOrEqual},
                                                             {">=", Order::GreaterOrEqual},
                                                             {"<", Order::Less},
                                                             {">", Order::Greater}};
constexpr int64_t kLongest_ns = 3'600'000'000'000;
constexpr const char* kExample = "; write it as in 'kernel_launch_rate<100 for 2s'";

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

base::Status wrong(std::string text) { return {base::Code::InvalidArgument, std::move(text)}; }

base::Result<DeepMetric> parse_metric(std::string_view name) {
  std::vector<std::string_view> names;
  for (const DeepMetric metric : kMetrics) {
    names.push_back(to_string(metric));
    if (names.back() == name) return metric;
  }
  if (name.empty()) {
    return wrong("there is no metric before the operator; use " + std::string(names.front()) +
                 " or " + std::string(names.back()));
  }
  return wrong(text::not_one_of(name, names));
}

// In front of `text`.
std::optional<std::pair<std::string_view, Order>> operator_in(std::string_view text) {
  for (const auto& known : kOperators) {
    if (text.starts_with(known.first)) return known;
  }
  return std::nullopt;
}

base::Result<double> parse_limit(std::string_view text, DeepMetric metric) {
  if (text.empty()) return wrong(std::string("there is no number after the operator") + kExample);
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = error == std::errc() && stop == text.data() + text.size();
  if (!is_number || !std::isfinite(value)) {
    return wrong(in_quotes(text) + " is not a number" + kExample);
  }
  const double most = metric == DeepMetric::GpuUtilization ? 100 : 1e12;
  if (value >= 0 && value <= most) return value;
  return wrong(in_quotes(text) + " is out of range; use 0 to " +
               (metric == DeepMetric::GpuUtilization ? "100, in percent" : "1000000000000"));
}

base::Result<int64_t> parse_for(std::string_view text) {
  const auto duration_ns = text::parse_duration_ns(text);
  if (!duration_ns) return wrong("after 'for': " + duration_ns.status().message());
  if (*duration_ns <= kLongest_ns) return *duration_ns;
  return wrong("after 'for': " + in_quotes(text) + " is out of range; use 0s to 1h");
}

// "100 for 2s" as "100" and "2s"; without the word the second is null.
std::pair<std::string_view, std::optional<std::string_view>> split_at_for(std::string_view text) {
  for (size_t at = text.find("for"); at != std::string_view::npos; at = text.find("for", at + 1)) {
    const bool begins = at > 0 && is_blank(text[at - 1]);
    const bool ends = at + 3 == text.size() || is_blank(text[at + 3]);
    if (begins && ends) return {trimmed(text.substr(0, at)), trimmed(text.substr(at + 3))};
  }
  return {trimmed(text), std::nullopt};
}

}  // namespace

base::Result<DeepCondition> parse_deep_condition(std::string_view text) {
  text = trimmed(text);
  const size_t at = text.find_first_of("<>=!");
  if (at == std::string_view::npos) {
    return wrong(in_quotes(text) +
                 " has no operator; use <, <=, > or >=, as in "
                 "'kernel_launch_rate<100 for 2s'");
  }
  const auto metric = parse_metric(trimmed(text.substr(0, at)));
  if (!metric) return metric.status();
  const auto order = operator_in(text.substr(at));
  if (!order) {
    const size_t end = std::min(text.find_first_not_of("<>=!", at), text.size());
    return wrong(in_quotes(text.substr(at, end - at)) + " is not one of <, <=, >, >=");
  }
  const auto [number, duration] = split_at_for(text.substr(at + order->first.size()));
  const auto limit = parse_limit(number, *metric);
  if (!limit) return limit.status();
  DeepCondition condition{*metric, order->second, *limit, 0, {}};
  condition.text =
      std::string(to_string(*metric)) + std::string(order->first) + std::string(number);
  if (!duration) return condition;
  const auto for_ns = parse_for(*duration);
  if (!for_ns) return for_ns.status();
  condition.for_ns = *for_ns;
  condition.text += " for " + text::typed_duration(*for_ns);
  return condition;
}

}  // namespace gpufl::client
