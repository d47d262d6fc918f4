// SPDX-License-Identifier: Apache-2.0
#include "analysis/insights/words.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>

namespace gpufl::analysis::words {

std::string scaled(double value, std::span<const Step> steps) {
  const Step* step = &steps.front();
  for (const Step& next : steps) {
    if (std::fabs(value) >= next.size) step = &next;
  }
  const double shown = value / step->size;
  const double magnitude = std::fabs(shown);
  int decimals = 0;
  if (shown != std::floor(shown) || step != &steps.front()) {
    decimals = magnitude < 9.9995 ? 3 : magnitude < 99.995 ? 2 : magnitude < 999.95 ? 1 : 0;
  }
  return fmt::format("{:.{}f}{}{}", shown, decimals, step->unit.empty() ? "" : " ", step->unit);
}

std::string time(double ns) {
  constexpr double kMinute = 60e9;
  constexpr double kHour = 3600e9;
  constexpr double kDay = 86400e9;
  constexpr std::array kSteps = {Step{1, "ns"}, Step{1e3, "us"}, Step{1e6, "ms"}, Step{1e9, "s"}};
  if (ns >= 2 * kDay) return fmt::format("{:.2f} d", ns / kDay);
  if (ns >= 2 * kHour) return fmt::format("{:.2f} h", ns / kHour);
  if (ns >= 2 * kMinute) return fmt::format("{:.2f} min", ns / kMinute);
  return scaled(ns < 1000 ? std::round(ns) : ns, kSteps);
}

std::string brief_time(double ns) {
  if (ns >= 1e9) return fmt::format("{:.2f}s", ns / 1e9);
  if (ns >= 1e6) return fmt::format("{:.2f}ms", ns / 1e6);
  if (ns >= 1e3) return fmt::format("{:.1f}us", ns / 1e3);
  return fmt::format("{:.0f}ns", ns);
}

std::string bytes(double count) {
  constexpr std::array kSteps = {Step{1, "B"}, Step{1024, "KiB"}, Step{1048576, "MiB"},
                                 Step{1073741824, "GiB"}, Step{1099511627776, "TiB"}};
  return scaled(count, kSteps);
}

std::string percent(double share) { return fmt::format("{:.1f}%", share * 100); }

std::string count(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, ",");
  return text;
}

std::string plural(uint64_t number, std::string_view noun) {
  const std::string text = count(number) + " ";
  if (number == 1) return text + std::string(noun);
  if (noun.ends_with('y')) return text + std::string(noun.substr(0, noun.size() - 1)) + "ies";
  return text + std::string(noun) + (noun.ends_with("ch") ? "es" : "s");
}

std::string line_of(const CodeSite& site) {
  if (site.line == 0) return site.text;
  const size_t slash = site.file.rfind('/');
  return fmt::format("{}:{}", site.file.substr(slash == std::string::npos ? 0 : slash + 1),
                     site.line);
}

}  // namespace gpufl::analysis::words
