// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

#include "report/page.hpp"
#include "report/session_report.hpp"

// What `gpufl report` prints unless it is asked for everything: on one screen what to do first, and
// the figures that it rests on. Lists are as long as was asked for, else as kMaxShortLines lines of
// text allow. Any thread.
namespace gpufl::report {

inline constexpr size_t kMaxShortLines = 45;

// How much of each list a short report shows.
struct ShortSize {
  size_t rows;
  size_t findings;
};
// The most with which what `write` writes has at most `lines` lines of text; else the least.
ShortSize size_that_fits(const TextOptions& options, size_t lines,
                         const std::function<void(Page&, const ShortSize&)>& write);

void write_short_report(Page& page, const SessionReport& report, const TextOptions& options);

}  // namespace gpufl::report
