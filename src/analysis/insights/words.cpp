// SPDX-License-Identifier: Apache-2.0
#include "analysis/insights/words.hpp"

#include <iterator>

#include <fmt/format.h>

namespace gpufl::analysis::words {

std::string time(double ns) {
  if (ns >= 1e9) return fmt::format("{:.2f}s", ns / 1e9);
  if (ns >= 1e6) return fmt::format("{:.2f}ms", ns / 1e6);
  if (ns >= 1e3) return fmt::format("{:.1f}us", ns / 1e3);
  return fmt::format("{:.0f}ns", ns);
}

std::string bytes(double count) {
  constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  while (count >= 1024 && unit + 1 < std::size(kUnits)) {
    count /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", count, unit == 0 ? 0 : 1, kUnits[unit]);
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
