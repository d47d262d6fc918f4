// SPDX-License-Identifier: Apache-2.0
#include "analysis/session/last_part.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "analysis/session/selection.hpp"
#include "format/outer_times.hpp"

namespace gpufl::analysis {
namespace {

using format::WindowFile;

constexpr double kRawBytesPerRow = 25;  // of files that are still written

bool is_there(const WindowFile& window) {
  return window.state != WindowFile::State::Deleted && window.state != WindowFile::State::Missing;
}

// What the manifest does not have of a file that is still written, or was when its writer died.
WindowFile estimated(WindowFile window) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(window.path, error);
  if (!error) window.rows = static_cast<uint64_t>(static_cast<double>(bytes) / kRawBytesPerRow);
  if (const auto times = format::outer_times(window.path)) {
    window.first_ns = times->first_ns;
    window.last_ns = times->last_ns;
  }
  return window;
}

double rows_from(const WindowFile& window, int64_t start_ns) {
  const auto rows = static_cast<double>(window.rows);
  if (start_ns <= window.first_ns) return rows;
  if (start_ns > window.last_ns) return 0;
  const double part = static_cast<double>(window.last_ns) - static_cast<double>(start_ns);
  const double length = static_cast<double>(window.last_ns) - static_cast<double>(window.first_ns);
  return rows * part / std::max(length, 1.0);
}

}  // namespace

std::optional<Interval> last_part(const std::vector<WindowFile>& windows, uint64_t most_rows) {
  double timeless = 0;  // nobody knows when, so it counts wherever the part begins
  std::vector<WindowFile> timed;
  Interval all{INT64_MAX, INT64_MIN};
  for (const WindowFile& window : windows) {
    if (!is_there(window)) continue;
    const WindowFile known = window.in_manifest ? window : estimated(window);
    if (!known.in_manifest && known.first_ns == known.last_ns) {
      timeless += static_cast<double>(known.rows);
      continue;
    }
    all = {std::min(all.start, known.first_ns), std::max(all.end, known.last_ns)};
    timed.push_back(known);
  }
  const auto fits = [&](int64_t start_ns) {
    double rows = timeless;
    for (const WindowFile& window : timed) rows += rows_from(window, start_ns);
    return rows <= static_cast<double>(most_rows);
  };
  if (all.start > all.end || fits(all.start)) return {};
  int64_t too_early = std::max(all.start, Selection::kAlways.start);
  int64_t start_ns = std::min(all.end, Selection::kAlways.end - 2) + 1;
  while (start_ns - too_early > 1) {
    const int64_t middle = too_early + (start_ns - too_early) / 2;
    (fits(middle) ? start_ns : too_early) = middle;
  }
  return Interval{start_ns, Selection::kAlways.end};
}

}  // namespace gpufl::analysis
