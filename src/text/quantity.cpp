// SPDX-License-Identifier: Apache-2.0
#include "text/quantity.hpp"

#include <charconv>
#include <cmath>
#include <iterator>
#include <span>

namespace gpufl::text {
namespace {

struct Unit {
  std::string_view suffix;
  double factor;
};

constexpr Unit kDurationUnits[] = {{"d", 86400e9}, {"h", 3600e9}, {"m", 60e9}, {"s", 1e9},
                                   {"ms", 1e6},    {"us", 1e3},   {"ns", 1}};
constexpr double kKi = 1024;
constexpr Unit kByteUnits[] = {{"K", kKi},
                               {"KB", kKi},
                               {"KiB", kKi},
                               {"M", kKi * kKi},
                               {"MB", kKi * kKi},
                               {"MiB", kKi * kKi},
                               {"G", kKi * kKi * kKi},
                               {"GB", kKi * kKi * kKi},
                               {"GiB", kKi * kKi * kKi},
                               {"T", kKi * kKi * kKi * kKi},
                               {"TB", kKi * kKi * kKi * kKi},
                               {"TiB", kKi * kKi * kKi * kKi}};

// What can be typed. The largest is far beyond any use, and fits into every integer behind it:
// seconds into 32 bits, the sum of two durations and a clock into 64.
struct Limits {
  std::string_view what, examples, largest_text;
  double largest;
};
constexpr Limits kDuration{"duration", "500ms, 10s, 5m or 1h", "3650d", 3650 * 86400e9};
constexpr Limits kSize{"size", "512M, 8G or 1T", "1024T", 1024 * kKi * kKi * kKi * kKi};

base::Status refuse(std::string_view text, const Limits& limits, double value) {
  std::string why = "'" + std::string(text) + "' is ";
  if (value > limits.largest) {
    why.append("out of range; write ").append(limits.largest_text).append(" or less");
  } else {
    why.append("not a ").append(limits.what).append("; write for example ").append(limits.examples);
  }
  return {base::Code::InvalidArgument, std::move(why)};
}

// The number in front and the factor of the unit behind it; negative when `text` is neither.
double scaled(std::string_view text, std::span<const Unit> units, double factor_without_unit) {
  double number = 0;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  // from_chars would also take "-1", "inf" and "nan".
  if (text.empty() || text.front() < '0' || text.front() > '9') return -1;
  const auto [rest, error] = std::from_chars(begin, end, number, std::chars_format::fixed);
  if (error != std::errc{} && error != std::errc::result_out_of_range) return -1;
  if (error != std::errc{}) number = HUGE_VAL;
  const std::string_view suffix(rest, static_cast<size_t>(end - rest));
  if (suffix.empty()) return number == 0 ? 0 : number * factor_without_unit;
  for (const Unit& unit : units) {
    if (unit.suffix == suffix) return number * unit.factor;
  }
  return -1;
}

}  // namespace

base::Result<int64_t> parse_duration_ns(std::string_view text) {
  const double value = scaled(text, kDurationUnits, 1e9);
  if (value < 0 || value > kDuration.largest) return refuse(text, kDuration, value);
  return static_cast<int64_t>(std::llround(value));
}

base::Result<uint64_t> parse_bytes(std::string_view text) {
  const double value = scaled(text, kByteUnits, -1);
  if (value < 0 || value > kSize.largest) return refuse(text, kSize, value);
  return static_cast<uint64_t>(std::llround(value));
}

std::string typed_duration(int64_t duration_ns) {
  for (const Unit& unit : kDurationUnits) {
    const auto factor = static_cast<int64_t>(unit.factor);
    if (duration_ns != 0 && duration_ns % factor == 0) {
      return std::to_string(duration_ns / factor) + std::string(unit.suffix);
    }
  }
  return "0s";
}

}  // namespace gpufl::text
