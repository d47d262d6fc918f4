// SPDX-License-Identifier: Apache-2.0
#include "text/units.hpp"

#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace gpufl::text {

namespace {

constexpr std::array kByteRates = {Step{1, "B/s"}, Step{1024, "KiB/s"}, Step{1048576, "MiB/s"},
                                   Step{1073741824, "GiB/s"}, Step{1099511627776, "TiB/s"}};
constexpr std::array kRates = {Step{1, "/s"}, Step{1e3, "k/s"}, Step{1e6, "M/s"}, Step{1e9, "G/s"}};
constexpr std::array kMilliwatts = {Step{1, "mW"}, Step{1e3, "W"}, Step{1e6, "kW"}};
constexpr std::array kMillijoules = {Step{1, "mJ"}, Step{1e3, "J"}, Step{1e6, "kJ"},
                                     Step{1e9, "MJ"}};

enum class Unit {
  Count,
  Percent,
  Permille,
  Milli,
  Bytes,
  ByteRate,
  Celsius,
  Power,
  Energy,
  Clock,
  Lanes,
  Bits
};
struct Suffix {
  std::string_view text;
  Unit unit;
};
constexpr std::array kSuffixes = {
    Suffix{"_bytes_per_s", Unit::ByteRate},
    Suffix{"_permille", Unit::Permille},
    Suffix{"_bytes", Unit::Bytes},
    Suffix{"_count", Unit::Count},
    Suffix{"_milli", Unit::Milli},
    Suffix{"_lanes", Unit::Lanes},
    Suffix{"_bits", Unit::Bits},
    Suffix{"_pct", Unit::Percent},
    Suffix{"_mhz", Unit::Clock},
    Suffix{"_mw", Unit::Power},
    Suffix{"_mj", Unit::Energy},
    Suffix{"_c", Unit::Celsius},
};

const Suffix* find_suffix(std::string_view metric) {
  for (const Suffix& suffix : kSuffixes) {
    if (metric.ends_with(suffix.text)) return &suffix;
  }
  return nullptr;
}

// Whole numbers stay whole; means get one decimal.
std::string plain(double value, std::string_view unit) {
  const bool is_whole = value == std::floor(value);
  return fmt::format("{:.{}f}{}", value, is_whole ? 0 : 1, unit);
}

constexpr std::array kShortUnits = {Step{1, "ns"}, Step{1e3, "us"}, Step{1e6, "ms"},
                                    Step{1e9, "s"}};
constexpr double kUs = 1e3, kMs = 1e6;
constexpr double kMostInUs = 100 * kMs;  // five digits
constexpr std::array kLongUnits = {Step{60e9, "min"}, Step{3600e9, "h"}, Step{86400e9, "d"}};

// Of durations that have at least two of one; null: too short for that.
const Step* long_unit(double ns) {
  const Step* found = nullptr;
  for (const Step& unit : kLongUnits) {
    if (ns >= 2 * unit.size) found = &unit;
  }
  return found;
}

const Step& unit_of(double ns) {
  if (const Step* unit = long_unit(ns)) return *unit;
  const Step* found = kShortUnits.data();
  for (const Step& unit : kShortUnits) {
    if (ns >= unit.size) found = &unit;
  }
  return *found;
}

}  // namespace

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

std::string duration(double ns) {
  if (const Step* unit = long_unit(ns))
    return fmt::format("{:.2f} {}", ns / unit->size, unit->unit);
  return scaled(ns < 1000 ? std::round(ns) : ns, kShortUnits);
}

std::string duration_beside(double ns, double other_ns) {
  return duration_among(ns, {ns, other_ns});
}

std::string duration_among(double ns, std::initializer_list<double> all) {
  const double longest = std::max(all);
  const Step& unit = unit_of(longest);
  const bool has_short =
      std::any_of(all.begin(), all.end(), [](double one) { return one > 0 && one < kMs; });
  if (has_short && longest >= kMs && longest < kMostInUs) {
    if (ns >= kMs) return count(static_cast<uint64_t>(std::round(ns / kUs))) + " us";
    return duration_beside(ns, kUs);
  }
  if (unit_of(ns).size == unit.size) return duration(ns);
  if (ns == 0) return fmt::format("0 {}", unit.unit);
  constexpr double kLeastShown = 0.0005;
  const double shown = ns / unit.size;
  if (shown < kLeastShown) return fmt::format("<0.001 {}", unit.unit);
  return fmt::format("{:.3f} {}", shown, unit.unit);
}

std::string brief_duration(double ns) {
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

std::string signed_count(int64_t value) {
  const auto magnitude = static_cast<uint64_t>(value);
  return value < 0 ? "-" + count(~magnitude + 1) : count(magnitude);
}

std::string rate(double per_second) { return scaled(per_second, kRates); }

std::string utc(int64_t wall_ns) {
  constexpr int64_t kSecond = 1'000'000'000;
  int64_t seconds = wall_ns / kSecond;
  int64_t rest = wall_ns % kSecond;
  if (rest < 0) {
    rest += kSecond;
    --seconds;
  }
  const auto when = static_cast<time_t>(seconds);
  tm utc{};
  if (gmtime_r(&when, &utc) == nullptr) return "unknown";
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:03} UTC", utc.tm_year + 1900,
                     utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                     rest / 1'000'000);
}

std::string_view metric_label(std::string_view metric) {
  const Suffix* suffix = find_suffix(metric);
  if (suffix != nullptr) metric.remove_suffix(suffix->text.size());
  return metric;
}

std::string metric_value(std::string_view metric, double value) {
  const Suffix* suffix = find_suffix(metric);
  switch (suffix == nullptr ? Unit::Count : suffix->unit) {
    case Unit::Count: return plain(value, "");
    case Unit::Percent: return plain(value, "%");
    case Unit::Permille: return fmt::format("{:.1f}%", value / 10);
    case Unit::Milli: return fmt::format("{:.2f}", value / 1000);
    case Unit::Bytes: return bytes(value);
    case Unit::ByteRate: return scaled(value, kByteRates);
    case Unit::Celsius: return plain(value, " C");
    case Unit::Power: return scaled(value, kMilliwatts);
    case Unit::Energy: return scaled(value, kMillijoules);
    case Unit::Clock: return fmt::format("{:.0f} MHz", value);
    case Unit::Lanes: return plain(value, " lanes");
    case Unit::Bits: return fmt::format("0x{:x}", static_cast<uint64_t>(value));
  }
  return {};
}

}  // namespace gpufl::text
