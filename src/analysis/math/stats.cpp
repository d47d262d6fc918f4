// SPDX-License-Identifier: Apache-2.0
#include "analysis/math/stats.hpp"

#include <algorithm>
#include <type_traits>

#include "analysis/math/large_pages.hpp"
#include "analysis/math/saturating.hpp"

namespace gpufl::analysis {
namespace {

// The index of the value that `percent` of `count` values are not above.
size_t nearest_rank(size_t count, size_t percent) {
  const size_t rank = count / 100 * percent + (count % 100 * percent + 99) / 100;
  return std::max<size_t>(rank, 1) - 1;
}

template <typename T>
void add_up(std::span<const T> values, Stats& stats) {
  T min = values[0];
  T max = values[0];
  int64_t total = 0;
  for (const T value : values) {
    min = std::min(min, value);
    max = std::max(max, value);
    if constexpr (std::is_same_v<T, uint32_t>) {
      total += value;  // 2^31 rows of any size fit
    } else {
      total = saturating_add(total, value);
    }
  }
  stats.total = total;
  stats.min = min;
  stats.max = max;
}

template <typename T>
Stats stats_of_values(std::span<T> values) {
  Stats stats;
  const size_t count = values.size();
  stats.count = count;
  if (count == 0) return stats;
  add_up(std::span<const T>(values), stats);
  stats.mean = static_cast<double>(stats.total) / static_cast<double>(count);

  // From the middle up: each selection leaves the next one only what lies above it.
  const auto at = [&](size_t index) { return values.begin() + static_cast<ptrdiff_t>(index); };
  const size_t middle = count / 2;
  std::nth_element(values.begin(), at(middle), values.end());
  stats.median = static_cast<double>(values[middle]);
  if (count % 2 == 0) {
    const T below = *std::max_element(values.begin(), at(middle));
    stats.median = (static_cast<double>(below) + stats.median) / 2;
  }
  size_t done = middle;
  for (const auto& [percent, figure] : {std::pair(size_t{90}, &Stats::p90), {99, &Stats::p99}}) {
    const size_t rank = nearest_rank(count, percent);
    if (rank > done) std::nth_element(at(done), at(rank), values.end());
    // A rank below the middle exists only in sets of one or two.
    stats.*figure = static_cast<int64_t>(values[rank]);
    done = std::max(done, rank);
  }
  return stats;
}

// The value at an index of all of them in order.
int64_t value_at(std::span<const ValueCount> counts, uint64_t index) {
  for (const ValueCount& value : counts) {
    if (index < value.count) return value.value;
    index -= value.count;
  }
  return counts.empty() ? 0 : counts.back().value;
}

// Puts the values of each group side by side, then takes the figures of each.
template <typename T, typename GroupOf, typename ValueAt>
std::vector<Stats> stats_by_group(size_t rows, size_t group_count, GroupOf group_of,
                                  ValueAt value_at) {
  std::vector<size_t> begins(group_count + 1);
  for (size_t row = 0; row < rows; ++row) {
    const size_t group = group_of(row);
    if (group < group_count) ++begins[group + 1];
  }
  for (size_t group = 0; group < group_count; ++group) begins[group + 1] += begins[group];
  std::vector<T> sorted;
  sorted.reserve(begins.back());
  prefer_large_pages(sorted.data(), begins.back() * sizeof(T));
  sorted.resize(begins.back());
  std::vector<size_t> next(begins.begin(), begins.end() - 1);
  for (size_t row = 0; row < rows; ++row) {
    const size_t group = group_of(row);
    if (group < group_count) sorted[next[group]++] = value_at(row);
  }
  std::vector<Stats> out(group_count);
  for (size_t group = 0; group < group_count; ++group) {
    out[group] = stats_of_values(
        std::span(sorted).subspan(begins[group], begins[group + 1] - begins[group]));
  }
  return out;
}

template <typename GroupOf>
std::vector<Stats> stats_by_group(const NarrowColumn& values, size_t rows, size_t group_count,
                                  GroupOf group_of) {
  rows = std::min(rows, values.size());
  if (!values.is_plain()) {
    return stats_by_group<int64_t>(rows, group_count, group_of,
                                   [&](size_t row) { return values[row]; });
  }
  const uint32_t* const narrow = values.narrow().data();
  return stats_by_group<uint32_t>(rows, group_count, group_of,
                                  [narrow](size_t row) { return narrow[row]; });
}

}  // namespace

Stats stats_of(std::span<const ValueCount> counts) {
  Stats stats;
  for (const ValueCount& value : counts) {
    stats.count += value.count;
    const auto times = static_cast<int64_t>(value.count);
    stats.total = saturating_add(stats.total, saturating_multiply(value.value, times));
  }
  if (stats.count == 0) return stats;
  stats.min = value_at(counts, 0);
  stats.max = value_at(counts, stats.count - 1);
  stats.mean = static_cast<double>(stats.total) / static_cast<double>(stats.count);
  const uint64_t middle = stats.count / 2;
  stats.median = static_cast<double>(value_at(counts, middle));
  if (stats.count % 2 == 0) {
    stats.median = (static_cast<double>(value_at(counts, middle - 1)) + stats.median) / 2;
  }
  stats.p90 = value_at(counts, nearest_rank(stats.count, 90));
  stats.p99 = value_at(counts, nearest_rank(stats.count, 99));
  return stats;
}

Stats stats_of(std::span<int64_t> values) { return stats_of_values(values); }
Stats stats_of(std::span<uint32_t> values) { return stats_of_values(values); }

Stats stats_of(const NarrowColumn& values) {
  if (values.is_plain()) {
    std::vector<uint32_t> copy = values.narrow();
    return stats_of(std::span(copy));
  }
  std::vector<int64_t> wide(values.size());
  for (size_t row = 0; row < wide.size(); ++row) wide[row] = values[row];
  return stats_of(std::span(wide));
}

std::vector<Stats> group_stats(std::span<const uint32_t> keys, std::span<const uint32_t> group_of,
                               const NarrowColumn& values, size_t group_count) {
  return stats_by_group(values, keys.size(), group_count, [keys, group_of](size_t row) -> size_t {
    return keys[row] < group_of.size() ? group_of[keys[row]] : SIZE_MAX;
  });
}

std::vector<Stats> group_stats(std::span<const uint32_t> keys, const NarrowColumn& values,
                               size_t group_count) {
  return stats_by_group(values, keys.size(), group_count,
                        [keys](size_t row) -> size_t { return keys[row]; });
}

}  // namespace gpufl::analysis
